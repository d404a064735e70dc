import Glibc
import Testing

/// A private folder that exists as long as the value. It holds files, and folders of files.
final class TestFolder: Sendable {
    let path: String

    init() {
        var template = Array("/tmp/service-essentials-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            Issue.record("no temporary folder: error \(errno)")
            path = ""
            return
        }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit { Self.remove(path) }

    private static func remove(_ path: String) {
        guard !path.isEmpty else { return }
        guard unlink(path) != 0, let folder = opendir(path) else { return }
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { remove(path + "/" + name) }
        }
        closedir(folder)
        rmdir(path)
    }
}

#if Persistence
    import Glibc
    import Testing

    /// A private folder that exists as long as this value.
    final class TemporaryFolder: Sendable {
        let path: String

        init() throws {
            var template = Array("/tmp/essentials-sqlite-XXXXXX".utf8CString)
            try #require(mkdtemp(&template) != nil)
            path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        }

        deinit {
            for name in entries { unlink(path + "/" + name) }
            rmdir(path)
        }

        /// The names of the files in the folder, sorted.
        var entries: [String] {
            guard let folder = opendir(path) else { return [] }
            defer { closedir(folder) }
            var names: [String] = []
            while let entry = readdir(folder) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                if name != ".", name != ".." { names.append(name) }
            }
            return names.sorted()
        }

        func file(_ name: String) -> String { path + "/" + name }
    }
#endif

import FoundationEssentials
import Glibc

/// The directory of all stores of a sequence, which is removed at its end.
final class IdentityDirectory: Sendable {
    let path = "/tmp/essentials-identity-\(getpid())-\(UInt64.random(in: .min ... .max))"

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Whether a file below a folder contains a text. Returns the name of the first such file.
    func file(in folder: String, containing text: String) -> String? {
        let pattern = Data(text.utf8)
        let start = path + "/" + folder
        guard let names = try? FileManager.default.subpathsOfDirectory(atPath: start) else {
            return contains(start, pattern) ? folder : nil
        }
        return names.first { contains(start + "/" + $0, pattern) }
    }

    private func contains(_ file: String, _ pattern: Data) -> Bool {
        guard let data = FileManager.default.contents(atPath: file) else { return false }
        return data.firstRange(of: pattern) != nil
    }
}

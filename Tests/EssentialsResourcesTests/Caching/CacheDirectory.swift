import FoundationEssentials
import Glibc

@testable import EssentialsResources

/// A directory of an entity cache, which is removed at the end of a test.
final class CacheDirectory: Sendable {
    let path = "/tmp/essentials-cache-\(getpid())-\(UInt64.random(in: .min ... .max))"

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path))?.sorted() ?? [] }

    /// The space that the files take on the disk, in whole blocks.
    var byteCount: Int { names.reduce(0) { $0 + (((try? bytes($1).count) ?? 0) + 4_095) / 4_096 * 4_096 } }

    func cache(_ bytes: Int = 1 << 20, calls: FileCalls = .system) throws -> FileEntityCache {
        try FileEntityCache(FileDirectory(path, calls: calls), bytes)
    }

    func mode(_ name: String = "") -> UInt32? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path + "/" + name)
        return (attributes?[.posixPermissions] as? Int).map { UInt32($0) }
    }

    func bytes(_ name: String) throws -> Data { try Data(contentsOf: URL(filePath: path + "/" + name)) }

    func write(_ data: Data, _ name: String) throws { try data.write(to: URL(filePath: path + "/" + name)) }
}

import EssentialsStorage
import FoundationEssentials
import Glibc

@testable import EssentialsRequests

/// A directory of an entity cache, which is removed at the end of a test.
final class CacheDirectory: Sendable {
    let path = "/tmp/essentials-cache-\(getpid())-\(UInt64.random(in: .min ... .max))"

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The names of all files but the one with removals.
    var names: [String] { allNames.filter { $0 != Self.removals } }

    var allNames: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path))?.sorted() ?? [] }

    /// The name of the file that says what was removed.
    static let removals = ".removals"

    /// Whether files are left that were to be removed, according to that file.
    var isRemovalUnfinished: Bool {
        get throws {
            guard allNames.contains(Self.removals) else { return false }
            return RecordRemovals(bytes: Array(try bytes(Self.removals)))?.isUnfinished ?? true
        }
    }

    /// The name of the file of an entity.
    static func name(of key: EntityKey) -> String { RecordKey(key).name.text }

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

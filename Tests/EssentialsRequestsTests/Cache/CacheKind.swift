import EssentialsStorage
import FoundationEssentials
import TestTools

@testable import EssentialsRequests

/// Where a cache keeps its responses.
enum CacheKind: CaseIterable, Sendable {
    case memory
    /// In files, with a memory that keeps nothing.
    case files
    case memoryAndFiles

    /// A cache. It does not give up files on a busy machine.
    ///
    /// - Parameter path: The directory of its files.
    func cache(_ path: String, options: ResponseCache.Options = .init()) throws -> ResponseCache {
        switch self {
        case .memory: return ResponseCache(memory: .bytes(1 << 20), options: options)
        case .files, .memoryAndFiles:
            let files = try DiskResponseStore(FileDirectory(path), bytes: 16 << 20)
            return ResponseCache(
                memory: .bytes(self == .files ? 0 : 1 << 20), external: files, options: options, limit: .seconds(30))
        }
    }
}

extension ResponseCache {
    /// Waits until everything is written.
    func settle() async { await flush() }
}

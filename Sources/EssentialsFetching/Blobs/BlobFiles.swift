import EssentialsHTTP
import EssentialsRequests
import EssentialsStorage
import EssentialsTools
import FoundationEssentials

/// The directory of a ``BlobService``: a response cache whose responses are files.
struct BlobFiles: Sendable {
    let cache: FileCache
    /// The maximum size of the directory.
    let maximumBytes: Int
    private let path: String
    /// The size of the largest blob, beside whose file there is that of its head.
    var largest: Int64 { max(Int64(maximumBytes) - 4_096, 0) }

    /// - Throws: `file` if the directory cannot be used; `resources` if there is no thread for files.
    init(_ directory: FileDirectory, _ configuration: BlobService.Configuration) throws(RequestFailure) {
        (maximumBytes, path) = (max(configuration.maximumBytes, 0), directory.path)
        cache = try FileCache(
            directory, bytes: maximumBytes,
            FileCache.Options(
                lifetime: configuration.expiration, servesStale: configuration.servesStale,
                storesForbidden: configuration.storesSensitiveResponses))
    }

    /// Begins a file with the first bytes of a blob.
    ///
    /// - Parameter offer: What stores the blob; `nil` if it is not stored.
    func begin(_ offer: OfferedChange?, with bytes: Data) async throws(RequestFailure) -> ResponseFileWriter {
        let writer = try await writing { () async throws(FileError) in try await cache.begin(offer) }
        do throws(RequestFailure) {
            try await writing { () async throws(FileError) in try await writer.write(bytes) }
        } catch {
            await writer.abandon()
            throw error
        }
        return writer
    }

    /// A file with the bytes of a blob that is not stored. It has no name.
    func file(of bytes: Data) async throws(RequestFailure) -> StoredFile {
        let writer = try await begin(nil, with: bytes)
        return try await writing { () async throws(FileError) in try await writer.finish { false } }
    }

    /// Writes to the directory, which may be full.
    func writing<Value>(_ work: () async throws(FileError) -> Value) async throws(RequestFailure) -> Value {
        do throws(FileError) {
            return try await work()
        } catch {
            guard error.isTooLarge else { throw .file(path, "could not be written", error, phase: .receiving) }
            throw RequestFailure(
                .tooLarge, "There is no room for the blob in a directory of \(maximumBytes) bytes.",
                remedy: "Allow a larger directory, or fewer transfers at the same time.", phase: .receiving)
        }
    }
}

/// The blobs whose bytes could not be decoded, so that the server is asked at the next use.
final class BlobDoubts: Sendable {
    /// The maximum number.
    private static let maximum = 1_024

    private let keys = Mutex<Set<BlobKey>>([])

    func add(_ key: BlobKey) {
        keys.withLock { keys in
            // A forgotten doubt only means that the blob is used once more before the server is asked.
            if keys.count >= Self.maximum { keys = [] }
            keys.insert(key)
        }
    }

    /// Returns whether there was a doubt, and ends it.
    func take(_ key: BlobKey) -> Bool { keys.withLock { $0.remove(key) != nil } }
}

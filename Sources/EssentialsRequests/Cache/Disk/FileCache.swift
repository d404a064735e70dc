import EssentialsHTTP
package import EssentialsStorage
import EssentialsTools

/// A response cache whose responses are files that a program reads, such as pictures and films.
///
/// A body is always a file of its own and may take the whole budget. The requests that use the cache have a ``CacheBinding``.
package final class FileCache: Sendable {
    /// How responses are used where the server leaves it open.
    package struct Options: Sendable {
        /// How long a response is fresh if the server gives no lifetime.
        package var lifetime: Duration
        /// Whether a response of any age is used if the server cannot be reached or fails.
        package var servesStale: Bool
        /// Whether responses are stored that the server forbids to store.
        package var storesForbidden: Bool

        package init(lifetime: Duration, servesStale: Bool, storesForbidden: Bool) {
            (self.lifetime, self.servesStale, self.storesForbidden) = (lifetime, servesStale, storesForbidden)
        }
    }

    /// How long a call waits for the files. What is asked for can be large, or not available otherwise, so that a slow disk is
    /// waited for.
    private static let limit = Duration.seconds(30)

    let cache: ResponseCache
    private let files: DiskResponseStore
    private let limited: LimitedResponseStore

    /// Opens a directory. It blocks for a few system calls.
    ///
    /// - Throws: `file` if it cannot be used; `resources` if there is no thread for files.
    package init(_ directory: FileDirectory, bytes: Int, _ options: Options) throws(RequestFailure) {
        files = try DiskResponseStore(directory, bytes: bytes, .ofFiles)
        limited = LimitedResponseStore(files, limit: Self.limit)
        cache = ResponseCache(only: limited, options: Self.cacheOptions(options))
    }

    private static func cacheOptions(_ options: Options) -> CacheOptions {
        var rules = CacheOptions()
        rules.usesHeuristics = false
        // As long as the largest lifetime of a server.
        rules.defaultLifetime = min(max(options.lifetime, .zero), .seconds(CacheDirectives.maximumSeconds))
        rules.storesForbidden = options.storesForbidden
        (rules.staleIfError, rules.refusesStale) = (options.servesStale ? Self.forEver : .zero, !options.servesStale)
        return rules
    }

    /// More than the age of any response, also of one whose age is unknown.
    private static let forEver = Duration.seconds(1 << 41)

    /// The contents of the directory, as far as this process knows.
    package var usage: RecordDirectory.Usage { get async { await files.recordUsage() } }

    /// The key of the directory for hashes of what can be secret.
    package var fingerprintKey: FingerprintKey { files.fingerprintKey }

    /// What has gone wrong.
    package var problems: CacheProblems { cache.problems }

    /// The space that is reserved for files that are being written.
    package var reserved: Int { files.reserved }

    // MARK: Writing

    /// Begins a file for a body.
    ///
    /// - Parameter offer: The change that stores the body; `nil` if it is not stored.
    package func begin(_ offer: OfferedChange?) async throws(FileError) -> ResponseFileWriter {
        guard let offer, case .store(let response, let replaced, _) = offer.kind,
            let target = files.target(response, offer.key, replacing: replaced),
            let condition = limited.inner(offer.ticket)?.context as? RecordCondition
        else { return try await files.beginFile() }
        return try await files.beginFile(ResponseFileWriter.Target(offer: offer, place: target, condition: condition))
    }

    /// Waits for running removals, and writes what the next process reads when it starts.
    package func close() async { await limited.close() }

    // MARK: Removing

    /// Removes the responses of a URL, whoever they are for. What is on its way is not stored.
    package func remove(_ url: RequestURL) async { await cache.invalidate(url) }

    /// Removes all responses. What is on its way is not stored.
    package func removeAll() async { await cache.removeAll() }

    /// Removes the responses of an origin that belong to an account. From the call on none is found, and what is on its way
    /// is not stored.
    package func remove(of origin: Origin, _ account: EntityPartition) async {
        await limited.remove(in: ResponseScope(origin: origin, accounts: [account]))
    }
}

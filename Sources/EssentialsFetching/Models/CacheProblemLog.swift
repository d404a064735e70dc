public import EssentialsRequests
import EssentialsTools
public import Logging

/// Collects the problems of a model cache, because no failure of a cache ends a fetch.
///
/// ```swift
/// struct CoinService: FetchingService, ModelCaching {
///     let requests: any DataRequestService
///     let cache: any AsyncCache
///     let problems = CacheProblemLog(logger: Logger(label: "coins"))
///
///     var fetchDefaults: FetchDefaults { FetchDefaults(cacheProblems: problems) }
/// }
/// if service.problems.current.count > 0 { showHint() }
/// ```
///
/// One log can belong to several services. It can be used from any thread.
public final class CacheProblemLog: Sendable {
    private let problems = Mutex(CacheProblems())
    private let logger: Logger?

    /// Creates a log.
    ///
    /// - Parameter logger: Receives each problem as a debug message, without the model and its
    ///   key. The default is `nil`.
    public init(logger: Logger? = nil) { self.logger = logger }

    /// The problems since the log was created.
    public var current: CacheProblems { problems.withLock { $0 } }

    /// Counts a failed call of a cache. A cancelled call is not a problem of the cache.
    func add(_ error: any Error, _ action: StaticString) {
        guard !(error is CancellationError) else { return }
        // The text of an unknown error may contain the model.
        add((error as? RequestFailure)?.message ?? "\(type(of: error))", action)
    }

    /// Counts a model that is kept in memory only, because its type has another name at the next start of the program.
    func add(nameless type: String) {
        add("The type \(type) has no name for a key that outlives the process.", "save")
    }

    /// Counts a model that is too large to be stored.
    func addDropped() { problems.withLock { $0.dropped += 1 } }

    /// Counts a problem.
    func add(_ text: String, _ action: StaticString) {
        problems.withLock { problems in
            problems.count += 1
            problems.last = text
        }
        logger?.debug(
            "The cache of models has failed.",
            metadata: ["category": "cache", "action": "\(action)", "error": "\(text)"])
    }
}

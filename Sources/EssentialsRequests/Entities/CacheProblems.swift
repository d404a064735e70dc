/// What has gone wrong with the entity caches of a service. None of it has reached a load.
///
/// ```swift
/// let problems = service.cacheProblems
/// if problems.count > 0 { report(problems.count, problems.last ?? "") }
/// ```
public struct CacheProblems: Sendable, Hashable {
    /// How many calls of a cache have failed.
    public var count = 0
    /// The description of the last error; `nil` if there was none.
    public var last: String?
    /// How many entities were not stored, because too many were waiting for the cache.
    public var dropped = 0
    /// The caches whose removed entities could be found again if the process ended now, because they have neither removed
    /// them nor written down that they are removed: the directory of a ``FileEntityCache``, and the type of another
    /// persistent cache. In this process they are not found.
    public var readableAfterRestart: [String] = []
    /// How many caches are left alone for a while, because they have failed three times in a row.
    public var resting = 0

    /// No problems.
    public init() {}

    /// The problems of two caches together.
    package func adding(_ other: CacheProblems) -> CacheProblems {
        var sum = self
        sum.count += other.count
        sum.last = other.last ?? last
        sum.dropped += other.dropped
        sum.readableAfterRestart += other.readableAfterRestart
        sum.resting += other.resting
        return sum
    }
}

extension CacheProblems {
    /// Why the key of a directory could not be read or written.
    package init(of file: FingerprintKeyFile) {
        self.init()
        let failures = file.failures
        count = failures.count
        last = failures.last.map { "The key of the directory could not be used: \($0)" }
    }
}

/// Decides when a cache that fails is left alone for a while, so that a broken disk does not slow every load.
///
/// The machine has no clock: times are passed to its methods.
struct CacheRest: Sendable {
    /// How many faults in a row begin a rest.
    static let maximumFaults = 3
    /// How long a rest lasts.
    package static let duration = Duration.seconds(30)

    /// The faults since the last success or rest.
    private var faultsInRow = 0
    /// Whether the first fault since the last success was reported.
    private var isReported = false
    /// The end of the rest; `nil` if there is none.
    private(set) var end: Duration?

    /// Whether the cache must not be used now.
    func isResting(at now: Duration) -> Bool { end.map { now < $0 } ?? false }

    /// The cache has worked.
    package mutating func succeeded() {
        faultsInRow = 0
        isReported = false
        end = nil
    }

    /// The cache has failed.
    ///
    /// - Returns: Whether the fault is to be logged: the first one since the cache has worked.
    package mutating func failed(at now: Duration) -> Bool {
        faultsInRow += 1
        if faultsInRow >= Self.maximumFaults {
            faultsInRow = 0
            end = now + Self.duration
        }
        defer { isReported = true }
        return !isReported
    }
}

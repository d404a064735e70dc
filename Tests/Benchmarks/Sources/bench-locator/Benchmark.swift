/// A measured operation and its goal.
struct Benchmark: Sendable {
    /// The goal of a figure.
    enum Goal: Sendable {
        case none
        /// At most this multiple of the floor.
        case timesFloor(Double)
        /// At most this multiple of a peer's figure for the same operation; the peer replaces the floor.
        case timesPeer(Double)
        /// At most this many nanoseconds.
        case nanoseconds(Double)
        /// At most this many nanoseconds more than another benchmark, for each of some levels.
        case perLevel(Double, levels: Int, over: String)
    }

    let name: String
    /// The benchmark that is the lower bound for this one.
    var floor: String?
    var goal = Goal.none
    /// The number of operations between two readings of the clock.
    var operations = 200_000
    /// The number of times that a round sets up and measures these operations.
    var batches = 1
    /// Sets up without being measured, and returns the measured operation.
    let prepare: @Sendable (_ operations: Int) throws -> () throws -> Void
}

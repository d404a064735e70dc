/// One operation that is measured, and what is expected of it.
struct Benchmark: Sendable {
    /// What a figure is held against.
    enum Goal: Sendable {
        case none
        /// So many times the floor at most.
        case timesFloor(Double)
        /// So many times what a peer takes for the same at most; the peer stands in the floor's place.
        case timesPeer(Double)
        /// So many nanoseconds at most.
        case nanoseconds(Double)
        /// So many nanoseconds more than another benchmark at most, for each of some levels.
        case perLevel(Double, levels: Int, over: String)
    }

    let name: String
    /// The benchmark whose figure this one cannot beat.
    var floor: String?
    var goal = Goal.none
    /// How many operations lie between two looks at the clock.
    var operations = 200_000
    /// How often a round sets up and measures so many operations.
    var batches = 1
    /// Sets up outside the clock; what is returned is measured.
    let prepare: @Sendable (_ operations: Int) throws -> () throws -> Void
}

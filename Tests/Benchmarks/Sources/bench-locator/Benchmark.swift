/// One operation that is measured, and what is expected of it.
struct Benchmark: Sendable {
    /// What a figure is held against.
    enum Goal: Sendable {
        case none
        /// So many times the floor at most.
        case timesFloor(Double)
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

/// The middle of some figures, or the mean of the two in the middle; NaN of none.
func median(_ values: [Double]) -> Double {
    guard !values.isEmpty else { return .nan }
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
}

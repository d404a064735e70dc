internal import Figures
internal import Glibc
internal import ThreadCounters

/// What a strong resolve costs in units that no other work on the machine changes.
struct Counts {
    /// Requests for memory a resolve.
    let allocations: Double
    /// Requests for memory an object that is made: 1, or the count is not to be trusted.
    let allocationsOfObject: Double
    /// Instructions outside the kernel a resolve, the loop included; nil if the machine does not tell.
    let instructions: Double?
    /// The same for the floor.
    let instructionsOfFloor: Double?

    /// How many instructions a resolve may take.
    static let mostInstructions = 200.0

    /// What is not as it should be, on any machine and whatever else runs on it.
    var breaches: [String] {
        // A debug build shows what the optimizer takes away.
        #if DEBUG
            return []
        #else
            var breaches: [String] = []
            if allocationsOfObject != 1 {
                breaches.append("an object that is made is \(allocationsOfObject) allocations, so the count is wrong")
            }
            if allocations != 0 { breaches.append("a strong resolve takes \(allocations) allocations instead of none") }
            if let instructions, instructions > Self.mostInstructions {
                breaches.append(
                    "a strong resolve takes \(fixed(instructions, 0)) instructions, over \(fixed(Self.mostInstructions, 0))"
                )
            }
            return breaches
        #endif
    }

    static func measure(isSmoke: Bool) throws -> Counts {
        // Even a smoke run takes so many that what reading the counters costs does not show.
        let operations = isSmoke ? 10_000 : 100_000
        let locator = try Resolving.locatorWithService()
        let shelf = Shelf(PlainService())
        let resolve = { try Resolving.resolve(from: locator, times: operations) }
        let copyOut = { Floors.copyOut(of: shelf.storage, times: operations) }
        try resolve()
        return Counts(
            allocations: try allocations(operations, of: resolve),
            allocationsOfObject: allocations(operations) { Floors.makeObjects(operations) },
            instructions: try instructions(operations, of: resolve),
            instructionsOfFloor: instructions(operations, of: copyOut))
    }

    private static func instructions(_ operations: Int, of body: () throws -> Void) rethrows -> Double? {
        let descriptor = instruction_counter_open()
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let start = instruction_counter_read(descriptor)
        try body()
        let end = instruction_counter_read(descriptor)
        // A counter that stands still was never given a register of the processor.
        guard start >= 0, end > start else { return nil }
        return Double(end - start) / Double(operations)
    }

    private static func allocations(_ operations: Int, of body: () throws -> Void) rethrows -> Double {
        let start = thread_allocations()
        try body()
        return Double(thread_allocations() - start) / Double(operations)
    }
}

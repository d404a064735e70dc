internal import Figures
internal import Glibc
internal import ThreadCounters

/// The costs of a strong resolve that do not depend on other work on the machine.
struct Counts {
    /// Allocations for each resolve.
    let allocations: Double
    /// Allocations for each created object. It must be 1, otherwise the count cannot be trusted.
    let allocationsOfObject: Double
    /// Instructions outside the kernel for each resolve, including the loop; `nil` if the machine does not count them.
    let instructions: Double?
    /// Instructions for each operation of the floor.
    let instructionsOfFloor: Double?

    /// The maximum number of instructions for a resolve.
    static let mostInstructions = 200.0

    /// The counts that are wrong on any machine, whatever else runs on it.
    var breaches: [String] {
        // A debug build has allocations that the optimizer removes.
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
        // Even a smoke run has enough operations to hide the cost of reading the counters.
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
        // A counter that does not move has no register of the processor.
        guard start >= 0, end > start else { return nil }
        return Double(end - start) / Double(operations)
    }

    private static func allocations(_ operations: Int, of body: () throws -> Void) rethrows -> Double {
        let start = thread_allocations()
        try body()
        return Double(thread_allocations() - start) / Double(operations)
    }
}

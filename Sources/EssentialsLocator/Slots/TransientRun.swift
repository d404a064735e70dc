import Synchronization

/// Runs a transient registration's factory: guards against rounds without end and notes once what it resolves.
struct TransientRun: ~Copyable {
    private let maximumDepth: Int
    /// Relaxed: what was noted is under its own lock. Who does not see that it was notes it once more, which adds nothing;
    /// and the word in the slot's cell that depends on this is renewed by the thread that has set it.
    private let traced = Atomic<Bool>(false)

    init(maximumDepth: Int) { self.maximumDepth = maximumDepth }

    /// Whether it is known what the factory resolves.
    var isTraced: Bool { traced.load(ordering: .relaxed) }

    @inline(__always)
    borrowing func build(
        _ slot: Slot, owner: ServiceLocator, _ body: () throws -> Void
    ) throws(ServiceLocatorError) {
        guard slot.state.load(ordering: .acquiring) == .dynamic else { throw .closed(owner) }
        let outer = BuildFrame.current
        if outer != nil, let path = path(slot, owner: owner, inside: outer) { throw .cycle(slot, path: path) }
        let traces = !isTraced
        if traces { tracedFactories.wrappingAdd(1, ordering: .relaxed) }
        defer { if traces { tracedFactories.wrappingSubtract(1, ordering: .relaxed) } }
        do {
            try BuildFrame.run(slot, owner: owner, inside: outer, body)
            if traces {
                traced.store(true, ordering: .relaxed)
                owner.table.renew(slot)
            }
        } catch {
            throw .construction(slot, in: owner, failedWith: error)
        }
    }

    /// The path of a round, when this thread is as often in the slot's factory already as is allowed.
    borrowing func path(
        _ slot: Slot, owner: ServiceLocator, inside outer: UnsafePointer<BuildFrame>?
    ) -> [String]? {
        var depth = 0
        var next = outer
        while let frame = next {
            if frame.pointee.slot.toOpaque() == Unmanaged.passUnretained(slot).toOpaque() { depth += 1 }
            if depth == maximumDepth {
                let labels = BuildFrame.labels(from: slot, to: outer) ?? []
                return labels + [slot.label(in: owner)]
            }
            next = frame.pointee.previous
        }
        return nil
    }
}

import Synchronization

/// An installation of an assembly that runs: what it has done so far, and which keys are taken by doubles.
///
/// Doubles are registered first; what is registered after them under the same keys is left out.
final class AssemblyContext: Sendable {
    /// The installation whose groups the current task runs.
    @TaskLocal static var current: AssemblyContext?

    private struct Change {
        let slot: Slot
        /// What was in its place.
        let replaced: Slot?
    }

    private struct Progress {
        var changes: [Change] = []
        /// Keys that later groups leave alone.
        var taken: Set<ServiceKey> = []
        /// Keys of the group of doubles that runs.
        var taking: Set<ServiceKey> = []
        var done: Set<String> = []
    }

    let locator: ServiceLocator
    private let progress = Mutex(Progress())
    private let isOver = Atomic<Bool>(false)

    init(_ locator: ServiceLocator) { self.locator = locator }

    /// The installation in this locator that the current task is part of; nil when it has ended and left work behind.
    static func running(in locator: ServiceLocator) -> AssemblyContext? {
        guard let current, current.locator === locator, !current.isOver.load(ordering: .acquiring) else { return nil }
        return current
    }

    // MARK: Groups

    /// Registers the doubles of a group, the ones that win first, then the groups that it includes, then its own.
    ///
    /// A group that is included along several ways, by name, is registered once.
    func run(_ assembly: Assembly, overriding doubles: [Assembly]) throws(ServiceLocatorError) {
        for double in doubles.reversed() + assembly.overrides {
            let outer = progress.withLock { progress in
                defer { (progress.taking, progress.done) = ([], []) }
                return (progress.taking, progress.done)
            }
            try run(double, overriding: [])
            progress.withLock { progress in
                progress.taken.formUnion(progress.taking)
                // Doubles of doubles are doubles of what these are for.
                progress.taking.formUnion(outer.0)
                progress.done = outer.1
            }
        }
        guard progress.withLock({ $0.done.insert(assembly.name).inserted }) else { return }
        for included in assembly.included { try run(included, overriding: []) }
        let result = Self.$current.withValue(self) { () -> Result<Void, ServiceLocatorError> in
            do throws(ServiceLocatorError) {
                return .success(try assembly.register(in: locator))
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    // MARK: Registrations

    /// Takes the place of the locator's own way to add slots while a group runs.
    func add(_ first: Slot, _ others: [Slot]) throws(ServiceLocatorError) -> Registration {
        let wanted = untaken([first] + others)
        guard !wanted.isEmpty else { return Registration(first, others) }
        try locator.insert(wanted)
        note(wanted.map { Change(slot: $0, replaced: nil) })
        return Registration(wanted[0], Array(wanted.dropFirst()))
    }

    /// Takes the place of the locator's own way to replace a slot. The old one is withdrawn when all has succeeded.
    func exchange(_ slot: Slot) throws(ServiceLocatorError) -> Slot? {
        guard !untaken([slot]).isEmpty else { return nil }
        let replaced = try locator.swap(slot)
        note([Change(slot: slot, replaced: replaced)])
        return replaced
    }

    private func untaken(_ slots: [Slot]) -> [Slot] {
        progress.withLock { progress in slots.filter { !progress.taken.contains($0.key) } }
    }

    private func note(_ changes: [Change]) {
        progress.withLock { progress in
            progress.changes += changes
            progress.taking.formUnion(changes.map(\.slot.key))
        }
    }

    // MARK: Ends

    /// All has succeeded.
    func finish() {
        isOver.store(true, ordering: .releasing)
        for change in progress.withLock({ $0.changes }) { change.replaced?.withdraw() }
    }

    /// Takes back what was registered, and puts back what that replaced.
    func undo() {
        isOver.store(true, ordering: .releasing)
        for change in progress.withLock({ $0.changes }).reversed() {
            if let replaced = change.replaced {
                locator.putBack(replaced, for: change.slot)
            } else {
                locator.remove(change.slot)
            }
        }
    }
}

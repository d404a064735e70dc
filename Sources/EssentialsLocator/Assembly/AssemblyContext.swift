import EssentialsTools

/// A running installation of an assembly: the changes that it has made, and the keys that doubles have taken.
///
/// Doubles are registered first. Later registrations with the same keys are skipped.
final class AssemblyContext: Sendable {
    /// The installation that the current task is part of.
    @TaskLocal static var current: AssemblyContext?

    private struct Change {
        let slot: Slot
        /// The registration that it replaced.
        let replaced: Slot?
    }

    private struct Progress {
        var changes: [Change] = []
        /// The keys that later groups skip.
        var taken: Set<ServiceKey> = []
        /// The keys of the running group of doubles.
        var taking: Set<ServiceKey> = []
        var done: Set<String> = []
    }

    let locator: ServiceLocator
    private let progress = Mutex(Progress())
    private let isOver = Atomic<Bool>(false)

    init(_ locator: ServiceLocator) { self.locator = locator }

    /// The installation in this locator that the current task is part of, or `nil` if it has ended.
    static func running(in locator: ServiceLocator) -> AssemblyContext? {
        guard let current, current.locator === locator, !current.isOver.load(ordering: .acquiring) else { return nil }
        return current
    }

    // MARK: Groups

    /// Registers the doubles of a group, beginning with those that win, then its included groups, then its own
    /// registrations.
    ///
    /// A group that is included several times, compared by name, is registered once.
    func run(_ assembly: Assembly, overriding doubles: [Assembly]) throws(ServiceLocatorError) {
        for double in doubles.reversed() + assembly.overrides {
            let outer = progress.withLock { progress in
                defer { (progress.taking, progress.done) = ([], []) }
                return (progress.taking, progress.done)
            }
            try run(double, overriding: [])
            progress.withLock { progress in
                progress.taken.formUnion(progress.taking)
                // Doubles of a group of doubles are part of that group.
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

    /// Registers slots for ``ServiceLocator/add(_:)`` while a group runs, except those whose keys are taken.
    func add(_ slots: [Slot]) throws(ServiceLocatorError) -> Registration {
        let wanted = untaken(slots)
        guard !wanted.isEmpty else { return Registration(slots) }
        try locator.insert(wanted)
        record(wanted.map { Change(slot: $0, replaced: nil) })
        return Registration(wanted)
    }

    /// Replaces a registration while a group runs. The old one is withdrawn once the installation has succeeded.
    func exchange(_ slot: Slot) throws(ServiceLocatorError) -> Slot? {
        guard !untaken([slot]).isEmpty else { return nil }
        let replaced = try locator.swap(slot)
        record([Change(slot: slot, replaced: replaced)])
        return replaced
    }

    private func untaken(_ slots: [Slot]) -> [Slot] {
        progress.withLock { progress in slots.filter { !progress.taken.contains($0.key) } }
    }

    private func record(_ changes: [Change]) {
        progress.withLock { progress in
            progress.changes += changes
            progress.taking.formUnion(changes.map(\.slot.key))
        }
    }

    // MARK: Finishing

    /// Withdraws the replaced registrations after a successful installation.
    func finish() {
        isOver.store(true, ordering: .releasing)
        for change in progress.withLock({ $0.changes }) { change.replaced?.withdraw() }
    }

    /// Removes the new registrations and restores the replaced ones.
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

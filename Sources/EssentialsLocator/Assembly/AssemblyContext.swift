import Synchronization

/// An installation of an assembly that runs: what it has registered, and what it may not cover.
///
/// Overrides are registered first; what is registered after them under the same keys is left out.
final class AssemblyContext: Sendable {
    /// The installation whose groups the current task runs.
    @TaskLocal static var current: AssemblyContext?

    private struct Progress {
        var registrations: [Registration] = []
        /// Keys that later groups leave alone.
        var overridden: Set<ServiceKey> = []
        /// Keys of the group of overrides that runs.
        var overriding: Set<ServiceKey> = []
    }

    let locator: ServiceLocator
    private let progress = Mutex(Progress())

    init(_ locator: ServiceLocator) { self.locator = locator }

    /// Runs overrides, the one that wins first, and then the group.
    func run(overrides: [Assembly], _ assembly: Assembly) throws(ServiceLocatorError) {
        for override in overrides {
            var done: Set<String> = []
            try register(override, done: &done)
            progress.withLock { progress in
                progress.overridden.formUnion(progress.overriding)
                progress.overriding = []
            }
        }
        var done: Set<String> = []
        try register(assembly, done: &done)
    }

    private func register(_ assembly: Assembly, done: inout Set<String>) throws(ServiceLocatorError) {
        let result = Self.$current.withValue(self) { () -> Result<Void, ServiceLocatorError> in
            do throws(ServiceLocatorError) {
                return .success(try assembly.register(in: locator, done: &done))
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    /// Takes the place of the locator's own way to add slots while a group runs.
    func add(_ first: Slot, _ others: [Slot]) throws(ServiceLocatorError) -> Registration {
        let wanted = progress.withLock { progress in
            ([first] + others).filter { !progress.overridden.contains($0.key) }
        }
        guard let kept = wanted.first else { return Registration(first, others) }
        let rest = Array(wanted.dropFirst())
        let result = Self.$current.withValue(nil) { () -> Result<Registration, ServiceLocatorError> in
            do throws(ServiceLocatorError) {
                return .success(try locator.add(kept, rest))
            } catch {
                return .failure(error)
            }
        }
        let registration = try result.get()
        progress.withLock { progress in
            progress.registrations.append(registration)
            progress.overriding.formUnion(wanted.map(\.key))
        }
        return registration
    }

    /// Takes back what was registered.
    func undo() {
        for registration in progress.withLock({ $0.registrations }).reversed() { locator.unregister(registration) }
    }
}

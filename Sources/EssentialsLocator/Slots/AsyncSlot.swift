import Synchronization

/// A registration that builds its service in a task, which all first resolves share.
///
/// `@unchecked Sendable`: the state is inside the mutex; the storage is written once, before `markStored` releases it.
final class AsyncSlot: ServiceSlot, @unchecked Sendable {
    /// Puts what it builds into the memory, which is the slot's.
    private typealias Factory = @Sendable (ServiceLocator, UnsafeMutableRawPointer) async throws -> Void

    private enum Progress {
        case idle(Factory)
        /// The flag says that the factory waits for the closing of its own locator, which then cannot wait for it: the
        /// task that runs it tells the service of the end.
        case running(Factory, AsyncAttempt, tellsItself: Bool)
        case built
        case withdrawn
        case closed
    }

    private enum Step {
        case built, moved, closed
        case start(Factory, AsyncAttempt)
        case join(AsyncAttempt)
    }

    private let progress: Mutex<Progress>
    /// Whether no attempt may begin any more. Relaxed: whoever sets it takes the lock of `progress` afterwards, and whoever
    /// asks holds it, so that who asks after that sees it.
    private let isClosing = Atomic<Bool>(false)

    init<Service: Sendable>(
        _ type: Service.Type, name: String?, site: RegistrationSite,
        factory: @escaping @Sendable (ServiceLocator) async throws -> Service
    ) {
        progress = Mutex(
            .idle { locator, memory in
                let service = try await factory(locator)
                memory.initializeMemory(as: Service.self, to: service)
            })
        super.init(type, name: name, site: site, kind: .async, state: .dynamic)
    }

    override func provide(
        into memory: UnsafeMutableRawPointer, owner: ServiceLocator, requester: ServiceLocator
    ) throws(ServiceLocatorError) -> Provision {
        if case .closed = progress.withLock({ $0 }) { throw .closed(owner) }
        throw .asynchronous(self, in: owner)
    }

    /// Builds or waits; false when the registration was removed meanwhile. Then the service can be copied out.
    func prepare(owner: ServiceLocator) async throws(ServiceLocatorError) -> Bool {
        switch nextStep(owner: owner) {
        case .built: break
        case .moved: return false
        case .closed: throw .closed(owner)
        case .start(let factory, let attempt):
            // Not a child of the calling task: others wait for it too, and the caller may be cancelled.
            Task { await self.run(factory, attempt, owner: owner) }
            try await attempt.join(self)
        case .join(let attempt):
            try await attempt.join(self)
        }
        return true
    }

    private func nextStep(owner: ServiceLocator) -> Step {
        progress.withLock { progress in
            switch progress {
            case .idle(let factory):
                let attempt = AsyncAttempt(slot: self, label: label(in: owner))
                progress = .running(factory, attempt, tellsItself: false)
                return .start(factory, attempt)
            // Who waits already gets the service; who comes after the closing began does not.
            case .running(_, let attempt, _): return isClosing.load(ordering: .relaxed) ? .closed : .join(attempt)
            case .built: return .built
            case .withdrawn: return .moved
            case .closed: return .closed
            }
        }
    }

    /// Runs the factory. The owner lives at least until it returns.
    private func run(_ factory: @escaping Factory, _ attempt: AsyncAttempt, owner: ServiceLocator) async {
        tracedFactories.wrappingAdd(1, ordering: .relaxed)
        let failure: ServiceLocatorError?
        do {
            try await AsyncAttempt.$current.withValue(attempt) { try await factory(owner, self.memory) }
            markStored()
            failure = nil
        } catch {
            failure = .construction(self, in: owner, failedWith: error)
        }
        tracedFactories.wrappingSubtract(1, ordering: .relaxed)
        // The factory is released after the lock: what it captured runs its own code when it goes.
        let done = progress.withLock { progress in
            let before = progress
            // Both asked under the lock that `withdraw` and `close` take after they have set them.
            let isOver = isRemoved.load(ordering: .relaxed)
            if isClosing.load(ordering: .relaxed) {
                progress = .closed
            } else {
                progress = failure == nil ? .built : isOver ? .withdrawn : .idle(factory)
            }
            return before
        }
        attempt.end(failure)
        if case .running(_, _, tellsItself: true) = done { await owner.tell(self) }
        withExtendedLifetime(done) {}
    }

    // MARK: The end

    override func withdraw() {
        super.withdraw()
        leaveIdle(.withdrawn)
    }

    override func close() {
        isClosing.store(true, ordering: .relaxed)
        leaveIdle(.closed)
        progress.withLock { progress in
            if case .built = progress { progress = .closed }
        }
    }

    override func ended(for closing: WaitNode) async {
        guard case .running(_, let attempt, _) = progress.withLock({ $0 }) else { return }
        guard await !attempt.ended(for: closing) else { return }
        progress.withLock { progress in
            // Under the lock under which the attempt ends. One that has ended meanwhile has stored its service before, so
            // that the closing finds it; one that has not looks here when it does.
            guard case .running(let factory, let attempt, _) = progress else { return }
            progress = .running(factory, attempt, tellsItself: true)
        }
    }

    override var graphState: ServiceGraph.State {
        if case .running = progress.withLock({ $0 }) { return .building }
        return isStored ? .built : .unbuilt
    }

    private func leaveIdle(_ next: Progress) {
        let dropped = progress.withLock { progress -> Progress? in
            guard case .idle = progress else { return nil }
            let before = progress
            progress = next
            return before
        }
        withExtendedLifetime(dropped) {}
    }

    override func check(owner: ServiceLocator) async -> ServiceLocatorError? {
        do throws(ServiceLocatorError) {
            _ = try await prepare(owner: owner)
            return nil
        } catch {
            return error
        }
    }
}

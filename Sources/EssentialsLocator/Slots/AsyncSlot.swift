import EssentialsTools

/// A registration that builds its service in a task that all first resolves share.
///
/// `@unchecked Sendable`: the mutex guards the state, and the memory is written once, before `markStored` releases it.
final class AsyncSlot: ServiceSlot, @unchecked Sendable {
    /// Builds the service and initializes the slot's memory with it.
    private typealias Factory = @Sendable (ServiceLocator, UnsafeMutableRawPointer) async throws -> Void

    private enum Progress {
        case idle(Factory)
        /// `notifiesItself` means that the factory waits for the closing of its own locator, so the closing cannot wait
        /// for the factory. The task that runs the factory then calls `close()` of the service.
        case running(Factory, AsyncAttempt, notifiesItself: Bool)
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
    /// Whether attempts may no longer begin. Relaxed ordering is enough: the thread that sets it takes the lock of
    /// `progress` afterwards, and readers hold that lock.
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

    /// Builds the service or waits for it. Returns `false` if the registration was removed meanwhile.
    func prepare(owner: ServiceLocator) async throws(ServiceLocatorError) -> Bool {
        switch nextStep(owner: owner) {
        case .built: break
        case .moved: return false
        case .closed: throw .closed(owner)
        case .start(let factory, let attempt):
            // Not a child of the calling task, which may be cancelled while other tasks wait.
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
                progress = .running(factory, attempt, notifiesItself: false)
                return .start(factory, attempt)
            // Tasks that wait already get the service. Tasks that come after the closing began do not.
            case .running(_, let attempt, _): return isClosing.load(ordering: .relaxed) ? .closed : .join(attempt)
            case .built: return .built
            case .withdrawn: return .moved
            case .closed: return .closed
            }
        }
    }

    /// Runs the factory. The owner lives until it returns.
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
        // The factory is released without the lock, because objects that it captured may run code in `deinit`.
        let done = progress.withLock { progress in
            let before = progress
            // `withdraw` and `close` take this lock after they have set these flags.
            let isOver = isRemoved.load(ordering: .relaxed)
            if isClosing.load(ordering: .relaxed) {
                progress = .closed
            } else {
                progress = failure == nil ? .built : isOver ? .withdrawn : .idle(factory)
            }
            return before
        }
        attempt.end(failure)
        if case .running(_, _, notifiesItself: true) = done { await owner.notify(self) }
        withExtendedLifetime(done) {}
    }

    // MARK: Withdrawing and closing

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
            // An attempt ends under this lock. If it has ended, the closing finds the stored service. If not, it reads
            // the flag when it ends.
            guard case .running(let factory, let attempt, _) = progress else { return }
            progress = .running(factory, attempt, notifiesItself: true)
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

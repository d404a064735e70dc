import Synchronization

/// A registration that builds its service when it is first resolved.
///
/// `@unchecked Sendable`: `factory` is touched only by the thread that moved the state away from `pending`, which one
/// thread at a time can do; moving it back to `pending` releases what that thread wrote, and moving it away acquires it.
final class LazySlot<Service: Sendable>: ServiceSlot<Service>, @unchecked Sendable {
    typealias Factory = @Sendable (ServiceLocator) throws -> Service

    /// Kept until it succeeds or the registration goes.
    private var factory: Factory?

    init(name: String?, site: RegistrationSite, kind: ServiceGraph.Kind = .lazy, factory: @escaping Factory) {
        self.factory = factory
        super.init(name: name, site: site, kind: kind, state: .pending)
    }

    override func provide(
        owner: ServiceLocator, requester: ServiceLocator
    ) throws(ServiceLocatorError) -> Provision<Service> {
        while true {
            switch state.load(ordering: .acquiring) {
            case .ready: return .service(typedStorage.pointee)
            case .withdrawn: return .moved
            case .closed, .dynamic: throw .closed(owner)
            case .pending: if admit(.building) { return .service(try build(owner: owner)) }
            case .building, .contended: if let service = try join(owner: owner) { return .service(service) }
            }
        }
    }

    /// Moves the state away from `pending`. Of several threads one succeeds.
    private func admit(_ next: State) -> Bool {
        state.compareExchange(expected: .pending, desired: next, ordering: .acquiringAndReleasing).exchanged
    }

    // MARK: Building

    /// Runs the factory, without a lock. The owner lives at least until it returns.
    private func build(owner: ServiceLocator) throws(ServiceLocatorError) -> Service {
        builder.store(currentThreadIdentity(), ordering: .relaxed)
        tracedFactories.wrappingAdd(1, ordering: .relaxed)
        let outcome = outcome(owner: owner)
        tracedFactories.wrappingSubtract(1, ordering: .relaxed)
        builder.store(0, ordering: .relaxed)
        switch outcome {
        case .success(let service):
            store(service)
            // Released at the end of this call: what the factory captured runs its own code when it goes.
            let done = factory
            factory = nil
            finish(.ready, .built)
            return withExtendedLifetime(done) { service }
        case .failure(let error):
            finish(.pending, .failed(error))
            if isRemoved.load(ordering: .sequentiallyConsistent) { dropFactory(.withdrawn) }
            throw error
        }
    }

    private func outcome(owner: ServiceLocator) -> Result<Service, ServiceLocatorError> {
        guard let factory else { return .failure(.closed(owner)) }
        do {
            return .success(try BuildFrame.run(self, owner: owner) { try factory(owner) })
        } catch {
            return .failure(.construction(self, in: owner, failedWith: error))
        }
    }

    /// Ends the attempt. With others waiting this happens under the ledger's lock, so that who joins an attempt joins
    /// one that has not ended.
    private func finish(_ next: State, _ outcome: ConstructionLedger.Outcome) {
        if state.compareExchange(expected: .building, desired: next, ordering: .sequentiallyConsistent).exchanged {
            return
        }
        let result = ConstructionLedger.shared.withLock { ledger in
            state.store(next, ordering: .sequentiallyConsistent)
            return ledger.finish(self)
        }
        result?.deliver(outcome)
    }

    /// Waits for the thread that builds; nil if it has ended before that was possible.
    private func join(owner: ServiceLocator) throws(ServiceLocatorError) -> Service? {
        let step = ConstructionLedger.shared.withLock { ledger in
            ledger.join(self, owner: owner, thread: currentThreadIdentity(), frames: BuildFrame.current)
        }
        switch step {
        case .over: return nil
        case .cycle(let path): throw .cycle(self, path: path)
        case .wait(let result):
            switch result.wait() {
            case .built: return typedStorage.pointee
            case .failed(let error): throw error
            }
        }
    }

    // MARK: The end

    override func withdraw() {
        super.withdraw()
        dropFactory(.withdrawn)
    }

    /// Forgets the factory unless it runs or has succeeded.
    ///
    /// Whoever withdraws sets ``isRemoved`` first and tries this second; whoever fails to build moves the state back
    /// first and looks at ``isRemoved`` second. All four are sequentially consistent, so one of the two does it.
    private func dropFactory(_ next: State) {
        guard
            state.compareExchange(expected: .pending, desired: next, ordering: .sequentiallyConsistent).exchanged
        else { return }
        let dropped = factory
        factory = nil
        withExtendedLifetime(dropped) {}
    }

    override func close() async {
        while true {
            switch state.load(ordering: .acquiring) {
            case .withdrawn, .closed, .dynamic: return
            case .pending: dropFactory(.closed)
            case .ready: if leaveReady() { return }
            case .building, .contended:
                let result = ConstructionLedger.shared.withLock { $0.watch(self) }
                _ = await result?.delivered()
            }
        }
    }

    private func leaveReady() -> Bool {
        state.compareExchange(expected: .ready, desired: .closed, ordering: .acquiringAndReleasing).exchanged
    }

    override func check(owner: ServiceLocator) async -> ServiceLocatorError? {
        if Service.self is any MainActorBoxing.Type { return await MainActor.run { failure(owner: owner) } }
        return failure(owner: owner)
    }

    private func failure(owner: ServiceLocator) -> ServiceLocatorError? {
        do throws(ServiceLocatorError) {
            _ = try provide(owner: owner, requester: owner)
            return nil
        } catch {
            return error
        }
    }
}

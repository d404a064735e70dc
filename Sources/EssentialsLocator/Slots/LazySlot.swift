import Synchronization

/// A registration that builds its service when it is first resolved.
///
/// `@unchecked Sendable`: `factory` is touched only by the thread that moved the state away from `pending`, which one
/// thread at a time can do; moving it back to `pending` releases what that thread wrote, and moving it away acquires it.
final class LazySlot: ServiceSlot, @unchecked Sendable {
    /// Puts what it builds into the memory, which is the slot's.
    private typealias Build = @Sendable (ServiceLocator, UnsafeMutableRawPointer) throws -> Void

    /// Kept until it succeeds or the registration goes.
    private var factory: Build?

    init<Service: Sendable>(
        _ type: Service.Type, name: String?, site: RegistrationSite,
        factory: @escaping @Sendable (ServiceLocator) throws -> Service
    ) {
        self.factory = { locator, memory in memory.initializeMemory(as: Service.self, to: try factory(locator)) }
        super.init(type, name: name, site: site, kind: .lazy, state: .pending)
    }

    override func provide(
        into memory: UnsafeMutableRawPointer, owner: ServiceLocator, requester: ServiceLocator
    ) throws(ServiceLocatorError) -> Provision {
        while true {
            switch state.load(ordering: .acquiring) {
            case .ready: break
            case .withdrawn: return .moved
            case .closed, .dynamic: throw .closed(owner)
            case .pending:
                // Closing waits for an attempt that runs, and lets none begin and nobody join.
                guard !owner.isClosed else { throw .closed(owner) }
                guard admit(.building) else { continue }
                try build(owner: owner)
            case .building, .contended:
                guard !owner.isClosed else { throw .closed(owner) }
                guard try join(owner: owner) else { continue }
            }
            copy(into: memory)
            return .provided
        }
    }

    /// Moves the state away from `pending`. Of several threads one succeeds.
    private func admit(_ next: State) -> Bool {
        state.compareExchange(expected: .pending, desired: next, ordering: .acquiringAndReleasing).exchanged
    }

    // MARK: Building

    /// Runs the factory, without a lock. The owner lives at least until it returns.
    private func build(owner: ServiceLocator) throws(ServiceLocatorError) {
        builder.store(currentThreadIdentity(), ordering: .relaxed)
        tracedFactories.wrappingAdd(1, ordering: .relaxed)
        // Released at the end of this call: what the factory captured runs its own code when it goes.
        let factory = factory
        let failure: (any Error)?
        do {
            // Admitted from `pending`, which has a factory.
            if let factory {
                try BuildFrame.run(self, owner: owner, inside: BuildFrame.current) { try factory(owner, memory) }
                markStored()
            }
            failure = nil
        } catch {
            failure = error
        }
        tracedFactories.wrappingSubtract(1, ordering: .relaxed)
        builder.store(0, ordering: .relaxed)
        guard let failure else {
            self.factory = nil
            finish(.ready, .built)
            return owner.table.renew(self)
        }
        let error = ServiceLocatorError.construction(self, in: owner, failedWith: failure)
        finish(.pending, .failed(error))
        if isRemoved.load(ordering: .sequentiallyConsistent) { dropFactory(.withdrawn) }
        throw error
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

    /// Waits until the thread that builds has built; false if it has ended before that was possible.
    private func join(owner: ServiceLocator) throws(ServiceLocatorError) -> Bool {
        let step = ConstructionLedger.shared.withLock { ledger in
            ledger.join(self, owner: owner, thread: currentThreadIdentity(), frames: BuildFrame.current)
        }
        switch step {
        case .over: return false
        case .cycle(let path): throw .cycle(self, path: path)
        case .wait(let result):
            switch result.wait() {
            case .built: return true
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

    override func close() {
        while true {
            switch state.load(ordering: .acquiring) {
            case .withdrawn, .closed, .dynamic: return
            case .pending: dropFactory(.closed)
            case .ready: if leaveReady() { return }
            // It ends in one of the other states, where ``ended(for:)`` finds it.
            case .building, .contended: return
            }
        }
    }

    override func ended(for closing: WaitNode) async {
        while let result = ConstructionLedger.shared.withLock({ $0.watch(self) }) { _ = await result.delivered() }
        close()
    }

    private func leaveReady() -> Bool {
        state.compareExchange(expected: .ready, desired: .closed, ordering: .acquiringAndReleasing).exchanged
    }

    override func check(owner: ServiceLocator) async -> ServiceLocatorError? {
        if type is any MainActorBoxing.Type { return await MainActor.run { trial(owner: owner) } }
        return trial(owner: owner)
    }
}

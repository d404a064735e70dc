import EssentialsTools

/// A registration that builds its service at the first resolve.
///
/// `@unchecked Sendable`: only the thread that moved the state away from `pending` uses `factory`, and one thread at a
/// time can do that. Moving the state back to `pending` releases what the thread wrote, and moving it away acquires it.
final class LazySlot: ServiceSlot, @unchecked Sendable {
    /// Builds the service and initializes the slot's memory with it.
    private typealias Build = @Sendable (ServiceLocator, UnsafeMutableRawPointer) throws -> Void

    /// `nil` once it has succeeded or the registration was removed or closed.
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
                // Closing waits for a running attempt. No attempt may begin or be joined after it.
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

    /// Moves the state away from `pending`. One of several threads succeeds.
    private func admit(_ next: State) -> Bool {
        state.compareExchange(expected: .pending, desired: next, ordering: .acquiringAndReleasing).exchanged
    }

    // MARK: Building

    /// Runs the factory without a lock. The owner lives until it returns.
    private func build(owner: ServiceLocator) throws(ServiceLocatorError) {
        builder.store(currentThreadIdentity(), ordering: .relaxed)
        tracedFactories.wrappingAdd(1, ordering: .relaxed)
        // Released at the end of this call, because objects that the factory captured may run code in `deinit`.
        let factory = factory
        let failure: (any Error)?
        do {
            // There is a factory, because the state was `pending`.
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
            return finish(.ready, .built)
        }
        let error = ServiceLocatorError.construction(self, in: owner, failedWith: failure)
        finish(.pending, .failed(error))
        if isRemoved.load(ordering: .sequentiallyConsistent) { dropFactory(.withdrawn) }
        throw error
    }

    /// Ends the attempt. If other threads wait, this takes the ledger's lock, so that no thread joins an attempt that
    /// has ended.
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

    /// Waits for the thread that builds. Returns `false` if its attempt had already ended.
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

    // MARK: Withdrawing and closing

    override func withdraw() {
        super.withdraw()
        dropFactory(.withdrawn)
    }

    /// Releases the factory unless it runs or has succeeded.
    ///
    /// A thread that withdraws the registration sets ``isRemoved`` and then calls this. A thread whose attempt fails
    /// moves the state back and then reads ``isRemoved``. All four operations are sequentially consistent, so at least
    /// one of the two threads releases the factory.
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
            // The attempt ends in one of the other states, which ``ended(for:)`` handles.
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

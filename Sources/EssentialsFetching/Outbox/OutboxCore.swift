import EssentialsHTTP
import EssentialsRequests
import EssentialsTools
import FoundationEssentials
import Logging

/// Carries out the decisions of ``OutboxMachine``. All changes are made under one lock, and no other code is called
/// under it.
final class OutboxCore: Sendable {
    private struct State {
        var machine: OutboxMachine
        /// Whether the entries of the directory are in the machine.
        var isOpen = false
        var isClosed = false
        /// The requests that are being sent.
        var sending: [OutboxEntry.ID: Task<Void, Never>] = [:]
        var timer: (time: Duration, task: Task<Void, Never>)?
        /// Provided when nothing can be sent now; `nil` if no task waits for that.
        var rested: OneShot<Void>?
        var readers: [Int: OutboxMailbox] = [:]
        var replies = OutboxReplies()
        var nextNumber = 0
        var isReachable: Bool?
        /// How often an entry's files could not be changed.
        var faults = 0
        /// The key for hashes of header fields; `nil` until the outbox is open.
        var key: FingerprintKey?
        /// The current environment.
        var identity: EnvironmentIdentity
        /// The environments that were reported as absent.
        var reported: Set<OutboxEnvironment> = []
    }

    let store: OutboxStore
    let requests: any DataRequestService
    let environment: any EnvironmentService
    let configuration: Outbox.Configuration
    private let state: Mutex<State>

    init(
        _ store: OutboxStore, _ requests: any DataRequestService, _ environment: any EnvironmentService,
        _ partition: EntityPartition?, _ configuration: Outbox.Configuration
    ) {
        (self.store, self.requests, self.environment) = (store, requests, environment)
        self.configuration = configuration
        let identity = EnvironmentIdentity(of: environment)
        let machine = OutboxMachine(
            .init(configuration), partition: partition, environment: OutboxEnvironment(identity, nil))
        state = Mutex(State(machine: machine, identity: identity))
    }

    private var clock: RequestClock { configuration.clock }

    private var moment: OutboxMachine.Moment {
        OutboxMachine.Moment(
            now: clock.now, date: clock.date, bootTime: clock.bootTime,
            fraction: Double(clock.random() >> 11) * 0x1p-53)
    }

    /// The current environment, and the form in which it is recognized after a restart.
    func currentEnvironment() -> (identity: EnvironmentIdentity, name: OutboxEnvironment) {
        let (known, key) = state.withLock { ($0.identity, $0.key) }
        if known.versioned.isCurrent(in: environment) { return (known, OutboxEnvironment(known, key)) }
        let current = EnvironmentIdentity(of: environment)
        let former = state.withLock { state in
            defer { state.identity = current }
            return state.identity
        }
        // Settings of the application may be released with it, outside the lock.
        _ = consume former
        return (current, OutboxEnvironment(current, key))
    }

    // MARK: Changes

    /// Reads the machine.
    func reading<Value>(_ read: (OutboxMachine) -> Value) -> Value { state.withLock { read($0.machine) } }

    /// Changes the machine and carries out its actions.
    ///
    /// - Parameter id: The entry whose attempt has ended.
    func changing(
        ending id: OutboxEntry.ID? = nil,
        _ change: (inout OutboxMachine, OutboxMachine.Moment) -> [OutboxMachine.Action]
    ) {
        let moment = moment
        var isDone: [() -> Void] = []
        let others = state.withLock { state -> [OutboxMachine.Action] in
            if let id { state.sending[id] = nil }
            let actions = change(&state.machine, moment)
            var others: [OutboxMachine.Action] = []
            for action in actions {
                switch action {
                case .tell(let entry):
                    for delivery in state.readers.values.compactMap({ $0.put(entry) }) { isDone.append(delivery.make) }
                    if let call = state.replies.change(entry) { isDone.append(call) }
                // The task begins under this lock, so it is known before it can end.
                case .send(let id): state.sending[id] = Task { await self.send(id) }
                case .remove, .setAside, .restore: others.append(action)
                }
            }
            setTimer(&state)
            if state.machine.isIdle, let rested = state.rested.take() { isDone.append { rested.provide(()) } }
            return others
        }
        for call in isDone { call() }
        for action in others { Task { await self.perform(action) } }
    }

    private func setTimer(_ state: inout State) {
        let wake = state.isClosed ? nil : state.machine.nextWake
        if wake == state.timer?.time { return }
        state.timer?.task.cancel()
        state.timer = wake.map { time in
            let task = Task { [weak self, clock] in
                guard (try? await clock.sleep(until: time)) != nil else { return }
                self?.timerFired(time)
            }
            return (time, task)
        }
    }

    private func timerFired(_ time: Duration) {
        state.withLock { if $0.timer?.time == time { $0.timer = nil } }
        changing { $0.tick($1) }
    }

    private func perform(_ action: OutboxMachine.Action) async {
        switch action {
        case .remove(let id):
            await succeeds { () throws(RequestFailure) in try await store.remove(id) }
            changing { $0.removed(id, $1) }
        case .setAside(let id, let failure):
            await succeeds { () throws(RequestFailure) in try await store.setAside(id, failure) }
            changing { $0.setAside(id, $1) }
        case .restore(let id):
            let isDone = await succeeds { () throws(RequestFailure) in try await store.restore(id) }
            changing { isDone ? $0.restored(id, $1) : $0.notRestored(id, $1) }
        case .send, .tell: break
        }
    }

    /// Drops an entry; see ``Outbox/drop(_:)``.
    func drop(_ id: OutboxEntry.ID) async throws(RequestFailure) -> Bool {
        guard begins({ $0.drop(id) }) else { return false }
        do throws(RequestFailure) { try await store.remove(id) } catch {
            changing { $0.notRemoved(id, $1) }
            throw error
        }
        changing { $0.removed(id, $1) }
        return true
    }

    /// Sends an entry again; see ``Outbox/retry(_:)``.
    func retry(_ id: OutboxEntry.ID) async throws(RequestFailure) -> Bool {
        guard begins({ $0.retry(id) }) else { return false }
        do throws(RequestFailure) { try await store.restore(id) } catch {
            changing { $0.notRestored(id, $1) }
            throw error
        }
        changing { $0.restored(id, $1) }
        return true
    }

    private func begins(_ change: (inout OutboxMachine) -> Bool) -> Bool {
        state.withLock { change(&$0.machine) }
    }

    @discardableResult
    private func succeeds(_ work: () async throws(RequestFailure) -> Void) async -> Bool {
        do throws(RequestFailure) {
            try await work()
            return true
        } catch {
            state.withLock { $0.faults += 1 }
            log("The files of an outbox could not be changed.", error)
            return false
        }
    }

    func log(_ message: StaticString, _ failure: RequestFailure) {
        configuration.logger.debug(
            "\(message)", metadata: ["category": "outbox", "error": "\(failure.message)"])
    }

    var faults: Int { state.withLock { $0.faults } }

    // MARK: Opening and closing

    /// Takes the lock of the directory and reads the entries, unless this was already done.
    ///
    /// The store opens for one caller while the others wait. A failed opening is repeated by the next caller.
    func open() async throws(RequestFailure) {
        let (isOpen, isClosed) = state.withLock { ($0.isOpen, $0.isClosed) }
        guard !isClosed else { throw Self.closed }
        guard !isOpen else { return }
        try await store.open { [self] found in
            state.withLock { $0.key = found.key }
            adoptEnvironment()
            changing { $0.load(found.entries, $1) }
            // This is set last, because a caller that finds the outbox open reads the entries at once.
            state.withLock { $0.isOpen = true }
            reportAbsentEnvironments()
        }
        // It may have been closed while it opened.
        guard !state.withLock({ $0.isClosed }) else { throw Self.closed }
    }

    /// Other credentials may belong to another account, so nothing is added or sent for the partition with them.
    static var suspended: RequestFailure {
        RequestFailure(
            .authorization, "The credentials were replaced or cleared, and no partition has been entered since.",
            remedy: "Call “enter” of the outbox after the credentials were set.", transmission: .unsent)
    }

    static var closed: RequestFailure {
        RequestFailure(.closed, "The outbox was closed.", remedy: "Create another one.")
    }

    /// Adopts the current environment.
    func adoptEnvironment() {
        let name = currentEnvironment().name
        guard reading({ $0.environment }) != name else { return }
        changing { $0.enter(environment: name, $1) }
        reportAbsentEnvironments()
    }

    /// The maximum number of environments that are reported once. Beyond it they are reported again.
    private static let maximumReported = 256

    /// Logs once for each environment that entries wait for it.
    private func reportAbsentEnvironments() {
        let (absent, current) = state.withLock { state -> ([(OutboxEnvironment, Int)], OutboxEnvironment) in
            let absent = state.machine.absentEnvironments.filter { !state.reported.contains($0.key) }
            if state.reported.count + absent.count > Self.maximumReported { state.reported = [] }
            for environment in absent.keys.prefix(Self.maximumReported) { state.reported.insert(environment) }
            return (absent.map { ($0.key, $0.value) }, state.machine.environment)
        }
        for (environment, count) in absent {
            let differs = environment.difference(from: current) == .headerFields
            configuration.logger.debug(
                "Entries of an outbox wait for another environment than the current one.",
                metadata: [
                    "category": "outbox", "count": "\(count)",
                    "environment": "\(environment.name.isEmpty ? environment.baseURL : environment.name)",
                    "difference": differs ? "header fields" : environment.name.isEmpty ? "base URL" : "name",
                ])
        }
    }

    /// Ends all work that runs in the background, because the outbox was released.
    func stop() {
        let (timer, tasks, ended) = state.withLock { state in
            state.isClosed = true
            state.machine.end()
            return (state.timer.take()?.task, Array(state.sending.values), state.replies.endAll(Self.closed))
        }
        timer?.cancel()
        for task in tasks { task.cancel() }
        for call in ended { call() }
    }

    func close() async {
        state.withLock { $0.isClosed = true }
        await finish(within: configuration.closeDeadline)
        let tasks = state.withLock { Array($0.sending.values) }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        await idle()
        await store.close()
        let (readers, ended) = state.withLock { state in
            defer { state.readers = [:] }
            return (Array(state.readers.values), state.replies.endAll(Self.closed))
        }
        for reader in readers { reader.finish() }
        for call in ended { call() }
    }

    // MARK: Waiting

    /// Waits until nothing is being sent and nothing can be sent now.
    ///
    /// - Parameter deadline: The maximum time; `nil` means no limit.
    func idle(within deadline: Duration? = nil) async {
        let rested = state.withLock { state -> OneShot<Void>? in
            guard !state.machine.isIdle else { return nil }
            let rested = state.rested ?? OneShot()
            state.rested = rested
            return rested
        }
        guard let rested else { return }
        guard let deadline else { return _ = await rested.valueUnlessCancelled() }
        await rested.valueUnlessCancelled { [clock] in try? await clock.sleep(for: deadline) }
    }

    /// Sends no further entries, and waits for those that are being sent.
    func finish(within grace: Duration) async {
        let timer = state.withLock { state in
            state.machine.end()
            return state.timer.take()?.task
        }
        timer?.cancel()
        await idle(within: grace)
    }

    private func nextNumber() -> Int {
        state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
    }

    /// Records a status of the reachability service.
    func note(isReachable: Bool) {
        let last = state.withLock { state in
            defer { state.isReachable = isReachable }
            return state.isReachable
        }
        if isReachable, last == false { changing { $0.pathIsBack($1) } }
    }

    /// Tries the entries that failed because of the network, and waits for them, for at most the deadline.
    func sendPending(waitingAtMost deadline: Duration) async {
        try? await open()
        changing { $0.pathIsBack($1) }
        await idle(within: deadline)
    }

    // MARK: Partitions

    /// Enters a partition, or leaves the current one, and waits until no request of another partition is being sent.
    func enter(_ partition: EntityPartition?) async {
        if let partition { requests.sender?.enter(partition) }
        changing { machine, moment in
            let actions = machine.enter(partition, moment)
            // Entries that had no credentials must not wait any longer.
            return partition == nil ? actions : actions + machine.drain(moment)
        }
        let tasks = state.withLock { state in state.machine.strangers.compactMap { state.sending[$0] } }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    // MARK: Readers

    func add(_ mailbox: OutboxMailbox) -> Int {
        let number = nextNumber()
        state.withLock { state in
            // No reader waits for the mailbox yet.
            for entry in state.machine.entries { _ = mailbox.put(entry) }
            if !state.isClosed { state.readers[number] = mailbox }
        }
        if state.withLock({ $0.isClosed }) { mailbox.finish() }
        return number
    }

    func removeReader(_ number: Int) { state.withLock { $0.readers[number] = nil } }

    // MARK: Replies

    /// Makes a caller wait for the response to an entry that is not stored yet.
    func expect(_ reply: OutboxReply, for id: OutboxEntry.ID) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.replies.add(reply, for: id) }
            return state.isClosed
        }
        if isClosed { reply.complete(.failure(Self.closed)) }
    }

    /// Ends the wait of a caller.
    func forget(_ id: OutboxEntry.ID) { state.withLock { $0.replies.remove(id) } }

    private func note(_ outcome: OutboxReply.Outcome, _ id: OutboxEntry.ID) {
        state.withLock { $0.replies.note(outcome, id) }
    }

    // MARK: Sending

    private func send(_ id: OutboxEntry.ID) async {
        let stored: OutboxStore.Request
        do throws(RequestFailure) {
            stored = try await store.request(id)
        } catch {
            // A later attempt may read it, for example when descriptors are free again.
            let failure = RequestFailure(.resources, error.message, underlying: error)
            return changing(ending: id) { $0.failed(id, failure, $1) }
        }
        guard case .request(let record, let file) = stored else {
            changing(ending: id) { $0.lost(id, $1) }
            if let call = state.withLock({ $0.replies.lose(id) }) { call() }
            return
        }
        do throws(RequestFailure) {
            let request = try request(record, file)
            let reply = state.withLock { $0.replies[id] }
            let response = try await requests.send(reply?.prepared(request) ?? request)
            note(.success(response), id)
            changing(ending: id) { $0.sent(id, status: response.status.code, $1) }
        } catch {
            let retryAfter = error.retryAfter(now: clock.date)
            note(.failure(error), id)
            changing(ending: id) { $0.failed(id, error, retryAfter: retryAfter, $1) }
        }
    }

    /// The request of an entry, which fails if the environment changes before it is sent.
    private func request(_ record: OutboxRecord, _ file: StoredBody?) throws(RequestFailure) -> DataRequest {
        let (identity, name) = currentEnvironment()
        guard name == record.environment, !Task.isCancelled else {
            adoptEnvironment()
            throw RequestFailure(.cancelled, "The environment or the partition of the entry has been left.")
        }
        let operation = requests.beginOperation()
        guard operation?.admits(EntityPartition(record.partition)) ?? true else { throw Self.suspended }
        var request = record.parts.request(in: identity.snapshot, file: file).bound(to: operation)
        request.options = configuration.options
        request.idempotencyKey = .text(record.idempotencyKey)
        request.settings.retry = .never
        return request
    }
}

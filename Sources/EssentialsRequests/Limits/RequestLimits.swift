public import EssentialsHTTP
import EssentialsTools

/// The limits of a service's origins: which requests are sent now, and which wait for their turn.
///
/// A service with limits has one object of this type, whose counts a program can read:
///
/// ```swift
/// configuration.limits = OriginLimits(concurrency: 8, breaker: .standard)
/// let service = HTTPDataRequestService(environment: environment, transport: transport, configuration: configuration)
/// if case .open? = service.limits?.state(of: origin).circuit { showOutage() }
/// ```
///
/// It can be used from any thread.
public final class RequestLimits: Sendable {
    /// The right to send one request, which counts until it is given back with ``leave(_:wasSent:)``.
    struct Permit: Sendable {
        fileprivate let lane: Int
        fileprivate let pass: GateMachine.Pass
    }

    /// The end of a wait.
    enum Verdict: Sendable {
        case start(Permit)
        case refused(CircuitOpen)
        case cancelled
        case expired
    }

    /// The place of a request in the line of its origin.
    struct Place: Sendable {
        fileprivate let lane: Int
        fileprivate let number: UInt64
        fileprivate let promise: OneShot<Verdict>
    }

    enum Arrival: Sendable {
        case start(Permit)
        case wait(Place)
        case full(waiting: Int)
        case refused(CircuitOpen)
    }

    private typealias Turn = (promise: OneShot<Verdict>, verdict: Verdict)

    private struct Lane {
        var origin: Origin?
        var machine: GateMachine
        var waiters: [UInt64: OneShot<Verdict>] = [:]
        /// Wakes up the line when the rate allows the next request; `nil` if nobody waits for that.
        var timer: (time: Duration, task: Task<Void, Never>)?
        /// The number of the latest request.
        var lastUse: UInt64 = 0

        mutating func raise(_ number: UInt64, to priority: RequestPriority) {
            // After the end of a wait the lane can belong to another origin.
            guard waiters[number] != nil else { return }
            machine.raise(number, to: priority)
        }
    }

    private struct State {
        var lanes: [Lane] = []
        var freeLanes: [Int] = []
        var indexes: [Origin: Int] = [:]
        /// The lane that was looked up last. The next request usually needs the same one.
        var lastIndex = 0
        var lastNumber: UInt64 = 0
    }

    /// The maximum number of origins that are remembered without a request.
    static let originLimit = 1_024

    /// The settings.
    let settings: OriginLimits
    private let clock: RequestClock
    /// Whether the machines need the time. Reading the clock costs more than the rest of a request without a wait.
    private let needsTime: Bool
    private let state = Mutex(State())

    init(_ settings: OriginLimits, clock: RequestClock) {
        self.settings = settings
        self.clock = clock
        needsTime = settings.rate != nil || settings.breaker != nil
    }

    private var now: Duration { needsTime ? clock.now : .zero }

    /// The present use of the limits of an origin. It is that of an unused origin if no request was sent there.
    public func state(of origin: Origin) -> OriginLimits.State {
        let now = now
        return state.withLock { state in
            state.indexes[origin].map { state.lanes[$0].machine } ?? GateMachine(settings)
        }.state(at: now)
    }

    /// The origins to which nothing is sent at this moment, because they have failed too often.
    public var openOrigins: [Origin] {
        let now = now
        return state.withLock { state in
            state.indexes.compactMap { origin, index in
                if case .open = state.lanes[index].machine.state(at: now).circuit { origin } else { nil }
            }
        }
    }

    /// The present use of each origin to which something was sent lately, in the order of their texts.
    package var states: [(origin: Origin, state: OriginLimits.State)] {
        let now = now
        let all = state.withLock { state in
            state.indexes.map { origin, index in (origin, state.lanes[index].machine.state(at: now)) }
        }
        return all.sorted { $0.0.description < $1.0.description }.map { (origin: $0.0, state: $0.1) }
    }

    /// The number of remembered origins.
    var originCount: Int { state.withLock { $0.indexes.count } }

    // MARK: Requests

    /// A request arrives. If it has to wait, ``turn(_:within:_:)`` or ``abandon(_:)`` has to be called.
    func arrive(_ origin: Origin, _ priority: RequestPriority) -> Arrival {
        let now = now
        var turns: [Turn] = []
        let arrival = state.withLock { state -> Arrival in
            let lane = lane(for: origin, &state)
            state.lastNumber += 1
            let number = state.lastNumber
            state.lanes[lane].lastUse = number
            switch state.lanes[lane].machine.arrive(number, priority, at: now) {
            case .start(let pass): return .start(Permit(lane: lane, pass: pass))
            case .refused(let open): return .refused(open)
            case .full: return .full(waiting: state.lanes[lane].machine.waiting)
            case .wait:
                let promise = OneShot<Verdict>()
                state.lanes[lane].waiters[number] = promise
                turns = dueTurns(in: lane, &state, at: now)
                return .wait(Place(lane: lane, number: number, promise: promise))
            }
        }
        if !turns.isEmpty { tell(turns) }
        return arrival
    }

    /// Waits for the turn of a request.
    ///
    /// - Parameters:
    ///   - limit: The maximum wait; `nil` for no limit.
    ///   - cancellation: Ends the wait at once, like a cancellation of the calling task.
    func turn(_ place: Place, within limit: Duration?, _ cancellation: Cancellation) async -> Verdict {
        let registration = cancellation.add { self.withdraw(place, .cancelled) }
        defer { cancellation.remove(registration) }
        let timer = limit.map { limit in
            Task {
                // The sleep is cancelled and throws if the wait ends first.
                guard (try? await clock.sleep(for: limit)) != nil else { return }
                withdraw(place, .expired)
            }
        }
        defer { timer?.cancel() }
        return await withTaskCancellationHandler {
            await place.promise.value()
        } onCancel: {
            withdraw(place, .cancelled)
        }
    }

    /// Moves a request forward in the line, unless its turn has come.
    func raise(_ place: Place, to priority: RequestPriority) {
        state.withLock { $0.lanes[place.lane].raise(place.number, to: priority) }
    }

    /// Takes a request out of the line, unless its turn has come.
    func withdraw(_ place: Place, _ verdict: Verdict) {
        let now = now
        let turns = state.withLock { state -> [Turn] in
            guard let promise = state.lanes[place.lane].waiters[place.number],
                state.lanes[place.lane].machine.withdraw(place.number, at: now)
            else { return [] }
            state.lanes[place.lane].waiters[place.number] = nil
            return [(promise, verdict)] + dueTurns(in: place.lane, &state, at: now)
        }
        tell(turns)
    }

    /// Takes a request out of the line before it waits, and gives its permit back if its turn has come meanwhile.
    func abandon(_ place: Place) async {
        withdraw(place, .cancelled)
        guard case .start(let permit) = await place.promise.value() else { return }
        leave(permit, .uncounted, wasSent: false)
    }

    /// The outcome of a request is known, but its body is still being read. It is called at most once for each permit.
    func finish(_ permit: Permit, _ outcome: BreakerMachine.Outcome) {
        guard settings.breaker != nil else { return }
        let now = now
        let turns = state.withLock { state -> [Turn] in
            state.lanes[permit.lane].machine.finish(permit.pass, outcome, at: now)
            return dueTurns(in: permit.lane, &state, at: now)
        }
        tell(turns)
    }

    /// Gives a permit back. It is called once for each.
    ///
    /// - Parameters:
    ///   - outcome: The outcome of the request; `nil` if ``finish(_:_:)`` was called.
    ///   - wasSent: Whether the request was sent, so that it counts for the rate.
    func leave(_ permit: Permit, _ outcome: BreakerMachine.Outcome? = nil, wasSent: Bool = true) {
        let now = now
        let turns = state.withLock { state -> [Turn] in
            state.lanes[permit.lane].machine.leave(wasSent: wasSent)
            if let outcome { state.lanes[permit.lane].machine.finish(permit.pass, outcome, at: now) }
            // Nobody waits behind most requests, so there is no timer either. The machine knows that too, but a look
            // at its line would copy it.
            if state.lanes[permit.lane].waiters.isEmpty, state.lanes[permit.lane].timer == nil { return [] }
            return dueTurns(in: permit.lane, &state, at: now)
        }
        if !turns.isEmpty { tell(turns) }
    }

    // MARK: The line

    /// The requests whose turn has come.
    private func dueTurns(in lane: Int, _ state: inout State, at now: Duration) -> [Turn] {
        var turns: [Turn] = []
        while let action = state.lanes[lane].machine.next(at: now) {
            switch action {
            case .start(let number, let pass):
                guard let promise = state.lanes[lane].waiters.removeValue(forKey: number) else { continue }
                turns.append((promise, .start(Permit(lane: lane, pass: pass))))
            case .refuse(let number, let open):
                guard let promise = state.lanes[lane].waiters.removeValue(forKey: number) else { continue }
                turns.append((promise, .refused(open)))
            }
        }
        schedule(lane, &state, at: now)
        return turns
    }

    /// Resumes waiting requests. It is called without the lock, because they resume at once.
    private func tell(_ turns: [Turn]) {
        for turn in turns { turn.promise.provide(turn.verdict) }
    }

    /// Sets the timer for the next moment at which the rate allows a request.
    private func schedule(_ lane: Int, _ state: inout State, at now: Duration) {
        guard settings.rate != nil else { return }
        let wait = state.lanes[lane].machine.wait(at: now)
        let time = wait.map { now + $0.bounded }
        guard time != state.lanes[lane].timer?.time else { return }
        state.lanes[lane].timer?.task.cancel()
        state.lanes[lane].timer = nil
        guard let wait, let time else { return }
        let task = Task { [weak self, clock] in
            guard (try? await clock.sleep(for: wait)) != nil else { return }
            self?.wakeUp(lane, time)
        }
        state.lanes[lane].timer = (time, task)
    }

    private func wakeUp(_ lane: Int, _ time: Duration) {
        let now = now
        let turns = state.withLock { state -> [Turn] in
            guard state.lanes[lane].timer?.time == time else { return [] }
            state.lanes[lane].timer = nil
            return dueTurns(in: lane, &state, at: now)
        }
        tell(turns)
    }

    // MARK: Origins

    /// The lane of an origin. It stays the same as long as the origin has requests.
    private func lane(for origin: Origin, _ state: inout State) -> Int {
        if state.lastIndex < state.lanes.count, state.lanes[state.lastIndex].origin == origin { return state.lastIndex }
        if let index = state.indexes[origin] {
            state.lastIndex = index
            return index
        }
        if state.indexes.count >= Self.originLimit { forgetIdleOrigins(&state) }
        let index = state.freeLanes.popLast() ?? state.lanes.count
        let lane = Lane(origin: origin, machine: GateMachine(settings))
        if index == state.lanes.count { state.lanes.append(lane) } else { state.lanes[index] = lane }
        state.indexes[origin] = index
        state.lastIndex = index
        return index
    }

    /// Forgets an eighth of the origins without requests: first those whose circuit is closed, and of these the ones
    /// that were unused for the longest time.
    private func forgetIdleOrigins(_ state: inout State) {
        let now = now
        let idle = state.indexes.filter { state.lanes[$0.value].machine.isIdle }.sorted { one, other in
            let (one, other) = (state.lanes[one.value], state.lanes[other.value])
            let (isOneClosed, isOtherClosed) = (one.machine.isClosed(at: now), other.machine.isClosed(at: now))
            return isOneClosed == isOtherClosed ? one.lastUse < other.lastUse : isOneClosed
        }
        for (origin, index) in idle.prefix(max(1, idle.count / 8)) {
            state.lanes[index] = Lane(origin: nil, machine: GateMachine(settings))
            state.freeLanes.append(index)
            state.indexes[origin] = nil
        }
    }
}

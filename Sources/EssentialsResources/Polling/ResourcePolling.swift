import EssentialsHTTP
import EssentialsTools
import FoundationEssentials

/// The regular loads of one resource. It exists only for resources that have or had an interval.
///
/// Events are recorded in order, under the lock of the resource. Soon after, they are passed to the machine outside
/// that lock, because the clock is foreign code.
final class ResourcePolling: Sendable {
    /// An event of the resource.
    enum Event: Sendable {
        case joined(ResourceRefresh?, number: UInt64)
        case left(number: UInt64)
        case began
        /// A load has ended, with this failure if it has failed.
        case ended(PollingMachine.Outcome, RequestFailure?)
        /// A load failed at a time before the resource was polled.
        case hadFailed(RequestFailure, at: Duration)
        case configured(ResourceRefresh?, version: UInt64)
        case reachable(Bool)
        /// A demanded load was not started.
        case refused
        /// The rule of the configuration has ended the polling.
        case done
        /// The rule of an observer has ended its interval.
        case doneFor(number: UInt64)
        case time
    }

    fileprivate struct State {
        var machine: PollingMachine
        /// The events that the machine has not received yet.
        var events: [Event] = []
        /// The numbers of the running loads.
        var loads: [UInt64] = []
        /// The interval of the configuration.
        var configured: ResourceRefresh?
        /// The version of that configuration.
        var version: UInt64?
        /// The observers with an interval of their own.
        var observers: [UInt64: ResourceRefresh] = [:]
        /// The intervals that no longer count. Their rules are foreign code, which is released without a lock.
        var retired: [ResourceRefresh] = []
        /// The number of the last action. Actions of two threads can overtake each other.
        var lastStep: UInt64 = 0
    }

    /// The result of passing events to the machine.
    private struct Result {
        let action: PollingMachine.Action
        let step: UInt64
        /// The rules to call. The number is that of the observer; `nil` means the configuration.
        let rules: [(number: UInt64?, isDone: @Sendable (AnyResource) -> Bool)]
        let retired: [ResourceRefresh]
    }

    let timer: PollingTimer
    /// The number of the last action that has reached the timer, which protects it.
    let appliedStep = Atomic<UInt64>(0)
    private let state: Mutex<State>

    init(_ facts: ResourceFacts, _ timer: PollingTimer) {
        self.timer = timer
        let machine = PollingMachine(
            lastEnd: [facts.contentTime, facts.failureTime].compactMap { $0 }.max(), hasFailed: facts.failure != nil,
            isReachable: timer.isReachable)
        var state = State(machine: machine)
        if let failure = facts.failure, let time = facts.failureTime {
            state.events.append(.hadFailed(failure, at: time))
        }
        self.state = Mutex(state)
    }

    /// The interval of an observer; `nil` if it has none of its own.
    func refresh(of number: UInt64) -> ResourceRefresh? { state.withLock { $0.observers[number] } }

    /// The version of the configuration whose interval is used.
    var version: UInt64? { state.withLock { $0.version } }

    // MARK: Under the lock of the resource

    /// Records an event.
    func note(_ event: Event) {
        state.withLock { state in
            if case .configured(let refresh, let version) = event {
                // Two threads may have computed the configuration at the same time.
                guard state.version != version else { return }
                if let configured = state.configured { state.retired.append(configured) }
                (state.configured, state.version) = (refresh, version)
            }
            state.events.append(event)
        }
    }

    /// Records the loads that began and ended.
    func note(_ machine: ResourceMachine, _ facts: ResourceFacts) {
        state.withLock { state in
            let loads = machine.loads
            guard state.loads.count != loads.count || zip(state.loads, loads).contains(where: { $0 != $1.number })
            else { return }
            for number in state.loads where !loads.contains(where: { $0.number == number }) {
                let isOutcome = number == machine.committed
                let outcome = !isOutcome ? PollingMachine.Outcome.cancelled : facts.failure == nil ? .success : .failure
                state.events.append(.ended(outcome, outcome == .failure ? facts.failure : nil))
            }
            let last = state.loads.last ?? 0
            for load in loads where load.number > last { state.events.append(.began) }
            state.loads = loads.map(\.number)
        }
    }

    // MARK: Outside

    /// Passes the recorded events to the machine, and performs its action.
    func settle(_ core: ResourceCore) {
        guard state.withLock({ !$0.events.isEmpty }) else { return }
        let moment = Moment(now: timer.clock.now, date: timer.clock.date, random: timer.clock.random())
        let (advanced, displaced) = state.withLock { state in
            // Failures that are released with their events are released without the lock.
            let events = state.events
            return (Self.advance(&state, moment), events)
        }
        _ = consume displaced
        guard let result = advanced else { return }
        timer.apply(result.action, step: result.step, self, core)
        guard !result.rules.isEmpty, let service = timer.service else { return }
        let resource = AnyResource(service: service, core: core)
        for rule in result.rules where rule.isDone(resource) {
            note(rule.number.map { .doneFor(number: $0) } ?? .done)
        }
        settle(core)
    }

    /// The values of the clock and the random source when events are passed to the machine.
    private struct Moment {
        let now: Duration
        let date: Date
        let random: UInt64
    }

    private static func advance(_ state: inout State, _ moment: Moment) -> Result? {
        var action: PollingMachine.Action?
        var hasOutcome = false
        for event in state.events {
            // Only the last action counts, but a demanded load is never forgotten.
            let next = apply(event, &state, moment)
            if action != .load || next != .rest { action = next }
            if case .ended(let outcome, _) = event { hasOutcome = hasOutcome || outcome != .cancelled }
        }
        state.events = []
        guard let action else { return nil }
        state.lastStep += 1
        defer { state.retired = [] }
        return Result(
            action: action, step: state.lastStep, rules: hasOutcome ? state.rules : [], retired: state.retired)
    }

    private static func apply(
        _ event: Event, _ state: inout State, _ moment: Moment
    ) -> PollingMachine.Action {
        let (now, random) = (moment.now, moment.random)
        switch event {
        case .joined(let refresh, let number):
            state.observers[number] = refresh
            return state.machine.observerJoined(refresh?.schedule, now: now, random: random)
        case .left(let number):
            return state.machine.observerLeft(state.retire(number)?.schedule, now: now)
        case .doneFor(let number):
            return state.machine.scheduleEnded(state.retire(number)?.schedule, now: now)
        case .began: return state.machine.loadBegan(now: now)
        case .ended(let outcome, let failure):
            let retryAfter = failure?.retryAfter(now: moment.date)
            return state.machine.loadEnded(outcome, retryAfter: retryAfter, now: now, random: random)
        case .hadFailed(let failure, let time):
            // Without a date in the response, a date in `Retry-After` is measured from the time of the failure.
            let retryAfter = failure.retryAfter(now: moment.date.addingTimeInterval((time - now) / .seconds(1)))
            state.machine.demand(retryAfter, since: time)
            return state.machine.timerFired(now: now)
        case .configured(let refresh, _): return state.machine.configured(refresh?.schedule, now: now)
        case .reachable(let isReachable): return state.machine.reachabilityChanged(isReachable, now: now)
        case .refused: return state.machine.loadRefused(now: now)
        case .done: return state.machine.end(now: now)
        case .time: return state.machine.timerFired(now: now)
        }
    }
}

extension ResourcePolling.State {
    /// Removes the interval of an observer.
    fileprivate mutating func retire(_ number: UInt64) -> ResourceRefresh? {
        let refresh = observers.removeValue(forKey: number)
        if let refresh { retired.append(refresh) }
        return refresh
    }

    /// The rules that can end an interval.
    fileprivate var rules: [(number: UInt64?, isDone: @Sendable (AnyResource) -> Bool)] {
        var rules: [(number: UInt64?, isDone: @Sendable (AnyResource) -> Bool)] = []
        if let isDone = configured?.isDone { rules.append((nil, isDone)) }
        for (number, refresh) in observers {
            if let isDone = refresh.isDone { rules.append((number, isDone)) }
        }
        return rules
    }
}

import EssentialsHTTP
import EssentialsTools
import FoundationEssentials

/// Tells the observers of one call what happens to it, in order.
final class ObservedCall: Sendable {
    private struct State {
        var call: RequestCall
        var attempt = 0
        /// How far the call had come when it failed in the stages.
        var failed: RequestEvent.Ending.Progress?
        /// The response that was returned last.
        var received: RequestEvent.Reception?
        /// The events that are told after the one that is being told now.
        var waiting: [RequestEvent] = []
        var isTelling = false
        var hasEnded = false
        /// Whether the log receives no further events.
        var isUnlogged = false

        /// What an event has beside its kind.
        struct Moment {
            let call: RequestCall
            let attempt: Int
            let time: SteadyInstant

            func event(_ kind: consuming RequestEvent.Kind) -> RequestEvent {
                RequestEvent(call: call, attempt: attempt, time: time, kind: kind)
            }
        }

        /// The moment of the next event.
        mutating func moment(of kind: RequestEvent.Kind) -> Moment {
            switch kind {
            case .sent: attempt += 1
            case .received(let reception): (received, failed) = (reception, nil)
            case .ended: hasEnded = true
            default: break
            }
            return Moment(call: call, attempt: attempt, time: .now)
        }
    }

    let redaction: Shared<Redaction>
    /// The largest limit for bodies of all observers.
    let bodyLimit: Int
    /// What stands for the call's URL in metrics and traces; `nil` if its request has none.
    private let template: String?
    /// The log, which is told first; `nil` without one.
    private let log: RequestLog?
    private let all: [any RequestObserver]
    /// Those of this call, in the same order.
    private let observers: [any RequestObserver]
    private let state: Mutex<State>

    init(_ call: RequestCall, template: String? = nil, _ log: RequestLog?, _ observers: [any RequestObserver]) {
        (self.template, self.log, redaction) = (template, log, call.redaction)
        bodyLimit = observers.reduce(0) { max($0, $1.bodyLimit) }
        (all, self.observers) = (observers, observers.map { $0.observer(of: call) })
        state = Mutex(State(call: call))
    }

    /// Tells an event. After the end of the call nothing is told.
    ///
    /// An event can happen while another one is being told, on another thread or because an observer has caused it. It is then
    /// told after that one, by the same thread.
    func tell(_ kind: consuming RequestEvent.Kind) {
        let first = state.withLock { state -> State.Moment? in
            guard !state.hasEnded else { return nil }
            let moment = state.moment(of: kind)
            guard !state.isTelling else {
                state.waiting.append(moment.event(copy kind))
                return nil
            }
            state.isTelling = true
            return moment
        }
        guard let first else { return }
        // The kind is moved into the event, because copying it takes a tenth of the time of an event.
        tellAll(first.event(kind))
        while let next = next() { tellAll(next) }
    }

    private func tellAll(_ event: RequestEvent) {
        if let log, !state.withLock({ $0.isUnlogged }) { log.observe(event) }
        if case .body(let body) = event.kind { return tell(body, event) }
        for observer in observers { observer.observe(event) }
    }

    private func tell(_ body: RequestEvent.Body, _ event: RequestEvent) {
        for (whole, observer) in zip(all, observers) where whole.bodyLimit > 0 {
            let kind = RequestEvent.Kind.body(body.limited(to: whole.bodyLimit))
            observer.observe(RequestEvent(call: event.call, attempt: event.attempt, time: event.time, kind: kind))
        }
    }

    private func next() -> RequestEvent? {
        state.withLock { state in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.isTelling = false
            return nil
        }
    }

    /// Tells an event, also if the call has ended, but then only the log: others can share an exchange whose first call has
    /// ended, and what happens to it stands in the log of that call.
    func tellAlsoLate(_ kind: RequestEvent.Kind) {
        let late = state.withLock { state in state.hasEnded ? state.moment(of: kind).event(kind) : nil }
        if let late { log?.observe(late) } else { tell(kind) }
    }

    /// Adds the fields of observers to the next attempt. A field that is there stays, also one of an observer before.
    func addFields(to request: inout TransportRequest, isOfEnvironment: Bool) {
        let (call, number) = state.withLock { ($0.call, $0.attempt + 1) }
        let attempt = ObservedAttempt(
            call: call, number: number, request: observed(request), isOfEnvironment: isOfEnvironment)
        for (whole, observer) in zip(all, observers) where whole.addsFields {
            let present = request.headerFields
            for field in observer.fields(of: attempt) where !present.contains(field.name) {
                request.headerFields.append(field)
            }
        }
    }

    /// A request of the call as observers see it. After a redirect it is another one than the template stands for.
    func observed(_ request: TransportRequest) -> ObservedRequest {
        ObservedRequest(request, redaction, urlTemplate: template(of: request))
    }

    /// The template, unless the request is another one than it stands for.
    func template(of request: TransportRequest) -> String? {
        guard let template else { return nil }
        return state.withLock { $0.call }.isPrepared(for: request.url) ? template : nil
    }

    /// Notes the URL of the prepared request for the later events.
    func prepared(_ request: TransportRequest) {
        state.withLock { $0.call = $0.call.prepared(request.url) }
    }

    /// Keeps how far the call has come, for its failure.
    func keep(_ progress: RequestEvent.Ending.Progress) { state.withLock { $0.failed = progress } }

    /// Ends the call.
    func end(_ outcome: RequestEvent.Ending.Outcome, read count: Int64? = nil, _ metrics: TransportMetrics? = nil) {
        var progress: RequestEvent.Ending.Progress?
        if case .failed = outcome, count == nil {
            progress = state.withLock { $0.failed ?? $0.received.map(RequestEvent.Ending.Progress.init) }
        }
        tell(.ended(.init(outcome: outcome, bytesRead: count, metrics: metrics, progress: progress)))
    }

    /// Ends the call without a message in the log, unless it has ended.
    func endUnlogged(_ failure: RequestFailure) {
        guard state.withLock({ !$0.hasEnded }) else { return }
        state.withLock { $0.isUnlogged = true }
        end(.failed(failure))
    }
}

#if Server || Inspector
    import CoreMetrics
    import EssentialsHTTP
    import EssentialsRequests
    import EssentialsTools
    import EssentialsTransport

    /// Records the metrics of one call.
    final class MeasuredCall: RequestObserver {
        private struct Attempt: Sendable {
            let method: String
            let server: OriginTable.Server
            let active: any MeterHandler
            let template: String
            let began: SteadyInstant
            let requestSize: Int?
        }

        private struct State {
            /// The origin of the last attempt; before that, of the request. `nil` if the request is invalid.
            var origin: Origin?
            var running = RunningAttempt<Attempt>()
        }

        private let metrics: MetricsObserver
        private let method: String
        private let state = Mutex(State())

        private var client: ClientInstruments { metrics.client }

        init(_ call: RequestCall, _ metrics: MetricsObserver) {
            (self.metrics, method) = (metrics, call.method.attribute)
        }

        /// Records an event. The backend is called without the lock.
        func observe(_ event: RequestEvent) {
            switch event.kind {
            case .prepared(let request): state.withLock { $0.origin = request.origin }
            case .sent(let request): begin(request, event)
            case .head, .redirected, .authorized: endAttempt(event)
            case .attemptFailed(let failure):
                endAttempt(event)
                guard TrustReasons.all.contains(failure.reason) else { return }
                client.rejections[.init(server: server, value: failure.reason.name)].increment(by: 1)
            case .retrying:
                endAttempt(event)
                client.retries[server].increment(by: 1)
            case .cached(let use): client.cache[.init(server: server, value: "\(use.outcome)")].increment(by: 1)
            case .breaker(let origin, let breaker):
                if let change = metrics.breakers.change(of: origin, isOpen: breaker.circuit != .closed) {
                    let meter = client.openBreakers[metrics.servers[origin]]
                    change ? meter.increment(by: 1) : meter.decrement(by: 1)
                }
            case .ended(let ending): end(ending, event)
            default: break
            }
        }

        /// The server of the last attempt; before that, of the request.
        private var server: OriginTable.Server { server(at: state.withLock { $0.origin }) }

        private func server(at origin: Origin?) -> OriginTable.Server { origin.map { metrics.servers[$0] } ?? .none }

        private func begin(_ request: ObservedRequest, _ event: RequestEvent) {
            let (method, server) = (request.method.attribute, server(at: request.origin))
            let attempt = Attempt(
                method: method, server: server,
                active: client.activeRequests[.init(method: method, server: server, outcome: "")],
                template: request.urlTemplate.map { metrics.templates[$0] } ?? "", began: event.time,
                requestSize: request.bodySize)
            let former = state.withLock { state in
                state.origin = request.origin
                return state.running.begin(attempt)
            }
            if let (attempt, end) = former { record(attempt, end, until: event.time) }
            attempt.active.increment(by: 1)
        }

        private func endAttempt(_ event: RequestEvent) {
            guard let (attempt, end) = state.withLock({ $0.running.end(by: event) }) else { return }
            record(attempt, end, until: event.time)
        }

        private func end(_ ending: RequestEvent.Ending, _ event: RequestEvent) {
            let (last, origin) = state.withLock { ($0.running.end(by: ending), $0.origin) }
            if let (attempt, end) = last { record(attempt, end, until: event.time) }
            let outcome =
                switch ending.outcome {
                case .completed: "completed"
                case .dropped: "dropped"
                case .failed(let failure): failure.reason.name
                }
            let call = ClientInstruments.Call(method: method, server: server(at: origin), outcome: outcome)
            client.callDuration[call].recordNanoseconds(event.elapsed.wholeNanoseconds)
        }

        private func record(_ attempt: Attempt, _ end: AttemptEnd?, until time: SteadyInstant) {
            attempt.active.decrement(by: 1)
            let status = end?.status ?? 0
            // An error status says more than a failure that only names it, or one that comes after it.
            let key = ClientInstruments.Attempt(
                method: attempt.method, server: attempt.server, version: end?.version ?? "", status: status,
                reason: status >= 400 ? "" : end?.reason ?? "", template: attempt.template)
            let handles = client.attempts[key]
            handles.duration.recordNanoseconds((time - attempt.began).wholeNanoseconds)
            if let size = attempt.requestSize { handles.requestSize.value.record(Int64(size)) }
            guard let end, end.status != nil else { return }
            let metrics = end.metrics
            if end.isBodyKnown { handles.responseSize.value.record(Int64(metrics.bodyBytesReceived)) }
            if metrics != TransportMetrics() {
                client.queueDuration[attempt.server].recordNanoseconds(metrics.queued.wholeNanoseconds)
            }
        }
    }

    /// The failures that are refusals of a peer.
    private enum TrustReasons {
        static let all: Set<RequestFailure.Reason> = [
            .trustChain, .trustHost, .pinMismatch, .unexpectedPeer, .otherTrust, .tlsTooOld, .trustEvidence, .revoked,
            .hostRefused, .plaintextRefused,
        ]
    }
#endif

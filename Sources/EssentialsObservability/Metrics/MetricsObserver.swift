#if Server
    public import CoreMetrics
    import EssentialsHTTP
    public import EssentialsPersistence
    public import EssentialsRequests
    import EssentialsTools

    /// Records metrics of requests and stores with [swift-metrics](https://github.com/apple/swift-metrics).
    ///
    /// ```swift
    /// let metrics = MetricsObserver()
    /// configuration.observers = [metrics]
    /// store.observers = [metrics]
    /// ```
    ///
    /// One observer serves any number of services. The article <doc:MetricsAndTraces> lists the instruments. It keeps one handle
    /// for each combination of attributes, for at most so many servers and series; what is beyond is recorded with the
    /// attribute `_OTHER`. URLs and account names are never attributes.
    ///
    /// It can be used from any thread.
    public final class MetricsObserver: RequestObserver, StoreObserver {
        private struct Attempt {
            let call: ClientInstruments.Call
            let began: ContinuousClock.Instant
            let requestSize: Int?
            /// The response whose body is streamed.
            var streamed: AttemptEnd?
        }

        private struct State {
            var server = OriginTable.Server.none
            var attempt: Attempt?
        }

        private let client: ClientInstruments
        private let stores: StoreInstruments
        private let servers: OriginTable
        private let breakers = BreakerTable()
        private let calls = CallStates<State>()

        /// Creates an observer.
        ///
        /// - Parameters:
        ///   - factory: Makes the instruments. The default is that of the process, which is read once, here. So call
        ///     `MetricsSystem.bootstrap` first.
        ///   - maximumServers: The number of servers that have attributes of their own. The default is 100.
        ///   - maximumSeries: The number of series of each instrument. The default is 2,000.
        public init(
            factory: any MetricsFactory = MetricsSystem.factory, maximumServers: Int = 100, maximumSeries: Int = 2_000
        ) {
            client = ClientInstruments(factory, limit: max(maximumSeries, 0))
            stores = StoreInstruments(factory, limit: max(maximumServers, 0))
            servers = OriginTable(limit: max(maximumServers, 0))
        }

        /// Records an event of a store.
        public func observe(_ event: StoreEvent) { stores.record(event) }

        /// Records an event of a request.
        public func observe(_ event: RequestEvent) {
            let id = event.call.id
            switch event.kind {
            case .began: calls.begin(id, State())
            case .prepared(let request):
                let server = servers[request.origin]
                _ = calls.change(id) { $0.server = server }
            case .sent(let request): began(request, event)
            case .head(let response): received(response, event)
            case .attemptFailed(let failure): end(event, AttemptEnd(failure))
            case .retrying(let retry):
                client.retries[server(of: id)].increment(by: 1)
                endBody(event, retry.failure)
            // The body of the response is read or left before the next attempt is prepared.
            case .redirected, .authorized: endBody(event, nil)
            case .cached(let use):
                client.cache[.init(server: server(of: id), value: "\(use.outcome)")].increment(by: 1)
            case .breaker(let origin, let state):
                if let change = breakers.change(of: origin, isOpen: state.circuit != .closed) {
                    let meter = client.openBreakers[servers[origin]]
                    change ? meter.increment(by: 1) : meter.decrement(by: 1)
                }
            case .ended(let ending): ended(ending, event)
            default: break
            }
        }

        private func server(of id: RequestID) -> OriginTable.Server { calls.change(id) { $0.server } ?? .none }

        private func began(_ request: ObservedRequest, _ event: RequestEvent) {
            let server = servers[request.origin]
            let call = ClientInstruments.Call(method: request.method.attribute, server: server, outcome: "")
            let attempt = Attempt(call: call, began: event.instant, requestSize: request.bodySize)
            let before = calls.change(event.call.id) { state -> Attempt? in
                defer { (state.attempt, state.server) = (attempt, server) }
                return state.attempt
            }
            // The streamed body of a response that a stage has left.
            if let before = before ?? nil { record(before, before.streamed, until: event.instant) }
            client.activeRequests[call].increment(by: 1)
        }

        private func received(_ response: ObservedResponse, _ event: RequestEvent) {
            let end = AttemptEnd(response)
            guard response.isStreamed else { return self.end(event, end) }
            _ = calls.change(event.call.id) { $0.attempt?.streamed = end }
        }

        private func end(_ event: RequestEvent, _ end: AttemptEnd) {
            let attempt = calls.change(event.call.id) { $0.attempt.take() } ?? nil
            guard let attempt else { return }
            record(attempt, end, until: event.instant)
            if let reason = end.error, TrustReasons.names.contains(reason) {
                client.rejections[.init(server: attempt.call.server, value: reason)].increment(by: 1)
            }
        }

        /// Ends the attempt whose body is streamed, because another one follows.
        private func endBody(_ event: RequestEvent, _ failure: RequestFailure?) {
            let attempt = calls.change(event.call.id) { state -> Attempt? in
                state.attempt?.streamed == nil ? nil : state.attempt.take()
            }
            guard let attempt = attempt ?? nil, var end = attempt.streamed else { return }
            if let failure { end.fail(failure) }
            end.isBodyKnown = false
            record(attempt, end, until: event.instant)
        }

        private func ended(_ ending: RequestEvent.Ending, _ event: RequestEvent) {
            guard let state = calls.end(event.call.id) else { return }
            if let attempt = state.attempt {
                var end = attempt.streamed
                end?.end(ending)
                // A call can end, such as by its cancellation, before its attempt does.
                if end == nil, let failure = ending.failure { end = AttemptEnd(failure) }
                record(attempt, end, until: event.instant)
            }
            let outcome =
                switch ending.outcome {
                case .completed: "completed"
                case .dropped: "dropped"
                case .failed(let failure): failure.reason.name
                }
            let call = ClientInstruments.Call(
                method: event.call.method.attribute, server: state.server, outcome: outcome)
            client.callDuration[call].recordNanoseconds(event.elapsed.wholeNanoseconds)
        }

        private func record(_ attempt: Attempt, _ end: AttemptEnd?, until instant: ContinuousClock.Instant) {
            client.activeRequests[attempt.call].decrement(by: 1)
            let key = ClientInstruments.Attempt(
                method: attempt.call.method, server: attempt.call.server, version: end?.version ?? "",
                status: end?.status.map { "\($0)" } ?? "", error: end?.error ?? "")
            client.requestDuration[key].recordNanoseconds((instant - attempt.began).wholeNanoseconds)
            if let size = attempt.requestSize { client.requestSize[key].record(Int64(size)) }
            guard let end, end.status != nil else { return }
            if end.isBodyKnown { client.responseSize[key].record(Int64(end.metrics.bodyBytesReceived)) }
            if end.metrics != TransportMetrics() {
                client.queueDuration[attempt.call.server].recordNanoseconds(end.metrics.queued.wholeNanoseconds)
            }
        }
    }

    /// The failures that are refusals of a peer.
    private enum TrustReasons {
        static let names = Set(
            [
                RequestFailure.Reason.trustChain, .trustHost, .pinMismatch, .unexpectedPeer, .otherTrust, .tlsTooOld,
                .trustEvidence, .revoked, .hostRefused, .plaintextRefused,
            ].map(\.name))
    }
#endif

#if Server || Inspector
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
    /// attribute `_OTHER`. URLs and names of accounts are never attributes; the name of a store's file is.
    ///
    /// Without a backend it costs a request nothing: a service then does not call it.
    ///
    /// It can be used from any thread.
    public final class MetricsObserver: RequestObserver, StoreObserver {
        private struct Attempt {
            let call: ClientInstruments.Call
            let template: String
            let began: ContinuousClock.Instant
            let requestSize: Int?
        }

        /// Whether there is a backend.
        public let isEnabled: Bool
        let client: ClientInstruments
        private let stores: StoreInstruments
        let servers: OriginTable
        /// The templates of URLs that are attributes. They have a limit of their own, so that a program that puts values into them
        /// does not use up the series of all other requests.
        private let templates: LimitedTable<String, String>
        private let breakers = BreakerTable()
        /// The calls, with the server of the last attempt.
        private let calls = RunningCalls<OriginTable.Server, Attempt>()

        /// Creates an observer.
        ///
        /// - Parameters:
        ///   - factory: Makes the instruments. The default is that of the process, which is read once, here. So call
        ///     `MetricsSystem.bootstrap` first.
        ///   - maximumServers: The number of servers that have attributes of their own. The default is 100.
        ///   - maximumTemplates: The number of templates of URLs that are attributes. The default is 500.
        ///   - maximumSeries: The number of series of each instrument. The default is 2,000.
        public init(
            factory: any MetricsFactory = MetricsSystem.factory, maximumServers: Int = 100,
            maximumTemplates: Int = 500, maximumSeries: Int = 2_000
        ) {
            isEnabled = !(factory is NOOPMetricsHandler)
            client = ClientInstruments(factory, limit: max(maximumSeries, 0))
            stores = StoreInstruments(factory, limit: max(maximumServers, 0))
            servers = OriginTable(limit: max(maximumServers, 0))
            templates = LimitedTable(limit: max(maximumTemplates, 0), others: other) { $0 }
        }

        /// Records an event of a store.
        public func observe(_ event: StoreEvent) { stores.record(event) }

        /// Records an event of a request.
        public func observe(_ event: RequestEvent) {
            let id = event.call.id
            if let (attempt, end) = calls.attempt(endedBy: event) { record(attempt, end, until: event.instant) }
            switch event.kind {
            case .began: calls.begin(id, .none)
            case .prepared(let request):
                let server = servers[request.origin]
                calls.change(id) { known, _ in known = server }
            case .sent(let request): began(request, event)
            case .attemptFailed(let failure):
                guard TrustReasons.all.contains(failure.reason) else { return }
                client.rejections[.init(server: server(of: id), value: failure.reason.name)].increment(by: 1)
            case .retrying: client.retries[server(of: id)].increment(by: 1)
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

        private func server(of id: RequestID) -> OriginTable.Server {
            calls.change(id) { server, _ in server } ?? .none
        }

        private func began(_ request: ObservedRequest, _ event: RequestEvent) {
            let server = servers[request.origin]
            let call = ClientInstruments.Call(method: request.method.attribute, server: server, outcome: "")
            calls.change(event.call.id) { known, _ in known = server }
            let attempt = Attempt(
                call: call, template: request.urlTemplate.map { templates[$0] } ?? "", began: event.instant,
                requestSize: request.bodySize)
            if let (before, end) = calls.begin(attempt, of: event.call.id) ?? nil {
                record(before, end, until: event.instant)
            }
            client.activeRequests[call].increment(by: 1)
        }

        private func ended(_ ending: RequestEvent.Ending, _ event: RequestEvent) {
            guard let (server, last) = calls.end(event.call.id, ending) else { return }
            if let (attempt, end) = last { record(attempt, end, until: event.instant) }
            let outcome =
                switch ending.outcome {
                case .completed: "completed"
                case .dropped: "dropped"
                case .failed(let failure): failure.reason.name
                }
            let call = ClientInstruments.Call(method: event.call.method.attribute, server: server, outcome: outcome)
            client.callDuration[call].recordNanoseconds(event.elapsed.wholeNanoseconds)
        }

        private func record(_ attempt: Attempt, _ end: AttemptEnd?, until instant: ContinuousClock.Instant) {
            client.activeRequests[attempt.call].decrement(by: 1)
            let status = end?.status ?? 0
            // An error status says more than a failure that only names it, or one that comes after it.
            let key = ClientInstruments.Attempt(
                method: attempt.call.method, server: attempt.call.server, version: end?.version ?? "", status: status,
                reason: status >= 400 ? "" : end?.reason ?? "", template: attempt.template)
            client.requestDuration[key].recordNanoseconds((instant - attempt.began).wholeNanoseconds)
            if let size = attempt.requestSize { client.requestSize[key].record(Int64(size)) }
            guard let end, end.status != nil else { return }
            let metrics = end.metrics
            if end.isBodyKnown { client.responseSize[key].record(Int64(metrics.bodyBytesReceived)) }
            if metrics != TransportMetrics() {
                client.queueDuration[attempt.call.server].recordNanoseconds(metrics.queued.wholeNanoseconds)
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

#if Server || Inspector
    import CoreMetrics

    /// The instruments of requests. Their names, units and attributes are those of OpenTelemetry's
    /// [HTTP client metrics](https://opentelemetry.io/docs/specs/semconv/http/http-metrics/), and `essentials.*` for what these
    /// lack.
    struct ClientInstruments: Sendable {
        typealias Server = OriginTable.Server

        /// The attributes of an attempt. A value that is missing is empty, so that all series of an instrument have the same
        /// attributes, as some backends require.
        struct Attempt: Hashable, Sendable {
            var method = other
            var server = Server.others
            var version = ""
            /// 0 without a response.
            var status = 0
            /// The reason of a failure; empty if there is none, or if the status says it.
            var reason = other
            var template = other

            var attributes: [(String, String)] {
                let status = status == 0 ? "" : "\(status)"
                let error = self.status >= 400 ? status : reason
                return [("http.request.method", method)] + server.attributes + [
                    ("network.protocol.version", version), ("http.response.status_code", status), ("error.type", error),
                    ("url.template", template),
                ]
            }
        }

        /// A server, and a further attribute.
        struct Named: Hashable, Sendable {
            var server = Server.others
            var value = other
        }

        /// A method and a server, and a further attribute.
        struct Call: Hashable, Sendable {
            var method = other
            var server = Server.others
            var outcome = other
        }

        /// The instruments of attempts, which have the same attributes.
        struct AttemptHandles: Sendable {
            let duration: any TimerHandler
            let requestSize: LazyHandle<any RecorderHandler>
            let responseSize: LazyHandle<any RecorderHandler>
        }

        let attempts: SeriesTable<Attempt, AttemptHandles>
        let activeRequests: SeriesTable<Call, any MeterHandler>
        let callDuration: SeriesTable<Call, any TimerHandler>
        let queueDuration: SeriesTable<Server, any TimerHandler>
        let retries: SeriesTable<Server, any CounterHandler>
        let cache: SeriesTable<Named, any CounterHandler>
        let rejections: SeriesTable<Named, any CounterHandler>
        let openBreakers: SeriesTable<Server, any MeterHandler>
        let openConnections: SeriesTable<Named, any MeterHandler>
        let connectionDuration: SeriesTable<Server, any TimerHandler>
        let queueLength: SeriesTable<Server, any MeterHandler>

        init(_ factory: any MetricsFactory, limit: Int) {
            attempts = SeriesTable(limit: limit, overflow: Attempt()) { key in
                AttemptHandles(
                    duration: factory.makeTimer(label: "http.client.request.duration", dimensions: key.attributes),
                    requestSize: LazyHandle {
                        factory.makeRecorder(
                            label: "http.client.request.body.size", dimensions: key.attributes, aggregate: true)
                    },
                    responseSize: LazyHandle {
                        factory.makeRecorder(
                            label: "http.client.response.body.size", dimensions: key.attributes, aggregate: true)
                    })
            }
            activeRequests = SeriesTable(limit: limit, overflow: Call()) { key in
                factory.makeMeter(
                    label: "http.client.active_requests",
                    dimensions: [("http.request.method", key.method)] + key.server.attributes)
            }
            callDuration = SeriesTable(limit: limit, overflow: Call()) { key in
                factory.makeTimer(
                    label: "essentials.client.call.duration",
                    dimensions: [("http.request.method", key.method)] + key.server.attributes + [
                        ("outcome", key.outcome)
                    ])
            }
            queueDuration = SeriesTable(limit: limit, overflow: .others) {
                factory.makeTimer(label: "essentials.client.queue.duration", dimensions: $0.attributes)
            }
            retries = SeriesTable(limit: limit, overflow: .others) {
                factory.makeCounter(label: "essentials.client.retries", dimensions: $0.attributes)
            }
            cache = SeriesTable(limit: limit, overflow: Named()) {
                factory.makeCounter(
                    label: "essentials.client.cache", dimensions: $0.server.attributes + [("result", $0.value)])
            }
            rejections = SeriesTable(limit: limit, overflow: Named()) {
                factory.makeCounter(
                    label: "essentials.client.trust.rejections",
                    dimensions: $0.server.attributes + [("reason", $0.value)])
            }
            openBreakers = SeriesTable(limit: limit, overflow: .others) {
                factory.makeMeter(label: "essentials.client.breakers.open", dimensions: $0.attributes)
            }
            openConnections = SeriesTable(limit: limit, overflow: Named()) {
                factory.makeMeter(
                    label: "http.client.open_connections",
                    dimensions: $0.server.attributes + [("http.connection.state", $0.value)])
            }
            connectionDuration = SeriesTable(limit: limit, overflow: .others) {
                factory.makeTimer(label: "http.client.connection.duration", dimensions: $0.attributes)
            }
            queueLength = SeriesTable(limit: limit, overflow: .others) {
                factory.makeMeter(label: "essentials.client.queue.length", dimensions: $0.attributes)
            }
        }
    }
#endif

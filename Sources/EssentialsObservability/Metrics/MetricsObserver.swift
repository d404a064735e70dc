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
        /// Whether there is a backend.
        public let isEnabled: Bool
        let client: ClientInstruments
        private let stores: StoreInstruments
        let servers: OriginTable
        /// The templates of URLs that are attributes. They have a limit of their own, so that a program that puts values into them
        /// does not use up the series of all other requests.
        let templates: LimitedTable<String, String>
        let breakers = BreakerTable()
        private let forwarded = ForwardedCalls()

        /// Creates an observer.
        ///
        /// - Parameters:
        ///   - factory: Makes the instruments. The default is that of the process, which is read once, here. So call
        ///     `MetricsSystem.bootstrap` first.
        ///   - maximumServers: The number of servers that have attributes of their own. The default is 100.
        ///   - maximumTemplates: The number of templates of URLs that are attributes. The default is 500.
        ///   - maximumSeries: The number of series of each instrument; the three of attempts, which have the same attributes, count
        ///     them together. The default is 2,000.
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

        /// Measures a call.
        public func observer(of call: RequestCall) -> any RequestObserver { MeasuredCall(call, self) }

        /// Records an event of a request.
        public func observe(_ event: RequestEvent) { forwarded.observe(event) { observer(of: $0) } }
    }
#endif

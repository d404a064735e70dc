// swift-format-ignore-file
// The code stands as in the documentation comments.

#if Server
import EssentialsObservability
import EssentialsTransport
import Logging
import ServiceEssentials
import ServiceLifecycle
import UnixSignals

private let (locator, app) = (ServiceLocator(name: "app"), ServiceLocator(name: "app"))
private let logger = Logger(label: "app")
private var server: any Service { given() }
private var store: SQLiteStore { get { given() } set {} }
private var configuration: HTTPDataRequestService.Configuration { get { given() } set {} }

// Lifecycle/ServiceLocatorService.swift
private func serviceLocatorServiceExample() async throws {
    var configuration = ServiceGroupConfiguration(
        services: [.init(service: ServiceLocatorService(locator)), .init(service: server)],
        gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    try await ServiceGroup(configuration: configuration).run()
    configuration.cancellationSignals = []
}

// Lifecycle/ServiceLocatorReadiness.swift
private func serviceLocatorReadinessExample() {
    let services: [any Service] = [
        ServiceLocatorService(locator), server, ServiceLocatorReadiness(locator),
    ]
    use(services)
}

// Lifecycle/ServiceLocatorTask.swift
private func serviceLocatorTaskExample() {
    let feed = ServiceLocatorTask(locator) { locator in
        let requests = try locator.resolve((any DataRequestService).self)
        for try await event in requests.events(of: DataRequest(.get, "feed")) { print(event) }
    }
    use(feed)
}

// Metrics/MetricsObserver.swift
private func metricsObserverExample() {
    let metrics = MetricsObserver()
    configuration.observers = [metrics]
    store.observers = [metrics]
}

// Tracing/TracePropagation.swift
private func tracePropagationExample() throws {
    let ours = try HostPattern("**.internal.example.com")
    let traces = TracingObserver(propagation: .hosts([ours]))
    use(traces)
}

// Tracing/TracingObserver.swift
private func tracingObserverExample() {
    configuration.observers = [TracingObserver()]
}
#endif

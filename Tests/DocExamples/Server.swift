// swift-format-ignore-file
// The code stands as in the documentation comments.

#if Server || Inspector
import Configuration
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
private var reader: ConfigReader { given() }

// Configuration/ConfigurationEnvironment.swift
private func configurationEnvironmentExample() throws {
    let reader = ConfigReader(providers: [
        CommandLineArgumentsProvider(), EnvironmentVariablesProvider(),
    ])
    let environment = try ConfigurationEnvironment(reader)
    // HTTP_ENVIRONMENT_NAMES=production,staging HTTP_ENVIRONMENT=staging
    // HTTP_ENVIRONMENTS_PRODUCTION_URL=https://… HTTP_ENVIRONMENTS_STAGING_URL=https://…
    use(environment)
}

// Configuration/ConfigurationKey.swift
private func configurationKeyExample() {
    for key in ConfigurationKey.all { print(key.name, key.value, key.meaning) }
}

// Configuration/Settings+Requests.swift
private func settingsExample() throws {
    let request = DataRequest(.get, "users", options: try TransportOptions(reader))
    use(request)
}

// Configuration/Settings+Requests.swift
private func settingsExample2() throws {
    let environment = try ConfigurationEnvironment(reader)
    let requests = try HTTPDataRequestService(
        environment: environment, reader) { $0.observers = [MetricsObserver()] }
    use(requests)
}

#if Persistence
private typealias Film = FilmModels.Film

// Configuration/Settings+Store.swift
private func settingsStoreExample() throws {
    let store = try SQLiteStore(reader, models: [Film.self])
    use(store)
}
#endif

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

// Metrics/MetricsObserver+Connections.swift
private func metricsFollowExample(_ requests: HTTPDataRequestService, _ metrics: MetricsObserver) async {
    await withTaskGroup { group in
        group.addTask { await metrics.follow { await requests.transportLoad } }
    }
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

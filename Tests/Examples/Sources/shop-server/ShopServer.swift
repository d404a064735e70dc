import Configuration
import CoreMetrics
import EssentialsInspector
import EssentialsObservability
import FoundationEssentials
import Glibc
import Hummingbird
import Logging
import ServiceEssentials
import ServiceLifecycle
import Telemetry
import Tracing

/// Serves films, which it requests from another server.
///
/// ```sh
/// HTTP_URL=https://films.example.com/v1/ HTTP_TRUST_POLICY_FILE=policy.json shop-server 8080
/// ```
///
/// The inspector has a port of its own, which `INSPECTOR_PORT` sets. `/health` is for probes, `/metrics` for Prometheus, and
/// `SPANS_SHOWN=true` logs each span.
@main
struct ShopServer {
    static func main() async {
        do {
            let port = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 8080
            let reader = ConfigReader(provider: EnvironmentVariablesProvider())
            let metrics = PrometheusMetrics()
            // The observers read the backends once, when they are made.
            MetricsSystem.bootstrap(metrics)
            InstrumentationSystem.bootstrap(tracer(isShown: reader.bool(forKey: "spans.shown", default: false)))
            let locator = try Shop.services(reader, metrics).makeLocator()
            let inspector = InspectorServer(
                try locator.resolve(Inspector.self), of: locator,
                at: .loopback(port: reader.int(forKey: "inspector.port", default: 0))
            ) { show("inspector \($0)") }
            try await Shop.application(locator, port: port, inspector) { show("port \($0)") }.runService()
        } catch {
            print(error)
            exit(1)
        }
    }

    private static func tracer(isShown: Bool) -> TraceContextTracer {
        TraceContextTracer { span in
            guard isShown else { return }
            show("span \(span.context.trace) \(span.name) in \(span.parent?.span ?? "none")")
        }
    }

    private static func show(_ line: String) {
        print(line)
        fflush(nil)
    }
}

enum Shop {
    /// The services that live as long as the program.
    static func services(_ reader: ConfigReader, _ metrics: PrometheusMetrics) -> Assembly {
        Assembly("shop") { locator in
            try locator.register(Inspector(program: "shop"), as: Inspector.self)
            try locator.register(metrics, as: PrometheusMetrics.self)
            try locator.registerLazy(MetricsObserver.self) { _ in MetricsObserver(factory: metrics) }
            try locator.registerLazy((any EnvironmentService).self) { _ in try ConfigurationEnvironment(reader) }
            try locator.registerLazy((any DataRequestService).self) { locator in
                let (metrics, inspector) = (
                    try locator.resolve(MetricsObserver.self), try locator.resolve(Inspector.self)
                )
                return try HTTPDataRequestService(environment: locator.resolve((any EnvironmentService).self), reader) {
                    $0.observers = [metrics, TracingObserver(), inspector]
                }
            }
        }
    }

    /// The server. Its group ends the server before the locator, so that running handlers can finish.
    ///
    /// - Parameters:
    ///   - services: Further services of the group, which end after the server.
    ///   - onRunning: Receives the port that the server listens on.
    static func application(
        _ locator: ServiceLocator, port: Int, _ services: any Service..., onRunning: @escaping @Sendable (Int) -> Void
    ) throws -> some ApplicationProtocol {
        let router = Router(context: ShopContext.self)
        router.addHealth(of: locator)
        router.addMetrics(of: try locator.resolve(PrometheusMetrics.self))
        // They read the trace of the incoming request, and count it.
        router.add(middleware: TracingMiddleware())
        router.add(middleware: MetricsMiddleware())
        router.group().add(middleware: ScopePerRequest(app: locator)).get("films/:id") { request, context in
            let id = try context.parameters.require("id", as: Int.self)
            return try await context.services.resolve(Films.self).film(id)
        }
        return Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            services: [ServiceLocatorService(locator, grace: .seconds(5)), connections(of: locator)] + services,
            onServerRunning: { channel in
                if let port = channel.localAddress?.port { onRunning(port) }
            })
    }

    /// Records the connections to other servers.
    private static func connections(of locator: ServiceLocator) -> any Service {
        ServiceLocatorTask(locator) { locator in
            let requests = try locator.resolve((any DataRequestService).self) as? HTTPDataRequestService
            try await locator.resolve(MetricsObserver.self).follow(every: .seconds(1)) { await requests?.transportLoad }
        }
    }
}

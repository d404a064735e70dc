import Configuration
import EssentialsInspector
import EssentialsObservability
import FoundationEssentials
import Glibc
import Hummingbird
import ServiceEssentials
import ServiceLifecycle

/// Serves films, which it requests from another server.
///
/// ```sh
/// HTTP_URL=https://films.example.com/v1/ HTTP_TRUST_POLICY_FILE=policy.json shop-server 8080
/// ```
///
/// The inspector has a port of its own, which `INSPECTOR_PORT` sets.
@main
struct ShopServer {
    static func main() async {
        do {
            let port = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 8080
            let reader = ConfigReader(provider: EnvironmentVariablesProvider())
            let locator = try Shop.services(reader).makeLocator()
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

    private static func show(_ line: String) {
        print(line)
        fflush(nil)
    }
}

enum Shop {
    /// The services that live as long as the program.
    static func services(_ reader: ConfigReader) -> Assembly {
        Assembly("shop") { locator in
            try locator.register(Inspector(program: "shop"), as: Inspector.self)
            try locator.registerLazy((any EnvironmentService).self) { _ in try ConfigurationEnvironment(reader) }
            try locator.registerLazy((any DataRequestService).self) { locator in
                let inspector = try locator.resolve(Inspector.self)
                return try HTTPDataRequestService(environment: locator.resolve((any EnvironmentService).self), reader) {
                    $0.observers = [MetricsObserver(), TracingObserver(), inspector]
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
    ) -> some ApplicationProtocol {
        let router = Router(context: ShopContext.self)
        router.addHealth(of: locator)
        router.group().add(middleware: ScopePerRequest(app: locator)).get("films/:id") { request, context in
            let id = try context.parameters.require("id", as: Int.self)
            return try await context.services.resolve(Films.self).film(id)
        }
        return Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            services: [ServiceLocatorService(locator, grace: .seconds(5))] + services,
            onServerRunning: { channel in
                if let port = channel.localAddress?.port { onRunning(port) }
            })
    }
}

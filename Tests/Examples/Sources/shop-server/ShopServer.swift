import Configuration
import EssentialsInspector
import EssentialsObservability
import FoundationEssentials
import Glibc
import Hummingbird
import ServiceEssentials

/// Serves films, which it requests from another server.
///
/// ```sh
/// HTTP_URL=https://films.example.com/v1/ HTTP_TRUST_POLICY_FILE=policy.json shop-server 8080
/// ```
@main
struct ShopServer {
    static func main() async {
        do {
            let port = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 8080
            let reader = ConfigReader(provider: EnvironmentVariablesProvider())
            let locator = try Shop.services(reader).makeLocator()
            let application = try Shop.application(locator, port: port) { port, address in
                print("inspector http://127.0.0.1:\(port)\(address)")
                print("port \(port)")
                fflush(nil)
            }
            try await application.runService()
        } catch {
            print(error)
            exit(1)
        }
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
    /// - Parameter onRunning: Receives the port that the server listens on, and the address of the inspector.
    static func application(
        _ locator: ServiceLocator, port: Int, onRunning: @escaping @Sendable (Int, String) -> Void
    ) throws -> some ApplicationProtocol {
        let router = Router(context: ShopContext.self)
        let inspector = InspectorRoutes(try locator.resolve(Inspector.self), of: locator, path: "/inspector")
        router.add(inspector)
        router.addHealth(of: locator)
        router.group().add(middleware: ScopePerRequest(app: locator)).get("films/:id") { request, context in
            let id = try context.parameters.require("id", as: Int.self)
            return try await context.services.resolve(Films.self).film(id)
        }
        return Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            services: [ServiceLocatorService(locator, grace: .seconds(5))],
            onServerRunning: { channel in
                if let port = channel.localAddress?.port { onRunning(port, inspector.address) }
            })
    }
}

import FoundationEssentials
import Glibc
import Hummingbird
import ServiceEssentials

/// Serves films, which it requests from another server.
///
/// ```sh
/// SHOP_BASE_URL=https://films.example.com/v1/ SHOP_TRUST_POLICY=policy.json shop-server 8080
/// ```
@main
struct ShopServer {
    static func main() async {
        do {
            let port = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 8080
            let locator = try Shop.services.makeLocator()
            let application = try Shop.application(locator, port: port) { port in
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
    static let services = Assembly("shop") { locator in
        try locator.registerLazy((any EnvironmentService).self) { _ in
            try ConstantEnvironment(reading: { ProcessInfo.processInfo.environment[$0] }, prefix: "SHOP")
        }
        try locator.registerLazy((any DataRequestService).self) { locator in
            try HTTPDataRequestService(environment: locator.resolve((any EnvironmentService).self))
        }
    }

    /// The server. Its group ends the server before the locator, so that running handlers can finish.
    ///
    /// - Parameter onPort: Receives the port that the server listens on.
    static func application(
        _ locator: ServiceLocator, port: Int, onPort: @escaping @Sendable (Int) -> Void
    ) throws -> some ApplicationProtocol {
        let router = Router(context: ShopContext.self)
        router.add(middleware: ScopePerRequest(app: locator))
        router.get("films/:id") { request, context in
            let id = try context.parameters.require("id", as: Int.self)
            return try await context.services.resolve(Films.self).film(id)
        }
        return Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            services: [ServiceLocatorService(locator, grace: .seconds(5))],
            onServerRunning: { channel in if let port = channel.localAddress?.port { onPort(port) } })
    }
}

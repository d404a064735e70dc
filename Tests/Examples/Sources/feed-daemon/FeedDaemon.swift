import FoundationEssentials
import Glibc
import Logging
import ServiceEssentials
import ServiceLifecycle
import UnixSignals

/// Prints the events of a server until the process receives SIGTERM or SIGINT.
///
/// ```sh
/// FEED_BASE_URL=https://api.example.com/v1/ FEED_TRUST_POLICY=policy.json feed-daemon
/// ```
@main
struct FeedDaemon {
    static func main() async {
        let logger = Logger(label: "feed-daemon", factory: { StreamLogHandler.standardError(label: $0) })
        do {
            try await run(logger)
        } catch {
            logger.critical("The daemon has failed.", metadata: ["error": "\(error)"])
            exit(1)
        }
    }

    private static func run(_ logger: Logger) async throws {
        let environment = try ConstantEnvironment(
            reading: { ProcessInfo.processInfo.environment[$0] }, prefix: "FEED")
        let locator = ServiceLocator(name: "feed-daemon")
        try locator.register(HTTPDataRequestService(environment: environment), as: (any DataRequestService).self)
        try locator.registerLazy((any ReachabilityService).self) { _ in try EnvironmentReachability(environment) }
        let reader = FeedReader(
            reachability: try locator.resolve((any ReachabilityService).self), logger: logger,
            show: { event in
                print(event.data)
                fflush(nil)
            })

        let services: [any Service] = [
            ServiceLocatorService(locator, grace: .seconds(5)),
            ServiceLocatorTask(locator) { locator in
                try await reader.run(
                    try locator.resolve((any DataRequestService).self))
            },
        ]
        var configuration = ServiceGroupConfiguration(
            services: services.map { .init(service: $0) },
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        configuration.maximumGracefulShutdownDuration = .seconds(10)
        try await ServiceGroup(configuration: configuration).run()
        logger.info("The daemon has ended.")
    }
}

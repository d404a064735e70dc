import Glibc
import Logging
import ServiceEssentials
import ServiceLifecycle
import UnixSignals

/// Runs one endless request in a group, for tests that end the group.
///
///     lifecycle-program before|after|unwrapped stream|download|resumed|marked URL FILE
///
/// The first word is the place of the request in the list of services, relative to the locator. An
/// unwrapped request comes after it and does not notice the shutdown of its group. `marked` is a stream that a shutdown
/// lets finish, and `resumed` a download whose part is kept.
@main
struct LifecycleProgram {
    static func main() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        guard words.count == 4, let transfer = Transfer(rawValue: words[1]) else { exit(64) }
        let locator = ServiceLocator(name: "lifecycle-program")
        let requests = try HTTPDataRequestService(environment: ConstantEnvironment(words[2]))
        try locator.register(requests, as: (any DataRequestService).self)
        let file = words[3]
        let lifetime = ServiceLocatorService(locator, grace: .seconds(2))
        let loop = ServiceLocatorTask(locator) { _ in try await transfer.run(requests, file) }
        let services: [any Service] =
            switch words[0] {
            case "before": [loop, lifetime]
            case "after": [lifetime, loop]
            default: [lifetime, Unwrapped { try await transfer.run(requests, file) }]
            }
        var configuration = ServiceGroupConfiguration(
            services: services.map { .init(service: $0) }, gracefulShutdownSignals: [.sigterm, .sigint],
            logger: Logger(label: "lifecycle-program", factory: { _ in SwiftLogNoOpLogHandler() }))
        configuration.maximumGracefulShutdownDuration = .seconds(4)
        try await ServiceGroup(configuration: configuration).run()
        print("ended")
    }
}

/// A service that does not notice the shutdown of its group.
private struct Unwrapped: Service {
    let body: @Sendable () async throws -> Void

    func run() async throws { try await body() }
}

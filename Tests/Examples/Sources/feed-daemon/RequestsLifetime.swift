import ServiceEssentials
import ServiceLifecycle

/// Shuts down a data-request service with its group. List it before the services that send requests.
struct RequestsLifetime: Service {
    let requests: HTTPDataRequestService
    let grace: Duration

    func run() async throws {
        // A group that is cancelled, not shut down, also has to end the service.
        try? await gracefulShutdown()
        await requests.shutdown(grace: grace)
    }
}

import ServiceEssentials
import ServiceLifecycle

/// Shuts down a data-request service with its group. List it before the
/// services that send requests.
struct RequestsLifetime: Service {
    let requests: HTTPDataRequestService
    let grace: Duration

    func run() async throws {
        // The service also has to end if the group is cancelled instead of
        // shut down.
        try? await gracefulShutdown()
        await requests.shutdown(grace: grace)
    }
}

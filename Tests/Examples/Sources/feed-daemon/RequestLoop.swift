import ServiceEssentials
import ServiceLifecycle

/// Sends requests until the group shuts down. It can be listed before or
/// after the service that it uses.
struct RequestLoop: Service {
    let requests: HTTPDataRequestService
    let body: @Sendable (HTTPDataRequestService) async throws -> Void

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown { [requests, body] in
                try await body(requests)
            }
        } catch {
            guard isEnding(error) else { throw error }
            // A group expects a service to end only when it is notified.
            try? await gracefulShutdown()
        }
    }

    /// Whether the error is the effect of a shutdown of the group or of the
    /// data-request service.
    private func isEnding(_ error: any Error) -> Bool {
        guard
            requests.isClosed || Task.isShuttingDownGracefully
                || Task.isCancelled
        else { return false }
        guard let failure = error as? RequestFailure else {
            return error is CancellationError
        }
        return failure.reason == .cancelled || failure.reason == .closed
    }
}

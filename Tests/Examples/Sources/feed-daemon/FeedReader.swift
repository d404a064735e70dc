import Logging
import ServiceEssentials

/// Reads an event stream again and again, whenever its server can be reached.
struct FeedReader: Sendable {
    let reachability: any ReachabilityService
    let logger: Logger
    /// The pause before the stream is requested again. The server can set another one.
    var pause = Duration.seconds(1)
    let show: @Sendable (ServerSentEvent) -> Void

    /// Reads until the calling task is cancelled, or until a failure that another attempt would not change.
    func run(_ requests: any DataRequestService) async throws {
        var pause = pause
        var lastID = ""
        while true {
            await waitForRoute()
            do throws(RequestFailure) {
                for try await event in try await events(after: lastID, from: requests) {
                    show(event)
                    // After a reconnection, events have no id until the server sends one.
                    if !event.id.isEmpty { lastID = event.id }
                    pause = event.retry ?? pause
                }
            } catch {
                guard [.connection, .interrupted, .nameResolution, .timeout].contains(error.reason) else { throw error }
                logger.warning("The feed was interrupted.", metadata: ["reason": "\(error.reason)"])
            }
            try await Task.sleep(for: pause)
        }
    }

    /// Returns at the first status that makes an attempt worthwhile.
    private func waitForRoute() async {
        for await status in reachability.statuses {
            if status.isReachable() { return }
            logger.info("Waiting for a route to the server.")
        }
    }

    private func events(
        after lastID: String, from requests: any DataRequestService
    ) async throws(RequestFailure) -> ServerSentEventSequence {
        var request = DataRequest(.get, "events")
        request.headerFields[.accept] = "text/event-stream"
        if !lastID.isEmpty { request.headerFields["Last-Event-ID"] = lastID }
        // A server responds with 204 if clients should not come back.
        request.expectedStatus = 200
        request.options.delivery = .streamed
        // A stream may be quiet for any time.
        request.options.idleTimeout = nil
        return try await requests.send(request).body.serverSentEvents()
    }
}

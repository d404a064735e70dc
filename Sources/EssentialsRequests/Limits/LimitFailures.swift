import EssentialsHTTP

/// The failures of requests that the limits of an origin hold back.
enum LimitFailures {
    static func queueFull(_ request: TransportRequest, waiting: Int) -> RequestFailure {
        RequestFailure(
            .queueFull, "The line of requests to \(request.url.origin) is full, with \(waiting) waiting.",
            remedy: "Send fewer requests at once, or raise the concurrency, the rate or the queueLimit of the limits.",
            phase: .queue, host: request.hostText)
    }

    static func timeout(_ request: TransportRequest, after time: Duration) -> RequestFailure {
        RequestFailure(
            .timeout, "The limits of \(request.url.origin) did not let the request through within \(time).",
            remedy: "Send fewer requests at once, or raise the limits or the queueTimeout.", phase: .queue,
            host: request.hostText)
    }

    static func cancelled(_ request: TransportRequest) -> RequestFailure {
        RequestFailure(.cancelled, "The request was cancelled.", phase: .queue, host: request.hostText)
    }

    static func circuitOpen(_ request: TransportRequest, _ open: CircuitOpen) -> RequestFailure {
        let origin = request.url.origin
        guard let time = open.timeLeft else {
            return RequestFailure(
                .circuitOpen, "So many requests to \(origin) have failed that only one is sent, as a probe.",
                remedy: "Try again when the probe has ended; if it succeeds, requests are sent again.", phase: .queue,
                host: request.hostText, underlying: open)
        }
        return RequestFailure(
            .circuitOpen, "So many requests to \(origin) have failed that none is sent for \(shown(time)).",
            remedy: "Try again in \(shown(time)); the server seems to be down.", phase: .queue,
            host: request.hostText, underlying: open)
    }

    /// The time in whole seconds, or in milliseconds if it is short, rounded up.
    private static func shown(_ time: Duration) -> Duration {
        let milliseconds = time.milliseconds
        return milliseconds > 1_000 ? .seconds((milliseconds + 999) / 1_000) : .milliseconds(milliseconds)
    }
}

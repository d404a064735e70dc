import EssentialsHTTP

/// Waits on the clock on behalf of a scripted answer and enforces the request's timeouts.
struct ScriptedPace: Sendable {
    let clock: ManualClock
    let request: TransportRequest
    /// When the request was sent.
    let began: ManualClock.Instant

    private var host: String { request.url.origin.host.text }

    /// Waits until `duration` after `start`, which may already be over.
    ///
    /// - Parameter isHead: Whether this is the wait for the first byte of the response.
    /// - Throws: `timeout` at the earliest deadline before that moment, `cancelled` if the task is cancelled.
    func wait(
        from start: ManualClock.Instant, for duration: Duration, isHead: Bool
    ) async throws(RequestFailure) {
        guard duration > .zero else { return }
        let end = start.advanced(by: duration)
        let deadline = deadlines(from: start, isHead: isHead).min { $0.moment < $1.moment }
        guard let deadline, deadline.moment < end else { return try await sleep(until: end, isHead: isHead) }
        try await sleep(until: deadline.moment, isHead: isHead)
        throw RequestFailure(.timeout, deadline.message, phase: phase(isHead), host: host)
    }

    private func deadlines(
        from start: ManualClock.Instant, isHead: Bool
    ) -> [(moment: ManualClock.Instant, message: String)] {
        let (options, origin) = (request.options, request.url.origin)
        var deadlines: [(ManualClock.Instant, String)] = []
        if let time = options.totalTimeout {
            deadlines.append((began.advanced(by: time), "The exchange with \(origin) did not finish within \(time)."))
        }
        if let time = options.idleTimeout {
            deadlines.append((start.advanced(by: time), "Nothing was sent to or received from \(origin) for \(time)."))
        }
        if isHead, let time = options.firstByteTimeout {
            deadlines.append((start.advanced(by: time), "\(origin) did not begin its response within \(time)."))
        }
        return deadlines
    }

    private func sleep(until moment: ManualClock.Instant, isHead: Bool) async throws(RequestFailure) {
        do {
            try await clock.sleep(until: moment)
        } catch is CancellationError {
            throw RequestFailure(.cancelled, "The request was cancelled.", phase: phase(isHead), host: host)
        } catch {
            throw RequestFailure(
                .queueFull, "The clock has no room for one more request that waits.",
                remedy: "Give the manual clock a higher maximumSleepers.", phase: phase(isHead), host: host,
                underlying: error)
        }
    }

    private func phase(_ isHead: Bool) -> RequestFailure.Phase { isHead ? .waiting : .receiving }
}

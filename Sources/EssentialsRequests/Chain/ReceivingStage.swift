import EssentialsHTTP
import FoundationEssentials

/// Passes the outcome of every hop to the environment's origin to the interceptors, which may replace it with a
/// failure.
///
/// The stage is inside the redirects, so it sees each hop. It is outside the cache and the retries, so it sees the hits
/// of the cache, and a failure that it throws is never retried. It ignores all hops after a redirect to another origin.
final class ReceivingStage: Stage {
    private struct Step: Sendable {
        /// In the reverse order of the configuration.
        let interceptors: [any RequestInterceptor]
        let replacement: ReplacedOutcome
        let outcome: HopOutcome
    }

    private let interceptors: [any RequestInterceptor]
    private let next: RemainingStages

    /// - Parameter interceptors: The interceptors in the order of the configuration. They run in reverse order, so the
    ///   first one, which changes a request first, decides last about its outcome.
    init(interceptors: [any RequestInterceptor], next: RemainingStages) {
        self.interceptors = interceptors.reversed()
        self.next = next
    }

    func send(
        _ request: TransportRequest, _ record: ExchangeRecord
    ) async throws(RequestFailure) -> TransportResponse {
        guard let environment = record.environment, !record.hasLeftOrigin else {
            return try await next.send(request, record)
        }
        let result = await result(of: request, record)
        if case .failure(let failure) = result, failure.reason == .cancelled { throw failure }
        let step = Step(
            interceptors: interceptors,
            replacement: ReplacedOutcome(status: StatusFailure(request, record), host: request.hostText),
            outcome: HopOutcome(request, environment, result, record))
        do throws(RequestFailure) {
            let failure = try await record.cancellation.runTask(host: request.hostText) { () throws(RequestFailure) in
                try await Self.run(step)
            }
            // An interceptor may have ignored the cancellation.
            try record.cancellation.check(host: request.hostText)
            if Task.isCancelled { throw step.replacement.cancelled }
            if let failure { throw failure }
            return try result.get()
        } catch {
            if case .success(let response) = result {
                record.keep(response)
                if case .stream(let source) = response.body.content { source.cancel() }
            }
            throw error
        }
    }

    /// The response or the failure of the stages below.
    private func result(
        of request: TransportRequest, _ record: ExchangeRecord
    ) async -> Result<TransportResponse, RequestFailure> {
        do throws(RequestFailure) {
            return .success(try await readable(next.send(request, record), to: request, record))
        } catch {
            return .failure(error)
        }
    }

    /// Calls the interceptors and returns the failure of the hop, if it has one.
    private static func run(_ step: Step) async throws(RequestFailure) -> RequestFailure? {
        var outcome = step.outcome
        for interceptor in step.interceptors {
            do {
                try await interceptor.received(outcome)
            } catch {
                let failure = step.replacement.failure(error, of: interceptor, replacing: outcome)
                guard failure.reason != .cancelled else { throw failure }
                outcome.failure = failure
            }
        }
        return outcome.failure
    }

    /// The response with the body that the outcome shows.
    ///
    /// A body that the request collects may be a stream here, because its status could have made it unwanted. The
    /// beginning of an unexpected streamed response is read here, because it becomes part of the failure anyway.
    private func readable(
        _ response: TransportResponse, to request: TransportRequest, _ record: ExchangeRecord
    ) async throws(RequestFailure) -> TransportResponse {
        guard !response.body.isWhole, !record.rules.redirects.mayFollow(response) else { return response }
        if case .collected = request.options.delivery { return try await response.collected(for: request, record) }
        guard !record.rules.expectedStatus.contains(response.statusCode) else { return response }
        let body = await record.cancellation.whileReading(response.body) { body in
            await body.beginning(upTo: StatusFailure.bodyLimit)
        }
        try record.cancellation.check(host: request.hostText)
        var response = response
        response.body = ResponseBody(body)
        return response
    }
}

/// Makes the failure that replaces the outcome of a hop when an interceptor throws.
private struct ReplacedOutcome: Sendable {
    let status: StatusFailure
    let host: String

    /// The failure of a request that was cancelled while an interceptor ran.
    var cancelled: RequestFailure {
        RequestFailure(
            .cancelled, "The request was cancelled while an interceptor received its outcome.", phase: .receiving,
            host: host)
    }

    func failure(
        _ error: any Error, of interceptor: any RequestInterceptor, replacing outcome: HopOutcome
    ) -> RequestFailure {
        if error is CancellationError { return cancelled }
        let response = outcome.failure?.response ?? outcome.failedResponse
        if let failure = error as? RequestFailure {
            // A failure that an interceptor has created knows nothing about the exchange.
            return failure.changed { content in
                if content.phase == .preparation { content.phase = outcome.phase }
                content.host = content.host ?? host
                content.response = content.response ?? response
            }
        }
        if let replaced = outcome.failure {
            return replaced.changed { content in
                content.response = response
                content.underlying = error
            }
        }
        return status.failure(response, thrownBy: interceptor, error)
    }
}

extension HopOutcome {
    /// The phase of a failure that ends the request after this outcome.
    fileprivate var phase: RequestFailure.Phase { failure?.phase ?? .receiving }

    /// The response as a failure contains it; `nil` if no response came.
    fileprivate var failedResponse: FailedResponse? {
        status.map { FailedResponse(head: HTTPResponse(status: $0, headerFields: headerFields), body: body ?? Data()) }
    }
}

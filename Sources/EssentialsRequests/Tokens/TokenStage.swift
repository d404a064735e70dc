import EssentialsHTTP

/// Adds the access token to each attempt, and sends a request once more with a new token after a 401.
///
/// The stage is below the redirects and the retries, and above all stages that hold a permit. A request that waits for a
/// token therefore holds nothing that the provider could need. After a redirect to another origin no token is sent and
/// no 401 leads to a new one. A request's own `Authorization` field stays as it is.
final class TokenStage: Stage {
    /// The token of one attempt.
    private struct Grant {
        let lease: TokenMachine.Lease
        let session: TokenSession
    }

    let clock: any Clock<Duration>
    let next: RemainingStages

    init(clock: any Clock<Duration>, next: RemainingStages) {
        self.clock = clock
        self.next = next
    }

    func isUsed(by request: TransportRequest, _ record: ExchangeRecord) -> Bool { record.rules.tokens != nil }

    func send(
        _ request: TransportRequest, _ record: ExchangeRecord
    ) async throws(RequestFailure) -> TransportResponse {
        guard let session = record.rules.tokens, !record.hasLeftOrigin, !request.headerFields.contains(.authorization),
            !session.source.isCalledHere
        else { return try await next.send(request, record) }
        var present = session
        var hasWaited = false
        while true {
            let grant: Grant
            let (decision, error) = present.source.request(from: present.number)
            if case .use(let lease) = decision {
                // Nearly every request. It makes no call that could wait.
                grant = Grant(lease: lease, session: present)
                // Another request has fetched it meanwhile.
                if record.wasSentAgainForToken { record.reporter.tell(.authorized(.token)) }
            } else {
                grant = try await self.grant(decision, error, request, record, present)
                hasWaited = true
            }
            // Changed in place, because moving a request costs as much as the rest of the stage.
            var authorized = request
            if hasWaited {
                authorized = try record.deadline.limited(
                    request, between: "its wait for an access token and its sending",
                    after: "it had waited for a token")
            }
            authorized.headerFields.append(grant.lease.field)
            let response = try await next.send(authorized, record)
            let (lease, user) = (grant.lease, grant.session)
            guard response.statusCode == 401, TokenRules.isRefusal(response.headerFields) else {
                if response.statusCode < 400 { user.source.accepted(lease) }
                return response
            }
            guard try goesOn(after: response, to: request, lease, user, record) else { return response }
            record.wasSentAgainForToken = true
            await BodyDrain(clock: clock).drain(response.body, record.cancellation)
            present = user
            hasWaited = true
        }
    }

    // MARK: Before an attempt

    /// The token for the next attempt if the source has none at once.
    private func grant(
        _ decision: TokenMachine.Decision, _ error: (any Error)?, _ request: TransportRequest,
        _ record: ExchangeRecord, _ first: TokenSession
    ) async throws(RequestFailure) -> Grant {
        var session = first
        var (decision, error) = (decision, error)
        while true {
            switch decision {
            case .use(let lease): return Grant(lease: lease, session: session)
            case .wait: (decision, error) = try await waited(request, record, session)
            case .fail(.ended):
                guard let successor = session.successor else { throw Self.failure(.ended, nil, request) }
                session = successor
                (decision, error) = successor.source.request(from: successor.number)
            case .fail(let failure): throw Self.failure(failure, error, request)
            }
        }
    }

    /// Waits for a token for as long as the request has time.
    private func waited(
        _ request: TransportRequest, _ record: ExchangeRecord, _ session: TokenSession
    ) async throws(RequestFailure) -> (TokenMachine.Decision, (any Error)?) {
        let limited = try record.deadline.limited(
            request, between: "its beginning and its wait for an access token", after: "it needed an access token")
        let start = ContinuousClock.now
        let result = await session.source.wait(
            in: session.number, record.cancellation, timeout: limited.options.totalTimeout, timer: clock)
        record.reporter.tell(.waited(.init(reason: .token, duration: .now - start)))
        switch result {
        case .lease(let lease):
            record.reporter.tell(.authorized(.token))
            return (.use(lease), nil)
        case .failure(let failure, let error): return (.fail(failure), error)
        case .cancelled:
            throw RequestFailure(
                .cancelled, "The request was cancelled while it waited for an access token.", host: request.hostText)
        case .timedOut:
            throw RequestFailure(
                .timeout, "The time of the exchange ended while it waited for an access token.",
                remedy: "Check how long the token provider takes, or allow more time.", host: request.hostText)
        }
    }

    private static func failure(
        _ failure: TokenMachine.Failure, _ error: (any Error)?, _ request: TransportRequest
    ) -> RequestFailure {
        failure.requestFailure(host: request.hostText, underlying: error)
    }

    // MARK: After a 401

    /// Whether the request is sent again. If not, the 401 is its result.
    ///
    /// - Throws: `authorization` if there is no new token.
    private func goesOn(
        after response: TransportResponse, to request: TransportRequest, _ lease: TokenMachine.Lease,
        _ session: TokenSession, _ record: ExchangeRecord
    ) throws(RequestFailure) -> Bool {
        let isReplayable = request.body.isReplayable
        let attempt: TokenMachine.Attempt =
            record.wasSentAgainForToken ? .last : isReplayable ? .repeatable : .unrepeatable
        let (verdict, error) = session.source.refused(lease, in: session.number, attempt)
        switch verdict {
        case .again: return true
        case .fail(.ended): return isReplayable && !record.wasSentAgainForToken && session.successor != nil
        case .fail(let failure):
            if case .stream(let source) = response.body.content { source.cancel() }
            throw Self.failure(failure, error, request)
        case .handBack(let failure):
            record.remedy =
                failure?.remedyOfResponse
                ?? (attempt == .last ? RequestFailure.remedyOfNewToken : RequestFailure.remedyWithoutReplay)
            return false
        }
    }
}

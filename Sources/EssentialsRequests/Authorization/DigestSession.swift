import EssentialsHTTP
import FoundationEssentials
import Synchronization

/// The credentials of one origin for Digest, and the nonces that its server has named. Forgotten together.
final class DigestSession: Sendable {
    private let account: DigestAccount
    private let origin: Origin
    private let minimum: DigestMinimum
    private let machine = Mutex(DigestMachine())

    init(_ account: DigestAccount, for origin: Origin) {
        self.account = account
        self.origin = origin
        minimum = account.minimum ?? .standard(for: origin.scheme)
    }

    /// How a request begins: with an answer in advance if a nonce is known.
    func begin(_ request: DigestRequest) -> DigestAttempt {
        let cnonce = Self.cnonce()
        let ticket = machine.withLock { $0.anticipate(request, cnonce: cnonce) }
        return ticket.map { .anticipated($0) } ?? .bare
    }

    /// How it goes on after a 401; nil when that is the end.
    ///
    /// - Parameter isReplayable: Whether the request can be sent again. The challenge of one that cannot is kept for the
    ///   next request.
    func next(
        after attempt: DigestAttempt, answeredWith fields: HTTPFields, _ request: DigestRequest, isReplayable: Bool
    ) -> DigestAttempt? {
        if let refused = attempt.ticket { machine.withLock { $0.refused(refused) } }
        let challenge = DigestRules.choice(
            of: DigestChallenge.all(in: fields), for: request, by: account, minimum: minimum)
        guard let challenge, attempt.allowsAnswer(to: challenge) else { return nil }
        let cnonce = Self.cnonce()
        guard isReplayable else {
            machine.withLock { $0.expect(challenge, cnonce: cnonce) }
            return nil
        }
        return attempt.answering(with: machine.withLock { $0.take(challenge, cnonce: cnonce) })
    }

    /// The failure for a 401 whose challenges are all weaker than the credentials allow; nil for any other.
    func weakness(
        of response: TransportResponse, to request: DigestRequest, _ cancellation: Cancellation
    ) async -> RequestFailure? {
        let challenges = DigestChallenge.all(in: response.headerFields)
        // The body is read only for a failure.
        guard weakness(of: challenges, request, FailedResponse(head: response.head, body: Data())) != nil else {
            return nil
        }
        let body = await cancellation.whileReading(response.body) { body in
            await body.beginning(upTo: StatusStage.failedBodyLimit)
        }
        return weakness(of: challenges, request, FailedResponse(head: response.head, body: body))
    }

    private func weakness(
        of challenges: [DigestChallenge], _ request: DigestRequest, _ response: FailedResponse
    ) -> RequestFailure? {
        DigestRules.weakness(
            of: challenges, for: request, by: account, minimum: minimum, from: origin, response: response)
    }

    /// The request with the attempt's `Authorization`.
    func authorized(
        _ request: TransportRequest, _ attempt: DigestAttempt, _ asked: DigestRequest
    ) -> TransportRequest {
        guard let ticket = attempt.ticket, let value = DigestRules.fieldValue(for: asked, ticket, of: account) else {
            return request
        }
        var authorized = request
        authorized.headerFields.append(HTTPField(name: .authorization, value: value))
        return authorized
    }

    /// The attempt was not answered with 401.
    func accepted(_ attempt: DigestAttempt, _ response: TransportResponse) {
        guard let ticket = attempt.ticket else { return }
        let nextNonce = DigestRules.nextNonce(in: response.headerFields)
        machine.withLock { $0.accepted(ticket, nextNonce: nextNonce) }
    }

    /// What to try after a 401 that was the end.
    func remedy(for fields: HTTPFields, _ request: DigestRequest, isReplayable: Bool) -> String {
        let challenges = DigestChallenge.all(in: fields)
        guard !challenges.isEmpty else {
            return "The server asks for no Digest; set credentials of a scheme that it names in WWW-Authenticate."
        }
        let known = challenges.filter(account.knows)
        guard !known.isEmpty else {
            return "Have the server offer Digest with MD5, SHA-256 or SHA-512-256; others are not known here."
        }
        guard DigestRules.choice(of: known, for: request, by: account, minimum: .any) != nil else {
            return "The server wants a hash of the body (auth-int); send the body from memory."
        }
        guard isReplayable else {
            return
                "The body is a stream and could not be sent again with the answer to the server's challenge. Make the "
                + "request again with a new stream, which then carries an answer, or send the body from memory or a file."
        }
        return "Check user and password; the server did not accept them."
    }

    private static func cnonce() -> String { .randomAlphanumeric(24) }
}

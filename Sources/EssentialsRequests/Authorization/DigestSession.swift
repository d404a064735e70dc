import EssentialsHTTP
import EssentialsTools
import FoundationEssentials

/// The Digest credentials of one origin and the nonces of its server, which are removed together.
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

    /// The first attempt of a request, with an answer in advance if a nonce is known.
    func begin(_ request: DigestRequest) -> DigestAttempt {
        let cnonce = Self.cnonce()
        let ticket = machine.withLock { $0.anticipate(request, cnonce: cnonce) }
        return ticket.map { .anticipated($0) } ?? .bare
    }

    /// The next attempt after a 401; `nil` if the 401 is final.
    ///
    /// - Parameter isReplayable: Whether the request can be sent again. If not, its challenge is kept for the next
    ///   request.
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

    /// The failure for a 401 whose challenges are all below the minimum of the credentials; `nil` for any other 401.
    func weakness(
        of response: TransportResponse, to request: DigestRequest, _ cancellation: Cancellation
    ) async -> RequestFailure? {
        let challenges = DigestChallenge.all(in: response.headerFields)
        // The body is read only for a failure.
        guard weakness(of: challenges, request, FailedResponse(head: response.head, body: Data())) != nil else {
            return nil
        }
        let body = await cancellation.whileReading(response.body) { body in
            await body.beginning(upTo: StatusFailure.bodyLimit)
        }
        return weakness(of: challenges, request, FailedResponse(head: response.head, body: body))
    }

    private func weakness(
        of challenges: [DigestChallenge], _ request: DigestRequest, _ response: FailedResponse
    ) -> RequestFailure? {
        DigestRules.weakness(
            of: challenges, for: request, by: account, minimum: minimum, from: origin, response: response)
    }

    /// The request with the `Authorization` field of the attempt.
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

    /// Records a response other than 401, which means that the server accepted the answer of the attempt.
    func accepted(_ attempt: DigestAttempt, _ response: TransportResponse) {
        guard let ticket = attempt.ticket else { return }
        let nextNonce = DigestRules.nextNonce(in: response.headerFields)
        machine.withLock { $0.accepted(ticket, nextNonce: nextNonce) }
    }

    /// A suggestion for a final 401.
    func remedy(for fields: HTTPFields, _ request: DigestRequest, isReplayable: Bool) -> String {
        let challenges = DigestChallenge.all(in: fields)
        guard !challenges.isEmpty else {
            return "The server does not offer Digest. Set credentials for a scheme that it lists in WWW-Authenticate."
        }
        let known = challenges.filter(account.knows)
        guard !known.isEmpty else {
            return "Have the server offer Digest with MD5, SHA-256 or SHA-512-256; other algorithms are not supported."
        }
        guard DigestRules.choice(of: known, for: request, by: account, minimum: .any) != nil else {
            return "The server requires a hash of the body (auth-int). Send the body from memory."
        }
        guard isReplayable else {
            return
                "The body is a stream and could not be sent again with the answer to the server's challenge. Repeat "
                + "the request with a new stream, which is then sent with an answer, or send the body from memory or a "
                + "file."
        }
        return "Check the user name and the password. The server did not accept them."
    }

    private static func cnonce() -> String { .randomAlphanumeric(24) }
}

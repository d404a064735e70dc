import EssentialsHTTP

/// One attempt of a request with respect to Digest challenges.
enum DigestAttempt: Sendable, Hashable {
    /// The request is sent without an answer.
    case bare
    /// The request is sent with an answer in advance, before a challenge.
    case anticipated(DigestTicket)
    /// The request is sent with the answer to a challenge.
    case answered(DigestTicket)
    /// The request is sent with the answer to a second challenge, because the nonce of the first was stale.
    case renewed(DigestTicket)

    var ticket: DigestTicket? {
        switch self {
        case .bare: nil
        case .anticipated(let ticket), .answered(let ticket), .renewed(let ticket): ticket
        }
    }

    /// Whether a challenge to this attempt is answered.
    ///
    /// A challenge that rejects the attempt's answer is not, because more attempts with the same password only lock
    /// accounts.
    func allowsAnswer(to challenge: DigestChallenge) -> Bool {
        switch self {
        case .bare: true
        // Many servers do not mark a nonce as stale, but only send a new one.
        case .anticipated(let ticket):
            challenge.isStale || challenge.nonce != ticket.nonce || challenge.realm != ticket.challenge.realm
        case .answered(let ticket): challenge.isStale && challenge.nonce != ticket.nonce
        case .renewed: false
        }
    }

    /// The next attempt, which answers a challenge to this one.
    func answering(with ticket: DigestTicket) -> DigestAttempt {
        if case .answered = self { .renewed(ticket) } else { .answered(ticket) }
    }
}

import EssentialsHTTP

/// How far one request has come with a server's challenges.
enum DigestAttempt: Sendable, Hashable {
    /// It goes without an answer.
    case bare
    /// It goes with an answer that nobody has asked for yet.
    case anticipated(DigestTicket)
    /// It goes with the answer to a challenge.
    case answered(DigestTicket)
    /// It goes with the answer to a second challenge, after the first one's nonce was stale.
    case renewed(DigestTicket)

    var ticket: DigestTicket? {
        switch self {
        case .bare: nil
        case .anticipated(let ticket), .answered(let ticket), .renewed(let ticket): ticket
        }
    }

    /// Whether a challenge that comes now is answered. One that refuses the answer that it has just got is not: more
    /// attempts with the same password only lock accounts.
    func allowsAnswer(to challenge: DigestChallenge) -> Bool {
        switch self {
        case .bare: true
        // Many servers do not say that a nonce is stale, but only name another one.
        case .anticipated(let ticket):
            challenge.isStale || challenge.nonce != ticket.nonce || challenge.realm != ticket.challenge.realm
        case .answered(let ticket): challenge.isStale && challenge.nonce != ticket.nonce
        case .renewed: false
        }
    }

    /// The attempt after this one.
    func answering(with ticket: DigestTicket) -> DigestAttempt {
        if case .answered = self { .renewed(ticket) } else { .answered(ticket) }
    }
}

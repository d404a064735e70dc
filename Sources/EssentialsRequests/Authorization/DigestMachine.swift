import EssentialsHTTP

/// Remembers the nonces of one origin and counts their uses, so that a later request can be answered in advance.
///
/// ```swift
/// var machine = DigestMachine()
/// let ticket = machine.take(challenge, cnonce: random)          // count 1
/// machine.accepted(ticket, nextNonce: nil)
/// let next = machine.anticipate(DigestRequest(…), cnonce: another)   // count 2, without being asked
/// ```
///
/// A nonce whose answer was refused is not used in advance. Of the latest 32 the counts are kept, so that they go on
/// when the server comes back to one.
struct DigestMachine: Sendable {
    private static let limit = 32

    private struct Nonce {
        var challenge: DigestChallenge
        let value: [UInt8]
        /// What the session's key is made of.
        var first: (nonce: [UInt8], cnonce: String)
        var count: UInt32 = 0
    }

    /// The oldest first.
    private var nonces: [Nonce] = []
    /// The nonce to use in advance: that of the latest answer that was accepted, or one that was not used yet.
    private var expected: [UInt8]?

    init() {}

    /// A ticket without being asked, if there is a nonce that works and the request can be answered under it.
    mutating func anticipate(_ request: DigestRequest, cnonce: String) -> DigestTicket? {
        guard let index = nonces.firstIndex(where: { $0.value == expected }),
            request.protection(for: nonces[index].challenge) != nil
        else { return nil }
        guard nonces[index].count < .max else {
            // A count has eight digits (RFC 7616, 3.4).
            nonces.remove(at: index)
            return nil
        }
        return ticket(at: index, cnonce)
    }

    /// A ticket for a challenge that has just come.
    mutating func take(_ challenge: DigestChallenge, cnonce: String) -> DigestTicket {
        if let index = nonces.firstIndex(where: { $0.value == challenge.nonce }) {
            if nonces[index].count < .max, nonces[index].challenge.algorithm == challenge.algorithm {
                nonces[index].challenge = challenge
                return ticket(at: index, cnonce)
            }
            nonces.remove(at: index)
        }
        add(Nonce(challenge: challenge, value: challenge.nonce, first: (challenge.nonce, cnonce)))
        return ticket(at: nonces.count - 1, cnonce)
    }

    /// A challenge that this request cannot answer any more, and the next one can in advance.
    mutating func expect(_ challenge: DigestChallenge, cnonce: String) {
        if !nonces.contains(where: { $0.value == challenge.nonce }) {
            add(Nonce(challenge: challenge, value: challenge.nonce, first: (challenge.nonce, cnonce)))
        }
        expected = challenge.nonce
    }

    /// The server took an answer.
    ///
    /// - Parameter nextNonce: The one that it wants from now on.
    mutating func accepted(_ ticket: DigestTicket, nextNonce: [UInt8]?) {
        expected = nextNonce ?? ticket.nonce
        guard let nextNonce, !nonces.contains(where: { $0.value == nextNonce }) else { return }
        // The session goes on, and its key with it.
        add(Nonce(challenge: ticket.challenge, value: nextNonce, first: (ticket.firstNonce, ticket.cnonce)))
    }

    /// The server did not take an answer: its nonce is not used in advance any more.
    mutating func refused(_ ticket: DigestTicket) {
        if expected == ticket.nonce { expected = nil }
    }

    private mutating func ticket(at index: Int, _ cnonce: String) -> DigestTicket {
        nonces[index].count += 1
        let nonce = nonces[index]
        // Servers differ in which request's cnonce they make a session's key of; with one for all they agree.
        let isSession = nonce.challenge.algorithm?.isSession == true
        return DigestTicket(
            challenge: nonce.challenge, nonce: nonce.value, count: nonce.count,
            cnonce: isSession ? nonce.first.cnonce : cnonce, firstNonce: nonce.first.nonce)
    }

    private mutating func add(_ nonce: Nonce) {
        if nonces.count == Self.limit, let oldest = nonces.firstIndex(where: { $0.value != expected }) {
            nonces.remove(at: oldest)
        }
        nonces.append(nonce)
    }
}

/// The right to one sending under a nonce: its count is nobody else's.
struct DigestTicket: Sendable, Hashable {
    /// The challenge that is answered.
    let challenge: DigestChallenge
    /// The challenge's nonce, or one that the server has named since (RFC 7616, 3.5, `nextnonce`).
    let nonce: [UInt8]
    /// How often the nonce was used, this time included.
    let count: UInt32
    /// The client's own nonce.
    let cnonce: String
    /// The nonce with which the session began (RFC 7616, 3.4.2).
    let firstNonce: [UInt8]
}

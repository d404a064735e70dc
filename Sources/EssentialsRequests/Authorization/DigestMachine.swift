import EssentialsHTTP

/// Stores the nonces of one origin and counts their uses, so that later requests can carry an answer in advance.
///
/// ```swift
/// var machine = DigestMachine()
/// let ticket = machine.take(challenge, cnonce: random)          // count 1
/// machine.accepted(ticket, nextNonce: nil)
/// let next = machine.anticipate(request, cnonce: another)   // count 2, in advance
/// ```
///
/// A nonce whose answer was refused is not used in advance. The counts of the latest 32 nonces are kept, so that they
/// continue if the server returns to one of them.
struct DigestMachine: Sendable {
    static let limit = 32

    private struct Nonce {
        var challenge: DigestChallenge
        let value: [UInt8]
        /// The nonce and the client nonce from which the session's key is derived.
        var first: (nonce: [UInt8], cnonce: String)
        var count: UInt32 = 0
    }

    /// The nonces, oldest first.
    private var nonces: [Nonce] = []
    /// The nonce to use in advance: the one of the latest accepted answer, or one that was not used yet.
    private var expected: [UInt8]?

    init() {}

    /// A ticket for an answer in advance, or `nil` if no valid nonce is known or the request cannot use it.
    mutating func anticipate(_ request: DigestRequest, cnonce: String) -> DigestTicket? {
        guard let index = nonces.firstIndex(where: { $0.value == expected }),
            request.protection(for: nonces[index].challenge) != nil
        else { return nil }
        guard nonces[index].count < .max else {
            // The count has eight hexadecimal digits (RFC 7616, 3.4), and all of them were used.
            nonces.remove(at: index)
            return nil
        }
        return ticket(at: index, cnonce)
    }

    /// A ticket for a challenge that has just arrived.
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

    /// Stores a challenge that its request cannot answer any more, so that the next request answers it in advance.
    mutating func expect(_ challenge: DigestChallenge, cnonce: String) {
        if !nonces.contains(where: { $0.value == challenge.nonce }) {
            add(Nonce(challenge: challenge, value: challenge.nonce, first: (challenge.nonce, cnonce)))
        }
        expected = challenge.nonce
    }

    /// Records that the server accepted an answer.
    ///
    /// - Parameter nextNonce: The nonce that the server wants from now on; `nil` if it named none.
    mutating func accepted(_ ticket: DigestTicket, nextNonce: [UInt8]?) {
        expected = nextNonce ?? ticket.nonce
        guard let nextNonce, !nonces.contains(where: { $0.value == nextNonce }) else { return }
        // The session continues, so its key stays the same.
        add(Nonce(challenge: ticket.challenge, value: nextNonce, first: (ticket.firstNonce, ticket.cnonce)))
    }

    /// Records that the server refused an answer. Its nonce is no longer used in advance.
    mutating func refused(_ ticket: DigestTicket) {
        if expected == ticket.nonce { expected = nil }
    }

    private mutating func ticket(at index: Int, _ cnonce: String) -> DigestTicket {
        nonces[index].count += 1
        let nonce = nonces[index]
        // Servers disagree on which request's cnonce the session's key is derived from. One cnonce for all requests of
        // the session suits all of them.
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

/// Permission for one attempt with a nonce. No other attempt has the same count.
struct DigestTicket: Sendable, Hashable {
    /// The challenge to answer.
    let challenge: DigestChallenge
    /// The challenge's nonce, or a later one from the server (RFC 7616, 3.5, `nextnonce`).
    let nonce: [UInt8]
    /// The number of uses of the nonce, including this one.
    let count: UInt32
    /// The client nonce.
    let cnonce: String
    /// The nonce with which the session began (RFC 7616, 3.4.2).
    let firstNonce: [UInt8]
}

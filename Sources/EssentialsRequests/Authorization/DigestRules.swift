import EssentialsHTTP

/// Selects the challenge to answer and computes the answer (RFC 7616, 3.4).
enum DigestRules {
    /// The strongest challenge that can be answered, or the first of equally strong ones; `nil` if there is none.
    ///
    /// The strength depends on the hash function first and on the presence of `qop` second. Servers list challenges in
    /// order of preference, which a client may override with its own policy (RFC 7616, 3.7).
    static func choice(
        of challenges: [DigestChallenge], for request: DigestRequest, by account: DigestAccount, minimum: DigestMinimum
    ) -> DigestChallenge? {
        var choice: DigestChallenge?
        for challenge in challenges where account.knows(challenge) && minimum.allows(challenge) {
            guard request.protection(for: challenge) != nil else { continue }
            if choice.map({ strength($0) < strength(challenge) }) ?? true { choice = challenge }
        }
        return choice
    }

    /// The failure for challenges that are all below the minimum.
    ///
    /// `nil` if one of them reaches the minimum, or if none could be answered even without a minimum.
    static func weakness(
        of challenges: [DigestChallenge], for request: DigestRequest, by account: DigestAccount, minimum: DigestMinimum,
        from origin: Origin, response: FailedResponse
    ) -> RequestFailure? {
        guard choice(of: challenges, for: request, by: account, minimum: minimum) == nil else { return nil }
        var offered: [String] = []
        for challenge in challenges where request.protection(for: challenge) != nil {
            guard account.knows(challenge), let function = challenge.algorithm?.function else { continue }
            let text = "\(function.name) \(challenge.protections.contains(.plain) ? "without" : "with") qop"
            if !offered.contains(text) { offered.append(text) }
        }
        guard !offered.isEmpty else { return nil }
        let advice = origin.scheme == .http ? "Use https, have" : "Have"
        return RequestFailure(
            .authorization,
            "\(origin) offers Digest with \(offered.joined(separator: ", ")); the minimum of the credentials is \(minimum).",
            remedy: "\(advice) the server offer a stronger challenge, or give the credentials a lower minimum, "
                + "such as DigestMinimum.any, if the network can be trusted.",
            phase: .receiving, host: origin.host.text, response: response)
    }

    /// The value of the `Authorization` field; `nil` if it cannot be computed.
    static func fieldValue(
        for request: DigestRequest, _ ticket: DigestTicket, of account: DigestAccount
    ) -> [UInt8]? {
        let challenge = ticket.challenge
        guard let protection = request.protection(for: challenge),
            let response = response(to: ticket, protection, request, account),
            let user = userParameter(of: account, for: challenge)
        else { return nil }
        var value = Array("Digest ".utf8) + user
        value += parameter("realm", quoted: challenge.realm)
        value += parameter("uri", quoted: Array(request.target.utf8))
        if let name = challenge.algorithmName { value += parameter("algorithm", name) }
        value += parameter("nonce", quoted: ticket.nonce)
        if let name = qop(protection) {
            value += parameter("nc", count(ticket))
            value += parameter("cnonce", quoted: Array(ticket.cnonce.utf8))
            value += parameter("qop", Array(name.utf8))
        }
        value += parameter("response", quoted: response)
        if let opaque = challenge.opaque { value += parameter("opaque", quoted: opaque) }
        if challenge.hashesUser { value += parameter("userhash", Array("true".utf8)) }
        return value
    }

    /// The nonce that a server wants from now on (RFC 7616, 3.5).
    ///
    /// The other parameters are ignored: the server's proof that it knows the password (`rspauth`) adds little to a
    /// verified TLS peer.
    static func nextNonce(in fields: HTTPFields) -> [UInt8]? {
        guard let name = authenticationInfo, fields.contains(name) else { return nil }
        return AuthenticationChallenge.parameters(of: fields, named: name).first { $0.name == "nextnonce" }?.value
    }

    private static let authenticationInfo = HTTPField.Name("Authentication-Info")

    private static func strength(_ challenge: DigestChallenge) -> Int {
        (challenge.algorithm?.function.rawValue ?? -1) * 2 + (challenge.protections.contains(.plain) ? 0 : 1)
    }

    // MARK: The response parameter

    /// The parameter `response` (RFC 7616, 3.4.1 to 3.4.3).
    private static func response(
        to ticket: DigestTicket, _ protection: DigestChallenge.Protection, _ request: DigestRequest,
        _ account: DigestAccount
    ) -> [UInt8]? {
        guard let algorithm = ticket.challenge.algorithm else { return nil }
        func hash(_ parts: [UInt8]...) -> [UInt8]? {
            account.hash.hexadecimal(algorithm.function, Array(parts.joined(separator: [colon])))
        }
        let cnonce = Array(ticket.cnonce.utf8)
        guard var key = hash(Array(account.user.utf8), ticket.challenge.realm, Array(account.password.utf8)) else {
            return nil
        }
        if algorithm.isSession {
            guard let session = hash(key, ticket.firstNonce, cnonce) else { return nil }
            key = session
        }
        let (method, target) = (Array(request.method.rawValue.utf8), Array(request.target.utf8))
        var asked = hash(method, target)
        if protection == .integrity {
            asked = request.bodyBytes.flatMap { hash($0) }.flatMap { hash(method, target, $0) }
        }
        guard let asked else { return nil }
        guard let qop = qop(protection) else { return hash(key, ticket.nonce, asked) }
        return hash(key, ticket.nonce, count(ticket), cnonce, Array(qop.utf8), asked)
    }

    private static func qop(_ protection: DigestChallenge.Protection) -> String? {
        switch protection {
        case .plain: nil
        case .authentication: "auth"
        case .integrity: "auth-int"
        }
    }

    /// The count as eight hexadecimal digits.
    private static func count(_ ticket: DigestTicket) -> [UInt8] {
        let digits = String(ticket.count, radix: 16)
        return Array((String(repeating: "0", count: 8 - digits.utf8.count) + digits).utf8)
    }

    // MARK: Parameters

    private static let colon = UInt8(ascii: ":")

    /// The user name, as a hash if the server wants one (RFC 7616, 3.4.4).
    ///
    /// A name with characters outside ASCII is encoded as in RFC 8187 if the server supports UTF-8. Other servers are
    /// older than that encoding and receive the bytes.
    private static func userParameter(of account: DigestAccount, for challenge: DigestChallenge) -> [UInt8]? {
        let user = Array(account.user.utf8)
        if challenge.hashesUser {
            guard let function = challenge.algorithm?.function else { return nil }
            return account.hash.hexadecimal(function, user + [colon] + challenge.realm).map {
                Array("username=".utf8) + quoted($0)
            }
        }
        if challenge.readsUTF8, user.contains(where: { $0 >= 0x80 }) {
            return Array("username*=UTF-8''\(RequestURL.queryEncoded(account.user))".utf8)
        }
        return Array("username=".utf8) + quoted(user)
    }

    private static func parameter(_ name: String, _ value: [UInt8]) -> [UInt8] { Array(", \(name)=".utf8) + value }

    private static func parameter(_ name: String, quoted value: [UInt8]) -> [UInt8] { parameter(name, quoted(value)) }

    /// A quoted string (RFC 9110, 5.6.4).
    private static func quoted(_ value: [UInt8]) -> [UInt8] {
        let quotation = UInt8(ascii: "\"")
        let backslash = UInt8(ascii: "\\")
        let escaped = value.flatMap { $0 == quotation || $0 == backslash ? [backslash, $0] : [$0] }
        return [quotation] + escaped + [quotation]
    }
}

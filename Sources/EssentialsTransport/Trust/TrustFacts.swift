/// Why a trust policy accepted the server of a connection: the verified chain, the applied rule, and the pin that
/// matched.
///
/// ```swift
/// request.options.recordsTrust = true
/// let trust = try await transport.send(request).connection.trust
/// if let match = trust?.match { print("\(match.pin) of \(match.certificate.subject)") }
/// ```
///
/// It is recorded only for requests with ``TransportOptions/recordsTrust``.
public struct TrustFacts: Sendable, Hashable {
    /// A pin, and the certificate of the chain that has it.
    public struct Match: Sendable, Hashable {
        /// The pin of the policy. If several pins match, it is the first of them in the order of the policy.
        public let pin: Pin
        /// The index of the certificate in ``TrustFacts/chain``.
        public let index: Int
        /// The certificate.
        public let certificate: CertificateFacts
    }

    /// The values, which are shared by copies.
    private final class Content: Sendable {
        let chain: [CertificateFacts]
        let pattern: HostPattern?
        let pins: PinSet?
        let match: Match?

        init(chain: [CertificateFacts], pattern: HostPattern?, pins: PinSet?, match: Match?) {
            self.chain = chain
            self.pattern = pattern
            self.pins = pins
            self.match = match
        }
    }

    private let content: Content

    /// The verified chain, leaf first. The issuer of each certificate is the next one. The last one is the trusted
    /// anchor, or was issued by it. For a resumed TLS session, only the pins are known. The subjects are also empty if a
    /// request without ``TransportOptions/recordsTrust`` opened the connection.
    public var chain: [CertificateFacts] { content.chain }
    /// The pattern of the applied rule; `nil` for unlisted hosts.
    public var pattern: HostPattern? { content.pattern }
    /// The pins of the applied rule; `nil` if the rule has none.
    public var pins: PinSet? { content.pins }
    /// The pin that matched; `nil` if there are no pins, or if none matched and they only report or have expired.
    public var match: Match? { content.match }

    /// Creates facts, for test doubles.
    ///
    /// - Parameters:
    ///   - chain: The verified chain, leaf first.
    ///   - pattern: The pattern of the applied rule.
    ///   - pins: The pins of the applied rule.
    ///   - match: The matched pin and the index of its certificate. An index outside the chain counts as no match.
    public init(
        chain: [CertificateFacts], pattern: HostPattern? = nil, pins: PinSet? = nil,
        match: (pin: Pin, index: Int)? = nil
    ) {
        let found = match.flatMap { match in
            chain.indices.contains(match.index)
                ? Match(pin: match.pin, index: match.index, certificate: chain[match.index]) : nil
        }
        content = Content(chain: chain, pattern: pattern, pins: pins, match: found)
    }

    /// Compares the values.
    public static func == (first: TrustFacts, second: TrustFacts) -> Bool {
        first.content === second.content
            || (first.chain == second.chain && first.pattern == second.pattern && first.pins == second.pins
                && first.match == second.match)
    }

    /// Hashes the chain and the matched pin.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(chain)
        hasher.combine(match)
    }
}

import EssentialsTransport

/// Which proxies a transport uses, and by what those are judged that are themselves spoken to over TLS.
///
/// A class, because each request would copy a value of this size.
final class ProxySetup: Sendable {
    static let direct = ProxySetup(policy: .direct, trust: nil)

    private let policy: ProxyPolicy
    /// The policy's own word, asked for once: a policy is copied to be asked.
    private let isDirect: Bool
    /// Nil where no request goes through a proxy. A fault in it matters only to those that go through such a proxy.
    let trust: Result<CompiledTrust, RequestFailure>?

    init(policy: ProxyPolicy, trust: Result<CompiledTrust, RequestFailure>?) {
        self.policy = policy
        isDirect = policy.isDirect
        self.trust = trust
    }

    /// The proxy for an origin; nil for none.
    ///
    /// - Throws: what a closure that decides threw, as `proxy`.
    func proxy(for origin: Origin) throws(RequestFailure) -> Proxy? {
        isDirect ? nil : try policy.proxy(for: origin)
    }

    /// The rule for a proxy; 0 for those that are not spoken to over TLS.
    ///
    /// - Throws: as compiling the policy did, and `hostRefused`.
    func rule(for proxy: Proxy) throws(RequestFailure) -> Int {
        guard proxy.kind == .https, let trust else { return 0 }
        return try trust.get().rule(for: proxy.host)
    }

    var compiledTrust: CompiledTrust? { try? trust?.get() }
}

import EssentialsTransport

/// The proxies of a transport, and the trust policy for proxies that are reached over TLS.
///
/// It is a class because each request would copy a value of this size.
final class ProxySetup: Sendable {
    static let direct = ProxySetup(policy: .direct, trust: nil)

    private let policy: ProxyPolicy
    /// The policy's own value, which is read once because each read copies the policy.
    private let isDirect: Bool
    /// `nil` if no request goes through a proxy. A fault in the policy fails only requests through a proxy over TLS.
    let trust: Result<CompiledTrust, RequestFailure>?

    init(policy: ProxyPolicy, trust: Result<CompiledTrust, RequestFailure>?) {
        self.policy = policy
        isDirect = policy.isDirect
        self.trust = trust
    }

    /// Returns the proxy for an origin, or `nil` without a proxy.
    ///
    /// - Throws: `proxy` if the policy's closure throws.
    func proxy(for origin: Origin) throws(RequestFailure) -> Proxy? {
        isDirect ? nil : try policy.proxy(for: origin)
    }

    /// Returns the rule for a proxy. It is 0 for a proxy that is not reached over TLS.
    ///
    /// - Throws: The failure of compiling the policy, or `hostRefused`.
    func rule(for proxy: Proxy) throws(RequestFailure) -> Int {
        guard proxy.kind == .https, let trust else { return 0 }
        return try trust.get().rule(for: proxy.host)
    }

    var compiledTrust: CompiledTrust? { try? trust?.get() }
}

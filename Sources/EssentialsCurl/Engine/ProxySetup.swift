import EssentialsHTTP

/// Which proxies a transport uses, and by what those are judged that are themselves spoken to over TLS.
struct ProxySetup: Sendable {
    var policy: ProxyPolicy = .direct
    /// Nil where no request goes through a proxy. A fault in it matters only to those that go through such a proxy.
    var trust: Result<CompiledTrust, RequestFailure>?

    /// The rule for a proxy; 0 for those that are not spoken to over TLS.
    ///
    /// - Throws: as compiling the policy did, and `hostRefused`.
    func rule(for proxy: Proxy) throws(RequestFailure) -> Int {
        guard proxy.kind == .https, let trust else { return 0 }
        return try trust.get().rule(for: proxy.host)
    }

    var compiledTrust: CompiledTrust? { try? trust?.get() }
}

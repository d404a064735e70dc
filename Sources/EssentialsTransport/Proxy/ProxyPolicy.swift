/// Which proxy, if any, a request goes through.
///
/// ```swift
/// configuration.proxy = .direct
/// configuration.proxy = .fixed(try Proxy("socks5h://127.0.0.1:9050"))
/// configuration.proxy = .deciding { origin in origin.host.text.hasSuffix(".internal") ? nil : proxy }
/// ```
public struct ProxyPolicy: Sendable {
    private enum Rule: Sendable {
        case direct
        case environment
        case fixed(Proxy, except: ProxyBypass)
        case byScheme(http: Proxy?, https: Proxy?, except: ProxyBypass)
        case deciding(@Sendable (Origin) throws -> Proxy?)
    }

    private let rule: Rule

    /// No proxy, whatever the environment says.
    public static let direct = ProxyPolicy(rule: .direct)

    /// What the environment says when the transport is made: `http_proxy` for `http`, `https_proxy` for `https`,
    /// `all_proxy` for what neither names, and `no_proxy`; upper-case spellings count too, but for `HTTP_PROXY`, which
    /// a CGI program's caller can set. This machine's own addresses (`localhost`, 127.0.0.0/8, ::1) are never proxied.
    public static let environment = ProxyPolicy(rule: .environment)

    /// One proxy for all hosts but some.
    public static func fixed(_ proxy: Proxy, except bypass: ProxyBypass = .nothing) -> ProxyPolicy {
        ProxyPolicy(rule: .fixed(proxy, except: bypass))
    }

    /// A decision for each request; nil goes directly. Called on the task that sends, so it should be quick. What it
    /// throws ends the request as `proxy`.
    public static func deciding(_ decide: @escaping @Sendable (Origin) throws -> Proxy?) -> ProxyPolicy {
        ProxyPolicy(rule: .deciding(decide))
    }

    /// The same with the environment read.
    ///
    /// - Parameter lookup: A variable's value, nil where it is not set.
    /// - Throws: `invalidRequest` when a variable names no proxy.
    package func resolved(_ lookup: (String) -> String?) throws(RequestFailure) -> ProxyPolicy {
        guard case .environment = rule else { return self }
        let all = try Self.proxy(lookup, "all_proxy", "ALL_PROXY")
        let http = try Self.proxy(lookup, "http_proxy") ?? all
        let https = try Self.proxy(lookup, "https_proxy", "HTTPS_PROXY") ?? all
        let bypass = Self.value(lookup, "no_proxy", "NO_PROXY") ?? ""
        guard http != nil || https != nil else { return .direct }
        return ProxyPolicy(
            rule: .byScheme(http: http, https: https, except: ProxyBypass(bypass + ",localhost,127.0.0.0/8,::1")))
    }

    /// Whether nothing ever goes through a proxy.
    package var isDirect: Bool {
        if case .direct = rule { return true }
        return false
    }

    /// The proxy for an origin; nil for none.
    package func proxy(for origin: Origin) throws(RequestFailure) -> Proxy? {
        switch rule {
        case .direct, .environment: return nil
        case .fixed(let proxy, let bypass): return bypass.matches(origin) ? nil : proxy
        case .byScheme(let http, let https, let bypass):
            return bypass.matches(origin) ? nil : origin.scheme == .https ? https : http
        case .deciding(let decide):
            do {
                return try decide(origin)
            } catch {
                throw RequestFailure(
                    .proxy, "Choosing a proxy for \(origin.host) failed.", remedy: "See the underlying error.",
                    host: origin.host.text, underlying: error)
            }
        }
    }

    private static func value(_ lookup: (String) -> String?, _ names: String...) -> String? {
        for name in names {
            if let value = lookup(name), !value.isEmpty { return value }
        }
        return nil
    }

    private static func proxy(_ lookup: (String) -> String?, _ names: String...) throws(RequestFailure) -> Proxy? {
        for name in names {
            guard let value = lookup(name), !value.isEmpty else { continue }
            do throws(RequestFailure) {
                return try Proxy(value)
            } catch {
                throw RequestFailure(
                    .invalidRequest, "The environment variable \(name) names no proxy: \(error.message)",
                    remedy: error.remedy)
            }
        }
        return nil
    }
}

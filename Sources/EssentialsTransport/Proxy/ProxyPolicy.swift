/// Decides which proxy a request uses, if any.
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

    /// No proxy, regardless of the environment.
    public static let direct = ProxyPolicy(rule: .direct)

    /// The proxies of the environment, read when the transport is created: `http_proxy` for `http`, `https_proxy` for
    /// `https`, `all_proxy` for both, and `no_proxy`. Upper-case names are read too, except `HTTP_PROXY`, which the
    /// client of a CGI program can set. This machine's own addresses (`localhost`, 127.0.0.0/8, ::1) never use a proxy.
    public static let environment = ProxyPolicy(rule: .environment)

    /// One proxy for all hosts except those of the bypass list.
    public static func fixed(_ proxy: Proxy, except bypass: ProxyBypass = .nothing) -> ProxyPolicy {
        ProxyPolicy(rule: .fixed(proxy, except: bypass))
    }

    /// A decision for each origin; `nil` means a direct connection. The closure runs on the task that sends the
    /// request, so it should return quickly. If it throws, the request fails with `proxy`.
    public static func deciding(_ decide: @escaping @Sendable (Origin) throws -> Proxy?) -> ProxyPolicy {
        ProxyPolicy(rule: .deciding(decide))
    }

    /// Returns the policy after reading the environment.
    ///
    /// - Parameter lookup: Returns a variable's value, or `nil` if it is not set.
    /// - Throws: `invalidRequest` if a variable does not contain a valid proxy.
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

    /// Whether no request ever uses a proxy.
    package var isDirect: Bool {
        if case .direct = rule { return true }
        return false
    }

    /// The proxy for an origin; `nil` means a direct connection.
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
                    .invalidRequest, "The environment variable \(name) is not a valid proxy: \(error.message)",
                    remedy: error.remedy)
            }
        }
        return nil
    }
}

import ArgumentParser
import EssentialsTransport
import ServiceEssentials

/// Options for the connection: addresses, timeouts, limits and protocol versions.
struct ConnectionOptions: ParsableArguments {
    @Option(
        name: .customLong("resolve"),
        help: ArgumentHelp(
            "Connect to this address instead of resolving the host; IPv6 in brackets; repeatable.",
            valueName: "host:port:address"), transform: AddressOverrideArgument.read)
    var addressOverrides: [CurlTransport.AddressOverride] = []

    @Option(
        name: [.customShort("x", allowingJoined: true), .customLong("proxy")],
        help: ArgumentHelp(
            "Use this proxy: http://, https://, socks5:// or socks5h://, with user:password@ if needed, or "
                + "\"none\" for no proxy. (default: taken from http_proxy, https_proxy, all_proxy and no_proxy)",
            valueName: "url"))
    var proxy: String?

    @Option(
        name: .customLong("unix-socket"),
        help: ArgumentHelp(
            "Connect to this Unix-domain socket for every host; @name for the abstract namespace.",
            valueName: "path"),
        completion: .file())
    var unixSocket: String?

    @Option(
        name: .customLong("max-redirects"),
        help: ArgumentHelp("Follow at most this many redirects. (default: 10)", valueName: "count"))
    var maximumRedirects: Int?

    @Flag(name: .customLong("no-redirects"), help: "Follow no redirects and print the redirect response.")
    var followsNoRedirect = false

    @Flag(
        name: [.customShort("L"), .customLong("location")],
        help: "Follow redirects, which is the default. The option exists because curl needs it.")
    var followsRedirects = false

    @Option(
        name: [.customShort("m", allowingJoined: true), .customLong("timeout")],
        help: ArgumentHelp(
            "For the whole exchange, such as 300ms, 5s or 2m; a plain number means seconds.", valueName: "time"),
        transform: DurationArgument.read)
    var total: Duration?

    @Option(
        name: .customLong("connect-timeout"),
        help: ArgumentHelp("For name resolution, connection and TLS together. (default: 10s)", valueName: "time"),
        transform: DurationArgument.read)
    var connect: Duration?

    @Option(
        name: .customLong("max-body"),
        help: ArgumentHelp(
            "The maximum size of the response body in bytes, with k, M or G for powers of 1024. (default: no limit)",
            valueName: "bytes"), transform: ByteCount.init)
    var maximumBody: ByteCount?

    @Flag(name: .customLong("http1.1"), help: "Use HTTP/1.1 only.")
    var speaksHTTP1 = false

    @Flag(name: .customLong("http2"), help: "Use HTTP/2, and fail if the server does not support it.")
    var speaksHTTP2 = false

    func validate() throws {
        if followsNoRedirect, followsRedirects {
            throw ValidationError("Give --location or --no-redirects, not both.")
        }
        if followsNoRedirect, maximumRedirects != nil {
            throw ValidationError("Give --max-redirects or --no-redirects, not both.")
        }
        if let maximumRedirects, maximumRedirects < 0 {
            throw ValidationError("--max-redirects must be 0 or more.")
        }
        if speaksHTTP1, speaksHTTP2 { throw ValidationError("Give --http1.1 or --http2, not both.") }
    }

    /// - Parameter recordsTrust: Whether the verified chain is printed.
    func transportOptions(recordsTrust: Bool) -> TransportOptions {
        var options = TransportOptions()
        options.delivery = .streamed
        options.recordsTrust = recordsTrust
        options.totalTimeout = total
        if let connect { options.connectTimeout = connect }
        if speaksHTTP1 { options.protocolVersion = .http1 }
        if speaksHTTP2 { options.protocolVersion = .http2 }
        return options
    }

    var redirectPolicy: RedirectPolicy {
        followsNoRedirect ? .refused : maximumRedirects.map { .limit($0) } ?? .standard
    }

    /// The options that let curl connect as this tool does.
    func curlOptions(showsSecrets: Bool) -> [(name: String, value: String?)] {
        var options: [(name: String, value: String?)] = addressOverrides.map {
            ("--resolve", "\($0.host):\($0.port):\($0.address)")
        }
        if let unixSocket {
            options.append(
                unixSocket.hasPrefix("@")
                    ? ("--abstract-unix-socket", String(unixSocket.dropFirst())) : ("--unix-socket", unixSocket))
        }
        if let proxy { options.append(Self.curlOption(proxy, showsSecrets: showsSecrets)) }
        if speaksHTTP1 { options.append(("--http1.1", nil)) }
        if speaksHTTP2 { options.append(("--http2", nil)) }
        return options
    }

    private static func curlOption(_ proxy: String, showsSecrets: Bool) -> (name: String, value: String?) {
        if proxy == "none" { return ("--noproxy", "*") }
        guard !showsSecrets, let known = try? Proxy(proxy), let user = known.user else { return ("--proxy", proxy) }
        let account = "\(RequestURL.queryEncoded(user)):…"
        return ("--proxy", "\(known.kind.rawValue)://\(account)@\(known.host):\(known.port)")
    }

    func configuration() throws(RequestFailure) -> CurlTransport.Configuration {
        var configuration = CurlTransport.Configuration()
        configuration.addressOverrides = addressOverrides
        configuration.unixSocket = unixSocket
        if let proxy { configuration.proxy = proxy == "none" ? .direct : .fixed(try Proxy(proxy)) }
        // The service sets the field, so that it can be left out.
        configuration.userAgent = nil
        return configuration
    }
}

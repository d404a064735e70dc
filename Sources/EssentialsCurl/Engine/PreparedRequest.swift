import CEssentials
import EssentialsHTTP
import FoundationEssentials

/// A request in the form that the engine thread hands to libcurl: every text in one block, so that preparing on the
/// caller's thread costs two allocations and starting on the engine thread none.
///
/// A class, because it goes through several asynchronous functions, each of which would copy a value of this size.
final class PreparedRequest: Sendable {
    /// Offsets into ``texts``.
    private struct Offsets {
        var host = 0
        var target = 0
        var method = 0
        var headers = 0
        var proxy: Int?
        var proxyUser: Int?
        var proxyPassword: Int?
        var proxyHost: Int?
    }

    /// Bodies up to this size are copied before they are sent; bigger ones are lent.
    static let copyLimit = 64 << 10

    let request: TransportRequest
    let origin: Origin
    private let texts: [UInt8]
    private let offsets: Offsets
    private let body: Data?
    private let bodyKind: ce_body_kind
    private let bodyLength: Int64
    private let decompresses: Bool
    let isStreaming: Bool
    private let bodyLimit: Int
    /// The proxy that it goes through; nil for none.
    let proxy: Proxy?
    /// The trust policy's rule for the host, and that of the proxies' policy for the proxy.
    private let rule: Int
    /// Whether the host has pins.
    let isPinned: Bool
    private let proxyRule: Int
    /// The socket that it goes to, whatever its URL; nil for none.
    let unixSocket: String?

    /// Checks a request and lays its texts out.
    ///
    /// - Throws: `invalidRequest` for fields that are the transport's, `plaintextRefused` for `http` under pins,
    ///   `hostRefused` for a host that the policy refuses.
    init(
        _ request: TransportRequest, trust: CompiledTrust, userAgent: String?, proxies: ProxySetup = ProxySetup(),
        unixSocket: String? = nil
    ) throws(RequestFailure) {
        let origin = request.url.origin
        rule = try trust.rule(for: origin.host)
        isPinned = trust.rules.entries[rule].pins != nil
        guard origin.scheme == .https || !trust.rules.entries[rule].wantsTLS else {
            throw RequestFailure(
                .plaintextRefused, "\(origin) is not encrypted, and the policy has pins for it.", host: origin.host.text
            )
        }
        self.request = request
        self.origin = origin
        self.unixSocket = unixSocket
        proxy = unixSocket == nil ? try proxies.policy.proxy(for: origin) : nil
        proxyRule = try proxy.map { proxy throws(RequestFailure) in try proxies.rule(for: proxy) } ?? 0
        // An HTTP proxy is asked for the whole URL, where it does not tunnel (RFC 9112, 3.2.2).
        let isForwarded = proxy?.kind.isHTTP == true && origin.scheme == .http
        guard !isForwarded || request.options.protocolVersion != .http2 else {
            throw RequestFailure(
                .invalidRequest, "An http request through an HTTP proxy cannot insist on HTTP/2.",
                remedy: "Use https, another kind of proxy, or any version.", host: origin.host.text)
        }
        (body, bodyKind, bodyLength) = try Self.body(of: request)
        let asksForEncoding = request.headerFields[.acceptEncoding] != nil
        decompresses = request.options.decompresses && !asksForEncoding
        switch request.options.delivery {
        case .collected(let limit): (isStreaming, bodyLimit) = (false, max(0, limit))
        case .streamed: (isStreaming, bodyLimit) = (true, .max)
        }
        var offsets = Offsets()
        var texts: [UInt8] = []
        texts.reserveCapacity(256)
        Self.append(origin, to: &texts)
        offsets.host = texts.count
        Self.append(origin.host.text, to: &texts)
        offsets.target = texts.count
        Self.append(isForwarded ? request.url.description : request.url.target, to: &texts)
        offsets.method = texts.count
        Self.append(request.method.rawValue, to: &texts)
        if let proxy { Self.append(proxy, to: &texts, &offsets) }
        offsets.headers = texts.count
        try Self.appendHeaders(of: request, bodyKind: bodyKind, userAgent: userAgent, to: &texts)
        self.texts = texts
        self.offsets = offsets
    }

    /// Lends the request to libcurl's side. The pointers in it are valid during the call only.
    func withRequest<Result>(
        waitsForMultiplexing: Bool, freshConnection: Bool, fullHandshake: Bool, _ body: (inout ce_request) -> Result
    ) -> Result {
        texts.withUnsafeBytes { texts in
            (bodyKind == CE_BODY_BYTES ? self.body ?? Data() : Data()).withUnsafeBytes { bytes in
                guard let base = texts.baseAddress?.assumingMemoryBound(to: CChar.self) else {
                    preconditionFailure("the block is never empty")
                }
                var request = ce_request()
                request.origin = base
                request.host = base + offsets.host
                request.target = base + offsets.target
                request.method = base + offsets.method
                request.headers = base + offsets.headers
                request.headers_size = texts.count - offsets.headers
                request.proxy = offsets.proxy.map { base + $0 }
                request.proxy_user = offsets.proxyUser.map { base + $0 }
                request.proxy_password = offsets.proxyPassword.map { base + $0 }
                request.proxy_host = offsets.proxyHost.map { base + $0 }
                request.body = bytes.baseAddress
                request.body_size = bytes.count
                fill(&request)
                request.wait_for_multiplexing = waitsForMultiplexing
                request.fresh_connection = freshConnection
                request.full_handshake = fullHandshake
                return body(&request)
            }
        }
    }

    /// Copies a part of a lent body. The caller stays within its length.
    func copyBody(from offset: Int, count: Int, to target: UnsafeMutableRawPointer) {
        guard let body else { return }
        let start = body.startIndex + offset
        body.copyBytes(to: target.assumingMemoryBound(to: UInt8.self), from: start..<(start + count))
    }

    private func fill(_ target: inout ce_request) {
        let options = request.options
        target.host_is_address = origin.host.isAddress
        target.rule = rule
        target.proxy_rule = proxyRule
        target.proxy_is_address = proxy?.host.isAddress ?? false
        target.secure = origin.scheme == .https
        target.idempotent = request.method.isIdempotent
        target.body_kind = Int32(bodyKind.rawValue)
        target.body_length = bodyLength
        // libcurl reads 0 as its own default of 300 seconds for connecting, and as none for the whole.
        target.connect_timeout_ms =
            options.connectTimeout > .zero
            ? options.connectTimeout.milliseconds : Duration.seconds(Int64.max).milliseconds
        target.continue_wait_ms = options.continueWait.map { max(1, $0.milliseconds) } ?? 0
        target.minimum_rate = options.minimumRate.map { max(0, $0.bytesPerSecond) } ?? 0
        target.minimum_rate_s = options.minimumRate.map { max(1, $0.period.wholeSeconds) } ?? 0
        target.expansion_limit = UInt32(clamping: options.maximumExpansion.map { max(1, $0) } ?? 0)
        if bodyKind == CE_BODY_LENT { target.read_body = readLentBody }
        if bodyKind == CE_BODY_STREAM { target.take_body = takeStreamedBody }
        target.head_limit = max(0, options.maximumHeadSize)
        target.body_limit = bodyLimit
        target.decompress = decompresses
        target.streaming = isStreaming
        target.http_version =
            switch options.protocolVersion {
            case .automatic: Int32(CE_HTTP_ANY.rawValue)
            case .http1: Int32(CE_HTTP_1_1.rawValue)
            case .http2: Int32(CE_HTTP_2.rawValue)
            }
    }

    private static func body(of request: TransportRequest) throws(RequestFailure) -> (Data?, ce_body_kind, Int64) {
        switch request.body.content {
        case .none:
            let usuallyHasBody = request.method == .post || request.method == .put || request.method == .patch
            return (nil, usuallyHasBody ? CE_BODY_BYTES : CE_BODY_NONE, 0)
        case .bytes(let data):
            guard request.method != .head else { throw headWithBody() }
            return (data, data.count > copyLimit ? CE_BODY_LENT : CE_BODY_BYTES, Int64(data.count))
        case .stream(let length, _, _):
            guard request.method != .head else { throw headWithBody() }
            guard length ?? 0 >= 0 else {
                throw RequestFailure(.invalidRequest, "The body's length is negative.", remedy: "Give nil for unknown.")
            }
            return (nil, CE_BODY_STREAM, Int64(length ?? -1))
        }
    }

    private static func headWithBody() -> RequestFailure {
        RequestFailure(.invalidRequest, "A HEAD request has a body.", remedy: "Use another method, or no body.")
    }

    // MARK: Texts

    /// Without interpolation, which takes longer than all the rest.
    private static func append(_ origin: Origin, to texts: inout [UInt8]) {
        let isIPv6 = origin.host.isAddress && origin.host.text.utf8.contains(UInt8(ascii: ":"))
        texts.append(contentsOf: origin.scheme.rawValue.utf8)
        texts.append(contentsOf: isIPv6 ? "://[".utf8 : "://".utf8)
        texts.append(contentsOf: origin.host.text.utf8)
        texts.append(contentsOf: isIPv6 ? "]:".utf8 : ":".utf8)
        append(String(origin.port), to: &texts)
    }

    private static func append(_ proxy: Proxy, to texts: inout [UInt8], _ offsets: inout Offsets) {
        offsets.proxy = texts.count
        append("\(proxy.kind.rawValue)://\(proxy.host):\(proxy.port)", to: &texts)
        if proxy.kind == .https {
            offsets.proxyHost = texts.count
            append(proxy.host.text, to: &texts)
        }
        guard let user = proxy.user else { return }
        offsets.proxyUser = texts.count
        append(user, to: &texts)
        offsets.proxyPassword = texts.count
        append(proxy.password ?? "", to: &texts)
    }

    private static func append(_ text: String, to texts: inout [UInt8]) {
        texts.append(contentsOf: text.utf8)
        texts.append(0)
    }

    private static func appendHeaders(
        of request: TransportRequest, bodyKind: ce_body_kind, userAgent: String?, to texts: inout [UInt8]
    ) throws(RequestFailure) {
        var hasContentType = false
        var hasUserAgent = userAgent == nil
        for field in request.headerFields {
            switch field.name {
            case .contentLength: continue
            case .transferEncoding:
                throw RequestFailure(
                    .invalidRequest, "The request sets Transfer-Encoding.",
                    remedy: "Leave framing to the transport; stream the body for a chunked one.")
            case .expect:
                throw RequestFailure(
                    .invalidRequest, "The request sets Expect.", remedy: "Set the option continueWait instead.")
            case let name where name.canonicalName == "host":
                guard field.value.lowercased() == request.url.origin.authority else {
                    throw RequestFailure(
                        .invalidRequest, "The request sets Host to something else than its URL.",
                        remedy: "Put the name in the URL, and lead it elsewhere with an address override.")
                }
                continue
            case .proxyAuthorization:
                throw RequestFailure(
                    .invalidRequest, "The request sets Proxy-Authorization, which would reach the server too.",
                    remedy: "Give the proxy its user and password.")
            case .contentType: hasContentType = true
            case .userAgent: hasUserAgent = true
            default: break
            }
            texts.append(contentsOf: field.name.rawName.utf8)
            field.withUnsafeBytesOfValue { value in
                // libcurl sends a field without a value when it ends in a semicolon instead of a colon.
                texts.append(value.isEmpty ? UInt8(ascii: ";") : UInt8(ascii: ":"))
                if !value.isEmpty { texts.append(UInt8(ascii: " ")) }
                texts.append(contentsOf: value)
            }
            texts.append(0)
        }
        if !hasUserAgent, let userAgent {
            texts.append(contentsOf: "User-Agent: ".utf8)
            append(userAgent, to: &texts)
        }
        // A header without a value takes libcurl's own away: a form's media type, and the wait for 100 Continue.
        if !hasContentType, bodyKind == CE_BODY_BYTES { append("Content-Type:", to: &texts) }
        // Each field is compared with many names by libcurl, so there is none that says nothing.
        if bodyKind != CE_BODY_NONE {
            append(request.options.continueWait != nil ? "Expect: 100-continue" : "Expect:", to: &texts)
        }
        texts.append(0)
    }
}

/// Copies a part of the body of the exchange that owns a transfer.
///
/// Called by libcurl on the engine's thread, inside a transfer whose owner is running and therefore retained.
private let readLentBody: @convention(c) (UnsafeMutableRawPointer?, Int64, UnsafeMutableRawPointer, Int) -> Void = {
    owner, offset, buffer, count in
    guard let owner else { return }
    let exchange = Unmanaged<Exchange>.fromOpaque(owner).takeUnretainedValue()
    exchange.prepared.copyBody(from: Int(offset), count: count, to: buffer)
}

/// Moves bytes of the streamed body of the exchange that owns a transfer; called like ``readLentBody``.
private let takeStreamedBody: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer, Int) -> ce_supply = {
    owner, buffer, count in
    guard let owner else { return ce_supply() }
    let exchange = Unmanaged<Exchange>.fromOpaque(owner).takeUnretainedValue()
    return exchange.takeBody(into: UnsafeMutableRawBufferPointer(start: buffer, count: count))
}

extension HTTPRequest.Method {
    /// Whether sending it twice means the same as sending it once (RFC 9110, 9.2.2).
    var isIdempotent: Bool {
        switch self {
        case .get, .head, .options, .trace, .put, .delete: true
        default: false
        }
    }
}

extension Duration {
    /// Whole milliseconds, rounded up so that a short time is not none.
    var milliseconds: Int {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        // Far below any overflow, and far above any deadline.
        guard seconds < 100_000_000_000 else { return 100_000_000_000_000 }
        return Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}

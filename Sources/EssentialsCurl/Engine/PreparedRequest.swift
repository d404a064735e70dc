import CEssentials
import EssentialsTransport
import FoundationEssentials

/// A request in the form that the engine thread hands to libcurl: every text in one block, so that preparing on the
/// caller's thread costs two allocations and starting on the engine thread none.
///
/// A class, because it goes through several asynchronous functions, each of which would copy a value of this size.
final class PreparedRequest: Sendable {
    /// Bodies up to this size are copied before they are sent; bigger ones are lent.
    static let copyLimit = 64 << 10

    private static let noTimeout = Duration.seconds(Int64.max).milliseconds

    let request: TransportRequest
    let origin: Origin
    private let texts: RequestTexts
    private let body: Data?
    private let bodyKind: ce_body_kind
    private let bodyLength: Int64
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
        _ request: TransportRequest, trust: CompiledTrust, userAgent: String?, proxies: ProxySetup = .direct,
        unixSocket: String? = nil
    ) throws(RequestFailure) {
        let url = request.url
        let origin = url.origin
        let method = request.method
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
        proxy = unixSocket == nil ? try proxies.proxy(for: origin) : nil
        proxyRule = try proxy.map { proxy throws(RequestFailure) in try proxies.rule(for: proxy) } ?? 0
        // An HTTP proxy is asked for the whole URL, where it does not tunnel (RFC 9112, 3.2.2).
        let isForwarded = proxy?.kind.isHTTP == true && origin.scheme == .http
        guard !isForwarded || request.options.protocolVersion != .http2 else {
            throw RequestFailure(
                .invalidRequest, "An http request through an HTTP proxy cannot insist on HTTP/2.",
                remedy: "Use https, another kind of proxy, or any version.", host: origin.host.text)
        }
        let lines = request.options.maximumHeadLines
        guard (1...TransportOptions.headLinesMaximum).contains(lines) else {
            throw RequestFailure(
                .invalidRequest, "maximumHeadLines is \(lines).",
                remedy: "Use 1 to \(TransportOptions.headLinesMaximum).", host: origin.host.text)
        }
        (body, bodyKind, bodyLength) = try Self.body(of: request, method)
        switch request.options.delivery {
        case .collected(let limit): (isStreaming, bodyLimit) = (false, max(0, limit))
        case .streamed: (isStreaming, bodyLimit) = (true, .max)
        }
        texts = try RequestTexts(
            request, origin, method: method.rawValue, target: isForwarded ? url.description : url.target, proxy: proxy,
            userAgent: userAgent, bodyKind: bodyKind)
    }

    /// Lends the request to libcurl's side. The pointers in it are valid during the call only.
    func withRequest<Result>(
        waitsForMultiplexing: Bool, freshConnection: Bool, fullHandshake: Bool, _ body: (inout ce_request) -> Result
    ) -> Result {
        texts.withTexts { lent in
            var request = lent
            fill(&request)
            request.wait_for_multiplexing = waitsForMultiplexing
            request.fresh_connection = freshConnection
            request.full_handshake = fullHandshake
            guard bodyKind == CE_BODY_BYTES, let data = self.body else { return body(&request) }
            return data.withUnsafeBytes { bytes in
                request.body = bytes.baseAddress
                request.body_size = bytes.count
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
        let connect = options.connectTimeout.milliseconds
        target.connect_timeout_ms = connect > 0 ? connect : Self.noTimeout
        target.continue_wait_ms = options.continueWait.map { max(1, $0.milliseconds) } ?? 0
        target.minimum_rate = options.minimumRate.map { max(0, $0.bytesPerSecond) } ?? 0
        target.minimum_rate_s = options.minimumRate.map { max(1, $0.period.wholeSeconds) } ?? 0
        target.expansion_limit = UInt32(clamping: options.maximumExpansion.map { max(1, $0) } ?? 0)
        if bodyKind == CE_BODY_LENT { target.read_body = readLentBody }
        if bodyKind == CE_BODY_STREAM { target.take_body = takeStreamedBody }
        target.head_limit = max(0, options.maximumHeadSize)
        target.head_line_limit = options.maximumHeadLines
        target.body_limit = bodyLimit
        target.decompress = texts.asksForEncodings
        target.streaming = isStreaming
        target.streams_redirects = request.unwantedBodies.contains(.ofRedirects)
        target.streams_challenges = request.unwantedBodies.contains(.ofChallenges)
        target.http_version =
            switch options.protocolVersion {
            case .automatic: Int32(CE_HTTP_ANY.rawValue)
            case .http1: Int32(CE_HTTP_1_1.rawValue)
            case .http2: Int32(CE_HTTP_2.rawValue)
            }
    }

    private static func body(
        of request: TransportRequest, _ method: HTTPRequest.Method
    ) throws(RequestFailure) -> (Data?, ce_body_kind, Int64) {
        switch request.body.content {
        case .none:
            let usuallyHasBody = method == .post || method == .put || method == .patch
            return (nil, usuallyHasBody ? CE_BODY_BYTES : CE_BODY_NONE, 0)
        case .bytes(let data):
            guard method != .head else { throw headWithBody() }
            return (data, data.count > copyLimit ? CE_BODY_LENT : CE_BODY_BYTES, Int64(data.count))
        case .stream(let length, _, _):
            guard method != .head else { throw headWithBody() }
            guard length ?? 0 >= 0 else {
                throw RequestFailure(.invalidRequest, "The body's length is negative.", remedy: "Give nil for unknown.")
            }
            return (nil, CE_BODY_STREAM, Int64(length ?? -1))
        }
    }

    private static func headWithBody() -> RequestFailure {
        RequestFailure(.invalidRequest, "A HEAD request has a body.", remedy: "Use another method, or no body.")
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

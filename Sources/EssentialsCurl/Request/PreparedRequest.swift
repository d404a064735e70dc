import CEssentials
import EssentialsTransport
import FoundationEssentials

/// A request in the form that the engine's thread passes to libcurl.
///
/// All texts are in one block. Preparing it costs the caller's thread two allocations, and starting it costs the
/// engine's thread none. It is a class because each asynchronous function on its path would copy a value of this size.
final class PreparedRequest: Sendable {
    /// Bodies up to this size are copied before they are sent. Larger ones are lent.
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
    /// The proxy that the request goes through, or `nil` without a proxy.
    let proxy: Proxy?
    /// The proxy that receives the request itself, because it opens no tunnel; `nil` without such a proxy.
    var forwardingProxy: Proxy? { origin.scheme == .http && proxy?.kind.isHTTP == true ? proxy : nil }
    /// The rule of the trust policy for the host.
    let rule: Int
    /// Whether the host has pins.
    let isPinned: Bool
    /// The rule of the proxies' policy for the proxy.
    private let proxyRule: Int
    /// The Unix-domain socket that the request goes to whatever its URL is, or `nil` without a socket.
    let unixSocket: String?

    /// Checks a request and lays out its texts.
    ///
    /// - Throws: `invalidRequest` for fields that only the transport may set, `plaintextRefused` for `http` under pins,
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
            throw Failures.plaintext(origin)
        }
        self.request = request
        self.origin = origin
        self.unixSocket = unixSocket
        proxy = unixSocket == nil ? try proxies.proxy(for: origin) : nil
        proxyRule = try proxy.map { proxy throws(RequestFailure) in try proxies.rule(for: proxy) } ?? 0
        // A request to an HTTP proxy that does not tunnel has the whole URL as its target (RFC 9112, 3.2.2).
        let isForwarded = proxy?.kind.isHTTP == true && origin.scheme == .http
        guard !isForwarded || request.options.protocolVersion != .http2 else {
            throw Failures.forwardedHTTP2(origin)
        }
        let lines = request.options.maximumHeadLines
        guard (1...TransportOptions.headLinesMaximum).contains(lines) else {
            throw Failures.headLines(lines, origin)
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

    /// Lends the request to libcurl. Its pointers are valid during the call only.
    func withRequest<Result>(
        of machine: ExchangeMachine, waitsForMultiplexing: Bool, idleSeconds: Int?,
        _ body: (inout ce_request) -> Result
    ) -> Result {
        texts.withTexts(omitsExpectation: machine.omitsExpectation) { lent in
            var request = lent
            fill(&request)
            request.wait_for_multiplexing = waitsForMultiplexing
            request.fresh_connection = machine.connection != .any
            request.idle_lifetime_s = idleSeconds ?? 0
            request.full_handshake = machine.connection == .freshHandshake
            request.resends_at_once = machine.resendsAtOnce
            request.expects_continue = texts.expectsContinue && !machine.omitsExpectation
            if machine.usesHTTP1 { request.http_version = Int32(CE_HTTP_1_1.rawValue) }
            guard bodyKind == CE_BODY_BYTES, let data = self.body else { return body(&request) }
            return data.withUnsafeBytes { bytes in
                request.body = bytes.baseAddress
                request.body_size = bytes.count
                return body(&request)
            }
        }
    }

    /// All header lines as they are sent, except the framing of a body of unknown length.
    var fieldLines: [String] {
        let length = bodyKind == CE_BODY_NONE || bodyLength < 0 ? [] : ["Content-Length: \(bodyLength)"]
        return ["Host: \(origin.authority)"] + texts.fieldLines + length
    }

    /// Whether a server can respond before libcurl has sent the whole body.
    var isLongUpload: Bool { bodyKind == CE_BODY_LENT || bodyKind == CE_BODY_STREAM }

    /// Whether the server may process the request twice.
    var isIdempotent: Bool { request.isIdempotent ?? request.method.isIdempotent }

    /// Copies a part of a lent body. The part must lie within its length.
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
        target.records_trust = options.recordsTrust
        target.body_kind = Int32(bodyKind.rawValue)
        target.body_length = bodyLength
        // For libcurl, 0 means its default of 300 seconds for connecting, and no limit for the whole transfer.
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
        target.streams_retries = request.unwantedBodies.contains(.ofRetries)
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
            guard method != .head else { throw Failures.headWithBody }
            return (data, data.count > copyLimit ? CE_BODY_LENT : CE_BODY_BYTES, Int64(data.count))
        case .stream(let length, _, _):
            guard method != .head else { throw Failures.headWithBody }
            guard length ?? 0 >= 0 else { throw Failures.negativeLength }
            return (nil, CE_BODY_STREAM, Int64(length ?? -1))
        }
    }
}

/// Copies a part of the body of the exchange that owns a transfer.
///
/// libcurl calls it on the engine's thread, inside a transfer whose owner runs and is therefore retained.
private let readLentBody: @convention(c) (UnsafeMutableRawPointer?, Int64, UnsafeMutableRawPointer, Int) -> Void = {
    owner, offset, buffer, count in
    guard let owner else { return }
    let exchange = Unmanaged<Exchange>.fromOpaque(owner).takeUnretainedValue()
    exchange.prepared.copyBody(from: Int(offset), count: count, to: buffer)
}

/// Moves bytes of the streamed body of the exchange that owns a transfer. It is called like ``readLentBody``.
private let takeStreamedBody: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer, Int) -> ce_supply = {
    owner, buffer, count in
    guard let owner else { return ce_supply() }
    let exchange = Unmanaged<Exchange>.fromOpaque(owner).takeUnretainedValue()
    return exchange.takeBody(into: UnsafeMutableRawBufferPointer(start: buffer, count: count))
}

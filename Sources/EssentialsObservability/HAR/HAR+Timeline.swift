import EssentialsHTTP
import EssentialsRequests
import EssentialsTools
import EssentialsTransport
import FoundationEssentials

extension HAR {
    /// The exchanges of a call.
    ///
    /// A call that was not sent, because it was served from the response cache, shared the response of an equal one or was
    /// refused, is an exchange too.
    ///
    /// - Parameter hasCommands: Whether the exchanges have their commands of curl.
    static func entries(of timeline: RequestTimeline, _ clock: WallClock, hasCommands: Bool = false) -> [Entry] {
        var builder = EntryBuilder(clock, hasCommands: hasCommands)
        for event in timeline.events { builder.add(event) }
        return builder.end(dropped: timeline.droppedEvents)
    }
}

/// Makes the exchanges of a call from its events.
private struct EntryBuilder {
    /// What is known of an exchange.
    private struct Exchange {
        let began: SteadyInstant
        /// How long it had waited for the limits of the origin.
        var waited = Duration.zero
        var request: ObservedRequest?
        var requestBody: RequestEvent.Body?
        var response: ObservedResponse?
        var responseBody: RequestEvent.Body?
        var responseEnd: SteadyInstant?
        var metrics: TransportMetrics?
        var bytesRead: Int64?
        var failure: RequestFailure?
        var redirectURL = ""
        var attempt: Int?
        var cacheStatus: String?
    }

    private let clock: WallClock
    private let hasCommands: Bool
    private var entries: [HAR.Entry] = []
    private var exchange: Exchange?
    private var waited = Duration.zero
    private var call: RequestCall?
    private var beginning: String?
    private var prepared: ObservedRequest?
    private var received: ObservedResponse?
    private var cacheStatus: String?
    private var isJoined = false
    /// The redirect that leads to the hop.
    private var next: ObservedRedirect?
    /// Whether nothing was sent for the hop.
    private var isUnsent = true
    private var isEnded = false
    private var failure: RequestFailure?
    private var last = SteadyInstant.now
    /// When the last exchange was over.
    private var finished: SteadyInstant?

    init(_ clock: WallClock, hasCommands: Bool) { (self.clock, self.hasCommands) = (clock, hasCommands) }

    mutating func add(_ event: RequestEvent) {
        (call, last) = (event.call, event.time)
        switch event.kind {
        case .began(let beginning): self.beginning = beginning.url
        case .prepared(let request): prepared = request
        case .waited(let wait): if wait.reason == .limits { waited += wait.duration }
        case .sent(let request):
            finish(at: event.time)
            var sent = Exchange(began: event.time)
            (sent.waited, waited) = (waited, .zero)
            (sent.request, sent.attempt) = (request, event.attempt)
            (exchange, isUnsent) = (sent, false)
        case .head(let response):
            exchange?.response = response
            if !response.isStreamed { exchange?.responseEnd = event.time }
        case .attemptFailed(let failure):
            exchange?.failure = failure
            exchange?.responseEnd = event.time
        case .body(let body):
            if body.isOfResponse { exchange?.responseBody = body } else { exchange?.requestBody = body }
        case .redirected(let hop):
            exchange?.redirectURL = hop.to
            exchange?.cacheStatus = cacheStatus
            finish(at: event.time)
            // What follows may be served without being sent.
            (next, cacheStatus, isUnsent) = (hop, nil, true)
        case .retrying(let retry):
            if exchange?.failure == nil { exchange?.failure = retry.failure }
            finish(at: event.time)
        case .authorized: finish(at: event.time)
        case .cached(let use): cacheStatus = "\(use.outcome)\(use.isStored ? ", stored" : "")"
        case .joined: isJoined = true
        case .received(let reception): received = reception.response
        case .ended(let ending): end(ending, at: event.time)
        default: break
        }
    }

    private mutating func end(_ ending: RequestEvent.Ending, at instant: SteadyInstant) {
        isEnded = true
        failure = ending.failure
        // The end of the call is not that of an exchange that was over before.
        guard exchange != nil else { return }
        if exchange?.failure == nil { exchange?.failure = ending.failure }
        exchange?.metrics = ending.metrics
        exchange?.bytesRead = ending.bytesRead
        exchange?.cacheStatus = cacheStatus
        finish(at: instant)
    }

    /// The exchanges, when there are no more events.
    ///
    /// - Parameter dropped: The number of events that are missing before the last one.
    mutating func end(dropped: Int) -> [HAR.Entry] {
        finish(at: last)
        if isUnsent, let unsent { entries.append(unsent) }
        if !isEnded, !entries.isEmpty { entries[entries.count - 1].isRunning = true }
        if dropped > 0, !entries.isEmpty {
            entries[entries.count - 1].comment = "Later exchanges of the call were not recorded."
        }
        return entries
    }

    private mutating func finish(at instant: SteadyInstant) {
        guard var exchange = exchange.take() else { return }
        finished = instant
        if exchange.responseEnd == nil { exchange.responseEnd = instant }
        entries.append(entry(exchange))
    }

    // MARK: Entries

    private func entry(_ exchange: Exchange) -> HAR.Entry {
        var request = HAR.Request(exchange.request, exchange.requestBody)
        let connection = exchange.response?.connection
        request.httpVersion = connection?.protocolName ?? ""
        let metrics = exchange.metrics ?? exchange.response?.metrics ?? TransportMetrics()
        if let metrics = exchange.response?.metrics, exchange.bytesRead == nil { request.set(metrics) }
        var response = HAR.Response(exchange.response, exchange.responseBody, metrics, read: exchange.bytesRead)
        response.redirectURL = exchange.redirectURL
        let began = exchange.began - exchange.waited
        var entry = HAR.Entry(
            started: clock.date(of: began), request: request, response: response,
            timings: HAR.Timings(
                metrics, waited: exchange.waited, total: (exchange.responseEnd ?? exchange.began) - exchange.began,
                hasResponse: exchange.response != nil))
        entry.serverAddress = connection.flatMap { $0.peerAddress.isEmpty ? nil : $0.peerAddress }
        entry.call = call?.id.description
        entry.attempt = exchange.attempt
        entry.cacheStatus = exchange.cacheStatus
        entry.failure = exchange.failure.map(HAR.Failure.init)
        entry.connection = connection.flatMap(HAR.Connection.init)
        if hasCommands { entry.command = exchange.request?.curlCommand }
        return entry
    }

    /// The call as an exchange, if it was not sent.
    private var unsent: HAR.Entry? {
        guard let call else { return nil }
        var request = HAR.Request(method: call.method.rawValue, url: prepared?.url ?? call.url ?? beginning ?? "")
        if let next {
            request = HAR.Request(method: next.method.rawValue, url: next.to)
        } else if let prepared {
            request = HAR.Request(prepared, nil)
        }
        var timings = HAR.Timings()
        let began = finished ?? call.time
        timings.wait = (last - began).harMilliseconds
        var entry = HAR.Entry(
            started: clock.date(of: began), request: request,
            response: HAR.Response(received, nil, TransportMetrics(), read: nil), timings: timings)
        entry.call = call.id.description
        entry.source = isJoined ? "joined" : received == nil ? nil : "cache"
        entry.cacheStatus = cacheStatus
        entry.failure = failure.map(HAR.Failure.init)
        return entry
    }
}

extension HAR.Failure {
    init(_ failure: RequestFailure) {
        self.init(reason: failure.reason.name, message: failure.message, remedy: failure.remedy)
    }
}

extension HAR.Connection {
    /// `nil` if nothing is known of the connection, as of that of a test double.
    fileprivate init?(_ facts: ConnectionFacts) {
        guard !facts.protocolName.isEmpty else { return nil }
        let host = facts.peerAddress.utf8.contains(UInt8(ascii: ":")) ? "[\(facts.peerAddress)]" : facts.peerAddress
        self.init(protocol: facts.protocolName, address: "\(host):\(facts.peerPort)", isReused: facts.isReused)
        (tlsVersion, tlsCipher) = (facts.tlsVersion, facts.tlsCipher)
        chain = facts.trust?.chain.map(\.subject)
        pin = facts.trust?.match.map { "\($0.pin)" }
    }
}

extension HAR.Request {
    fileprivate init(_ request: ObservedRequest?, _ body: RequestEvent.Body?) {
        self.init(method: request?.method.rawValue ?? "", url: request?.url ?? "")
        guard let request else { return }
        let fields = request.headerFields
        headers = fields.map { HAR.Pair(name: $0.name.rawName, value: $0.value) }
        bodySize = request.bodySize ?? -1
        if let body { self.body = HAR.Body(body, fields, request.redaction) }
    }

    /// Takes the size of a body that was not known before it was sent.
    fileprivate mutating func set(_ metrics: TransportMetrics) {
        if bodySize < 0, metrics.finished != nil { bodySize = metrics.bodyBytesSent }
    }
}

extension HAR.Response {
    fileprivate init(
        _ response: ObservedResponse?, _ body: RequestEvent.Body?, _ metrics: TransportMetrics, read: Int64?
    ) {
        self.init()
        guard let response else { return }
        status = response.status.code
        let phrase = response.status.reasonPhrase
        statusText = phrase.isEmpty ? response.status.registeredPhrase ?? "" : phrase
        httpVersion = response.connection.protocolName
        let fields = response.headerFields
        headers = fields.map { HAR.Pair(name: $0.name.rawName, value: $0.value) }
        self.body = body.map { HAR.Body($0, fields, response.redaction) } ?? HAR.Body()
        self.body.mimeType = fields[.contentType] ?? ""
        if metrics.finished != nil { bodySize = metrics.bodyBytesReceived }
        // What was read of a download counts over all parts, and what arrived may have been compressed.
        let size = body.flatMap { $0.isTruncated ? nil : $0.bytes.count } ?? read.map { Int(clamping: $0) }
        contentSize = (status == 206 ? nil : size) ?? (fields[.contentEncoding] == nil ? bodySize : -1)
    }
}

extension HAR.Body {
    fileprivate init(_ body: RequestEvent.Body, _ fields: HTTPFields, _ redaction: Redaction) {
        let type = fields[.contentType]
        let bytes = redaction.shown(body: body.bytes, type: type, coding: fields[.contentEncoding])
        self.init(mimeType: type ?? "", isTruncated: body.isTruncated)
        let cut = body.isTruncated ? CutUTF8.incompleteCount(bytes) : 0
        let text = String(validating: bytes.dropLast(cut), as: UTF8.self)
        self.text = text ?? bytes.base64EncodedString()
        isBase64 = text == nil
    }
}

extension HAR.Timings {
    /// - Parameters:
    ///   - waited: The time for which the exchange had waited for the limits of its origin.
    ///   - total: The time since it was passed to the transport.
    fileprivate init(_ metrics: TransportMetrics, waited: Duration, total: Duration, hasResponse: Bool) {
        self.init()
        if waited + metrics.queued > .zero { blocked = (waited + metrics.queued).harMilliseconds }
        guard hasResponse, let first = metrics.firstByte else {
            wait = (total - metrics.queued).harMilliseconds
            return
        }
        var last = Duration.zero
        if let resolved = metrics.nameResolved {
            dns = resolved.harMilliseconds
            last = resolved
        }
        if let connected = metrics.secured ?? metrics.connected {
            connect = (connected - last).harMilliseconds
            if let secured = metrics.secured { ssl = (secured - (metrics.connected ?? last)).harMilliseconds }
            last = connected
        }
        // A server can respond before the whole request was sent.
        let sent = min(max(last, metrics.requestSent ?? metrics.requestBegan ?? last), max(last, first))
        send = (sent - last).harMilliseconds
        wait = (first - sent).harMilliseconds
        receive = ((metrics.finished ?? total - metrics.queued) - first).harMilliseconds
    }
}

extension Duration {
    /// The duration in milliseconds, in whole microseconds; zero if it is negative.
    fileprivate var harMilliseconds: Double {
        max(0, (self / .milliseconds(1) * 1_000).rounded() / 1_000)
    }
}

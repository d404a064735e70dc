// swift-format-ignore-file
// The code stands as in the documentation comments.

import EssentialsRequests
import EssentialsTestKit
import FoundationEssentials
import Logging
import ServiceEssentials

@testable import EssentialsHTTP

private struct Record: Codable, Sendable {}
private struct Order: Codable, Sendable { var id = "" }
private final class Clearings: Sendable {
    func clear(_ host: String) {}
    func forbid(_ host: String, since moment: Epoch) -> Bool { false }
}
private struct Label { var text = "" }

private let app = Application()
private let (show, showBusy) = (app, app)
private let (host, name, id) = ("", "", 7)
private let (order, since, clearings) = (Order(), Date?.none, Clearings())
private let decoder = JSONDecoder()
private var label: Label { get { Label() } set {} }
private var service: HTTPDataRequestService { given() }
private var response: TransportResponse { given() }
private var request: TransportRequest { get { given() } set {} }
private var configuration: HTTPDataRequestService.Configuration { get { given() } set {} }
private var clock: RequestClock { given() }
private var url: RequestURL { given() }
private var responseURL: RequestURL { given() }
private var form: MultipartBody { get { given() } set {} }
private var failure: RequestFailure { given() }
private var delay: Duration { .zero }
private var line: UnsafeBufferPointer<UInt8> { given() }
private var now: Date { given() }
private var next: any Transport { given() }
private var redirects: any Transport { given() }
private var redirected: RedirectedResponse { given() }
private var apiKeyName: HTTPField.Name { given() }
private var trusted: HostName { given() }
private var added: BootTime { given() }
private var head: StoredHead { given() }
private let isPulled = true
private var age: Duration { get { .zero } set {} }
private var records: [Record] { get { [] } set {} }

// Caching/CacheDirectives.swift
private func cacheDirectivesExample() async throws {
    let directives = CacheDirectives(of: response.headerFields)
    if directives.forbidsStoring { return }
}

// Caching/ByteRange.swift
private func byteRangeExample() async throws {
    let bytes = ByteRange("bytes=-500")?.resolved(length: 1_000)     // 500..<1000
    use(bytes)
}

// Caching/EntityTag.swift
private func entityTagExample() async throws {
    let tag = EntityTag("W/\"1\"")
    let isSame = tag?.matchesWeakly(EntityTag("\"1\"")) == true     // true
    use(isSame)
}

// Caching/CacheMoment.swift
private func cacheMomentExample() async throws {
    let stored = clock.moment
    let passed = clock.moment.elapsed(since: stored)     // nil: unknown, so that the entry is stale
    use(passed)
}

// Caching/CachePolicy.swift
private func cachePolicyExample() async throws {
    let policy: CachePolicy = isPulled ? .revalidate : .standard
    use(policy)
}

// Caching/CachePolicy.swift
private func cacheOptionsExample() async throws {
    var options = CacheOptions()
    options.staleIfError = .seconds(600)
}

// Caching/StoredHead.swift
private func storedHeadExample() async throws {
    let isFresh = head.timeLeft(at: clock.moment) > .zero && !head.requiresValidation
    use(isFresh)
}

// Caching/CacheStatus.swift
@Listed private func cacheStatusExample() async throws -> [Any] {
    CacheStatus(hitFor: .seconds(376)).text                                        // ServiceEssentials; hit; ttl=376
    CacheStatus(forwarded: .stale, status: 304, isStored: true).text
    // ServiceEssentials; fwd=stale; fwd-status=304; stored
}

// Caching/Freshness.swift
private func freshnessExample() async throws {
    let freshness = Freshness(of: response.headerFields, at: clock.date, delay: delay)
    let left = (freshness.lifetime ?? .seconds(30)) - freshness.age
    use(left)
}

// Limits/CircuitBreaker.swift
private func circuitBreakerExample() async throws {
    configuration.limits.breaker = .standard
}

// Limits/Epoch.swift
private func epochExample() async throws {
    let begun = Epoch.now                               // before the request is sent
    clearings.clear(host)                               // meanwhile, under the lock of the store
    guard !clearings.forbid(host, since: begun) else { return }
}

// Limits/OriginLimits.swift
private func originLimitsExample() async throws {
    var configuration = HTTPDataRequestService.Configuration()
    configuration.limits = OriginLimits(
        concurrency: 8, rate: RateLimit(10, per: .seconds(1)), breaker: .standard)
}

// Limits/OriginLimits.swift
private func originLimitsExample2() async throws {
    if let state = service.limits?.state(of: url.origin), state.waiting > 100 { showBusy() }
}

// Limits/RateLimit.swift
private func rateLimitExample() async throws {
    configuration.limits.rate = RateLimit(10, per: .seconds(1))              // ten at once, then one every 100 ms
    configuration.limits.rate = RateLimit(600, per: .seconds(60), burst: 1)  // one every 100 ms from the start
}

// Links/WebLink.swift
private func webLinkExample() async throws {
    // Link: <https://api.example.com/users?page=2>; rel="next", </style.css>; rel=preload; as=style
    for link in response.headerFields.links where link.hasRelation("next") {
        print(try link.url(relativeTo: responseURL))        // https://api.example.com/users?page=2
    }
}

// Links/WebLink.swift
private func webLinkExample2() async throws {
    let stylesheets = response.headerFields.links.filter { $0.hasRelation("stylesheet") }
    use(stylesheets)
}

// Message/HTTPResponse.Status+Phrase.swift
@Listed private func hTTPResponseStatusPhraseExample() async throws -> [Any] {
    HTTPResponse.Status(code: 429).registeredPhrase     // "Too Many Requests"
}

// Message/RequestFailure+Summary.swift
private func requestFailureSummaryExample() async throws {
    label.text = failure.summary              // "Too many requests"
}

// Message/String+Random.swift
private func stringRandomExample() async throws {
    let key = String.randomAlphanumeric(24)             // about 143 bits
    use(key)
}

// Multipart/MultipartBody.swift
private func multipartBodyExample() async throws {
    var form = try MultipartBody()
    try form.append(.field("title", "Summer"))
    try form.append(.file("/srv/films/1.mp4", name: "film"))

    var request = TransportRequest(.post, try RequestURL("https://example.com/films"))
    request.headerFields[.contentType] = form.contentType
    request.body = .multipart(form)
}

// Multipart/MultipartBody.swift
private func multipartBodyExample2() async throws {
    request.headerFields[.contentType] = form.contentType
    request.body = .multipart(form)
}

// Multipart/MultipartPart.swift
private func multipartPartExample() async throws {
    var picture = try MultipartPart.file("/srv/pictures/1.png", name: "picture")
    picture.headerFields[.contentLanguage] = "en"
    try form.append(picture)
}

// Multipart/MultipartPart.swift
private func multipartPartExample2() async throws {
    try form.append(.json(["title": "Summer", "year": 2024], name: "meta"))
}

// Redirects/RedirectHop.swift
private func redirectHopExample() async throws {
    for hop in redirected.history { print(hop) }      // "301 https://example.com/old → GET https://example.com/new"
}

// Redirects/RedirectPolicy.swift
private func redirectPolicyExample() async throws {
    var policy = RedirectPolicy.limit(3)
    policy.sensitiveFields.insert(apiKeyName)         // goes to no other origin

    let inside = RedirectPolicy.deciding { proposal in
        proposal.hop.leavesOrigin ? .refuse("This API redirects inside its own origin only.") : .follow
    }
    use(inside)
}

// Redirects/RedirectPolicy.swift
@Listed private func redirectPolicyExample2() async throws -> [Any] {
    RedirectPolicy.deciding { proposal in proposal.request.body.isReplayable ? .follow : .stop }
}

// Redirects/RedirectPolicy.swift
@Listed private func redirectPolicyExample3() async throws -> [Any] {
    RedirectPolicy.deciding { $0.hop.to.origin.host == trusted ? .follow : .stop }
}

// Retry/Backoff.swift
private func backoffExample() async throws {
    var policy = RetryPolicy.attempts(5)
    policy.backoff = .exponential(base: .milliseconds(100), cap: .seconds(5))
}

// Retry/IdempotencyKey.swift
private func idempotencyKeyExample() {
    var request = DataRequest(.post, "orders")
    request.idempotencyKey = .automatic
    request.idempotencyKey = .text(order.id)
}

// Retry/RetryBudget.swift
private func retryBudgetExample() async throws {
    configuration.retryBudget.depositPerExchange = 0.2    // up to 20 % more requests
}

// Retry/RetryPolicy.swift
private func retryPolicyExample() {
    var request = DataRequest(.post, "orders")
    configuration.retry = .standard                     // 3 attempts
    configuration.retry = .attempts(5).whenReachable    // a retry follows soon after the network returns
    request.retry = .within(.seconds(30))
}

// Retry/RetryPolicy.swift
private func retryPolicyExample2() async throws {
    let policy = RetryPolicy.standard.deciding { candidate in
        candidate.failure.status == .conflict ? .retry : .standard
    }
    use(policy)
}

// Streams/LineSequence.swift
private func lineSequenceExample() async throws {
    for try await line in response.body.lines() {
        records.append(try decoder.decode(Record.self, from: Data(line.utf8)))
    }
}

// Streams/LineSequence.swift
private func lineSequenceExample2() async throws {
    var count = 0
    for try await line in response.body.lines(maximumLength: 1_024) where !line.hasPrefix("#") { count += 1 }
}

// Streams/ServerSentEvent.swift
private func serverSentEventExample() async throws {
    let event = ServerSentEvent(event: "price", data: "42", id: "7", retry: .seconds(3))
    use(event)
}

// Streams/ServerSentEventSequence.swift
private func serverSentEventSequenceExample() async throws {
    guard response.headerFields[.contentType]?.hasPrefix("text/event-stream") == true else { return }
    for try await event in response.body.serverSentEvents() where event.event == "price" {
        show(event.data)
    }
}

// Streams/ServerSentEventSequence.swift
private func serverSentEventSequenceExample2() async throws {
    var lastEventID = ""
    for try await event in response.body.serverSentEvents() {
        lastEventID = event.id
        print(event.event, event.data)
    }
    use(lastEventID)
}

// Time/BootTime.swift
private func bootTimeExample() async throws {
    if let now = clock.bootTime, now.boot == added.boot { age = now.elapsed - added.elapsed }
}

// Time/RequestClock.swift
private func requestClockExample() async throws {
    let clock = ManualClock()
    configuration.clock = clock.requestClock
}

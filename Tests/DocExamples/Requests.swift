// swift-format-ignore-file
// The code stands as in the documentation comments.

import Dispatch
import EssentialsTestKit
import FoundationEssentials
import Glibc
import Logging
import ServiceEssentials
import Synchronization
import Testing

@testable import EssentialsRequests

private struct User: Codable, Sendable, Equatable {
    var name = ""
    var pictureURL = ""
    var filmURL = ""
}
private struct UserList: Codable, Sendable {
    var users: [User] = []
    var cursor: String?
    var next: String?
}
private struct Account { var id = "" }

private struct TenantInterceptor: RequestInterceptor { let tenant: String }

private let app = Application()
private let (show, showOutage) = (app, app)
private let transport = ScriptedTransport()
private let (id, page, tenant) = (7, Int?.some(1), String?.none)
private let user = User()
private let token = ""
private let account = Account()
private var requests: HTTPDataRequestService { given() }
private var service: HTTPDataRequestService { given() }
private var response: DataResponse { given() }
private var request: DataRequest { get { given() } set {} }
private var configuration: HTTPDataRequestService.Configuration { get { given() } set {} }
private var environment: MutableEnvironment { given() }
private var origin: Origin { given() }
private var apiKey: HTTPField.Name { given() }
private var storedBytes: Data { Data() }

// Chain/Transport+Redirects.swift
private func transportRedirectsExample(request: TransportRequest) async throws {
    let redirected = try await transport.send(request, following: .limit(3))
    let body = try await redirected.response.body.collect(upTo: 1_000_000)
    use(body)
}

// Chain/Transport+Redirects.swift
@Listed private func transportRedirectsExample2(request: TransportRequest) async throws -> [Any] {
    let redirected = try await transport.send(request, following: .standard)
    redirected.request.url                            // where the response came from
    redirected.history.count                          // how many redirects were followed
}

// Cookies/CookieChoice.swift
private func cookieChoiceExample() async throws {
    var settings = RequestSettings()
    settings.cookies = .storage(CookieJar())  // a jar for this environment alone
}

// Events/ReconnectingEvents.swift
private func reconnectingEventsExample() async throws {
    for try await event in requests.events(of: .get("events")) where event.event == "price" {
        show(event.data)
    }
}

// Events/ReconnectingEvents.swift
private func reconnectingEventsExample2() async throws {
    for try await event in requests.events(of: .get("events")) { show(event.data) }
}

// Limits/RequestLimits.swift
private func requestLimitsExample() async throws {
    configuration.limits = OriginLimits(concurrency: 8, breaker: .standard)
    let service = HTTPDataRequestService(environment: environment, transport: transport, configuration: configuration)
    if case .open? = service.limits?.state(of: origin).circuit { showOutage() }
}

// Logging/Redaction.swift
private func redactionExample() async throws {
    configuration.redaction.hiddenFields.insert(apiKey)
    configuration.redaction.query = .hidden(["token", "signature"])
}

// Observing/ObservedMessages.swift
private func observedMessagesExample(event: RequestEvent) {
    if case .sent(let request) = event.kind { print(request.method, request.url) }
}

// Observing/ObservedMessages.swift
private func observedMessagesExample2(event: RequestEvent) {
    if case .head(let response) = event.kind { print(response.status.code, response.metrics.firstByte ?? .zero) }
}

// Observing/ObservedMessages.swift
private struct ObservedAttemptExample: RequestObserver {
    let traceID = HTTPField.Name.via
    func observe(_ event: RequestEvent) {}
    func fields(of attempt: ObservedAttempt) -> HTTPFields {
        attempt.isOfEnvironment ? [traceID: attempt.call.id.description] : [:]
    }
}

// Observing/RequestEvent.swift
private struct RequestEventExample: RequestObserver {
    func observe(_ event: RequestEvent) { print(event.call.id, event.elapsed, event) }
}

// Observing/RequestObserver.swift
final class FailureCounter: RequestObserver {
    let count = Atomic(0)

    func observe(_ event: RequestEvent) {
        if case .ended(let ending) = event.kind, ending.failure != nil { count.add(1, ordering: .relaxed) }
    }
}

// Observing/RequestTimeline.swift
private func requestTimelineExample() async throws {
    let timelines = RequestTimelines()
    configuration.observers = [timelines]
    // after some requests
    for phase in timelines.all.last?.phases ?? [] { print(phase.attempt, phase.name, phase.duration) }
}

// Observing/RequestTimelines.swift
private func requestTimelinesExample() async throws {
    let timelines = RequestTimelines(limit: 50)
    configuration.observers = [timelines]
}

// Paging/DataResponse+Links.swift
private func dataResponseLinksExample() async throws {
    if let link = response.link(rel: "describedby"), let base = response.url {
        print(try link.url(relativeTo: base))
    }
}

// Paging/PageSequence+Items.swift
private func pageSequenceItemsExample() async throws {
    for try await user in requests.pages(of: .get("users"), as: [User].self).items { show(user) }
}

// Paging/PageSequence+Items.swift
private func pageSequenceItemsExample2() async throws {
    let list = requests.pages(of: .get("users"), as: UserList.self, by: .cursor("after", in: \.cursor))
    for try await user in list.items(\.users) { show(user) }
}

// Paging/PageSequence.swift
private func pageSequenceExample() async throws {
    for try await page in requests.pages(of: .get("users"), as: [User].self) {
        print(page.index, page.model.count, page.response.status.code)
    }
    for try await user in requests.pages(of: .get("users"), as: [User].self).items { show(user) }
}

// Paging/Paging.swift
@Listed private func pagingExample() async throws -> [Any] {
    requests.pages(of: .get("users"), as: [User].self)                                  // Link: <…>; rel=next
    requests.pages(of: .get("users"), as: UserList.self, by: .link(in: \.next))         // {"next": "/users?page=2", …}
    requests.pages(of: .get("users"), as: UserList.self, by: .cursor("after", in: \.cursor))
    requests.pages(of: .get("users"), as: [User].self, by: .number("page", size: ("per_page", 50)))
}

// Partition/EntityPartition.swift
private func entityPartitionExample() async throws {
    let partition = EntityPartition("account-7")
    use(partition)
}

// Partition/FingerprintKey.swift
private struct FingerprintKeyExample {
    let fingerprintKey: FingerprintKey          // in an entity cache, read from the place that holds the entities
}

// Partition/OperationContext.swift
private func operationContextExample() async throws {
    requests.setAuthorization(try .bearer(token))
    requests.enter(EntityPartition(account.id))
}

// Service/HTTPDataRequestService+Configuration.swift
private func hTTPDataRequestServiceConfigurationExample() async throws {
    var configuration = HTTPDataRequestService.Configuration()
    configuration.interceptors = [TenantInterceptor(tenant: "acme")]
    configuration.logger = Logger(label: "app.requests")
}

// Service/HTTPDataRequestService.swift
private func hTTPDataRequestServiceExample() async throws {
    let requests = HTTPDataRequestService(
        environment: try ConstantEnvironment("https://api.example.com/v1/"), transport: transport)
    let user: User = try await requests.get("users/1")
    use(user)
}

// Service/ModelReader.swift
private func modelReaderExample() async throws {
    let reader = ModelReader(User.self, codecs: requests.codecs)
    let response = try await requests.send(reader.requesting(DataRequest(.get, "users/1")))
    let user = try await reader.model(from: response, to: .get)
    let copy = try await reader.model(from: storedBytes, as: .json)
    use(user, copy)
}

// Cache/CacheUse.swift
private func cacheUseExample() async throws {
    let response = try await requests.send(DataRequest(.get, "films"))
    print(response.cache?.outcome ?? .bypassed, response.cache?.age ?? .zero)
    print(response.cacheStatus ?? "-")  // ServiceEssentials; hit; ttl=376
}

// Cache/ResponseCache.swift
private func responseCacheExample() async throws {
    var options = ResponseCache.Options()
    options.staleIfError = .seconds(3_600)
    let cache = ResponseCache(options: options)
    use(cache)
}

// Cache/ResponseCache.swift
private func responseCacheConfigurationExample() {
    let cache = ResponseCache(memory: .bytes(32 << 20))
    var configuration = HTTPDataRequestService.Configuration()
    configuration.cache = cache
    use(configuration)
}

// Cache/ResponseCache.swift
private func responseCacheDiskExample() throws {
    let cache = try ResponseCache(disk: .directory("/var/cache/films"))
    use(cache)
}

// Cache/Store/ResponseStore.swift
private func responseStoreExample() {
    let cache = ResponseCache(store: SharedStore(client))
    use(cache)
}

private let client = Account()
private func SharedStore(_ client: Account) -> any ResponseStore { ScriptedStore() }

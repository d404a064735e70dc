import EssentialsRequests
import EssentialsTestKit
import ServiceEssentials

/// The steps of `essentials demo --resources`: what two screens see of a basket on a server, and what is sent for it.
struct ResourcesDemo: Demonstration {
    let api: ResourcesDemoAPI
    let locator: ServiceLocator
    private let environment: MutableEnvironment
    private let resources: any ResourceService
    private let basket: Resource<Basket>
    private let left: BasketScreen
    private let right: BasketScreen

    init(api: ResourcesDemoAPI) throws {
        self.api = api
        environment = try MutableEnvironment(api.production.url + "/v1/", name: "production")
        locator = try bootstrapResources(environment: environment, pins: api.pins, anchors: api.anchors)
        resources = try locator.resolve((any ResourceService).self)
        basket = resources.resource("basket")
        // Observing sends nothing by itself.
        (left, right) = (BasketScreen(basket), BasketScreen(basket))
    }

    var steps: [DemoStep] {
        [
            DemoStep(name: "observe", run: observes), DemoStep(name: "one request", run: sharesOneRequest),
            DemoStep(name: "not modified", run: keepsUnchangedContent),
            DemoStep(name: "undone", run: undoesARefusedChange),
            DemoStep(name: "environment", run: switchesTheEnvironment), DemoStep(name: "logout", run: logsOut),
        ]
    }

    /// Handles and observers exist before anything is sent.
    private func observes() async throws -> String {
        try promise(basket.observerCount == 2 && api.production.connectionCount == 0, "observing sends nothing")
        return "\(basket.observerCount) screens observe \(basket), with \(api.production.connectionCount) connections"
    }

    /// Two tasks need the content at the same time. The screens receive it as well.
    private func sharesOneRequest() async throws -> String {
        let basket = basket
        async let one = basket.loadIfNeeded()
        async let other = basket.loadIfNeeded()
        let areEqual = try await one == other
        let (first, second) = (try await left.next("newContent"), try await right.next("newContent"))
        let sent = api.production.requestCount
        try promise(areEqual && first == second && sent == 1, "one request is sent for all")
        return "two tasks and two screens received “\(first)”; the server received \(sent) request"
    }

    /// The server confirms the content by its entity tag, and sends no body.
    private func keepsUnchangedContent() async throws -> String {
        try await basket.load()
        let shown = try await [left.next("notModified"), right.next("notModified")]
        let (sent, count) = (api.production.requests.last, api.production.requestCount)
        let tag = sent?.header("If-None-Match")
        try promise(tag == ResourcesDemoAPI.tag && count == 2, "the second request is conditional")
        return "request \(count) had If-None-Match: \(tag ?? "nothing"), the reply was 304 without a body, and the"
            + " screens still show “\(shown[0])”"
    }

    /// A change is shown at once. The server refuses it, so it is taken out again.
    private func undoesARefusedChange() async throws -> String {
        var refusal: RequestFailure?
        do throws(RequestFailure) {
            try await basket.patch(NewItem(item: "a pen"), optimistically: { $0.items.append("a pen") })
        } catch {
            refusal = error
        }
        let during = try await [left.next("layered"), right.next("layered")]
        let after = try await [left.next("undone"), right.next("undone")]
        let sent = api.production.requests.count { $0.method == "PATCH" }
        try promise(
            refusal?.status == .conflict && during[0] == "a book, a pen" && after[0] == "a book" && sent == 1,
            "a refused change is undone")
        return "the screens showed “\(during[0])” at once and “\(after[0])” after the status"
            + " \(refusal?.status?.code ?? 0); the server received \(sent) PATCH"
    }

    /// The same handle leads to the server of the new environment. Nothing of the old one is shown any more.
    private func switchesTheEnvironment() async throws -> String {
        let before = api.production.requestCount
        try environment.set(baseURL: api.staging.url + "/v1/")
        let emptied = try await [left.next("wiped"), right.next("wiped")]
        let filled = try await [left.next("newContent"), right.next("newContent")]
        let (old, new) = (api.production.requestCount - before, api.staging.requestCount)
        try promise(
            emptied[0].isEmpty && filled[0] == "a lamp" && old == 0 && new == 1, "the content is that of the new server"
        )
        return "the screens were emptied and then showed “\(filled[0])” from staging, which received \(new) request;"
            + " production received \(old)"
    }

    /// With the credentials, everything that was loaded from their server is removed.
    private func logsOut() async throws -> String {
        let authorization = try locator.resolve((any AuthorizationService).self)
        let orders: Resource<[String]> = resources.resource("orders")
        authorization.setAuthorization(try .bearer("a-token"))
        let own = try await orders.loadIfNeeded()
        let hadToken = api.staging.requests.last?.header("Authorization") != nil
        let before = api.staging.requestCount

        await authorization.clearAuthorization()
        let shown = try await [left.next("wiped"), right.next("wiped")]
        let sent = api.staging.requestCount - before
        try promise(
            hadToken && !own.isEmpty && orders.content == nil && shown[0].isEmpty && sent == 0,
            "a logout removes what was loaded")
        return "“\(own.joined(separator: ", "))” of the logged-in account and the basket were removed;"
            + " \(sent) requests were sent for that"
    }
}

/// A screen that shows a basket. It stands for a part of a user interface.
final class BasketScreen {
    private var changes: ValueSequence<ResourceChange<Basket>>.AsyncIterator

    init(_ basket: Resource<Basket>) { changes = basket.changes().makeAsyncIterator() }

    /// Waits for an event, and returns what the screen shows after it.
    func next(_ event: String) async throws(BrokenPromise) -> String {
        while let change = await changes.next() {
            guard change.event.name == event else { continue }
            return change.state.content?.items.joined(separator: ", ") ?? ""
        }
        throw BrokenPromise(text: "a screen receives the event “\(event)”")
    }
}

/// Registers the services of the application, with one that keeps resources.
///
/// - Parameters:
///   - environment: The environment, which can be changed while the application runs.
///   - pins: The public keys of the servers.
///   - anchors: The trusted authorities; `.system` for a server on the Internet.
func bootstrapResources(
    environment: MutableEnvironment, pins: [Pin], anchors: TrustAnchors
) throws -> ServiceLocator {
    let locator = ServiceLocator(name: "app")
    try locator.register(environment, as: (any EnvironmentService).self)
    let requests = try HTTPDataRequestService(
        environment: environment, trust: TrustPolicy(pins: pins, anchors: anchors))
    try locator.register(requests, as: (any DataRequestService).self, (any AuthorizationService).self)
    try locator.registerLazy((any ResourceService).self) { locator in
        try HTTPResourceService(
            requests: locator.resolve((any DataRequestService).self),
            environment: locator.resolve((any EnvironmentService).self))
    }
    return locator
}

import Dispatch
import EssentialsTestKit
import ServiceEssentials

/// The steps of the demonstration. Each step does what application code does, and returns a line that describes it.
struct Demo: Demonstration {
    let api: DemoAPI
    let locator: ServiceLocator

    init(api: DemoAPI) throws {
        self.api = api
        locator = try bootstrap(baseURL: api.server.url + "/v1/", pins: api.pins, anchors: api.anchors)
    }

    var steps: [DemoStep] {
        [
            DemoStep(name: "bootstrap", run: bootstrapped), DemoStep(name: "get", run: getsAModel),
            DemoStep(name: "post", run: postsAModel),
            DemoStep(name: "scope and double", run: coversAServiceForOneWorkflow),
            DemoStep(name: "weak proxy", run: lendsACart), DemoStep(name: "cancel", run: cancelsARequest),
            DemoStep(name: "wrong key", run: refusesAnotherKey),
        ]
    }

    /// Registering creates nothing: no connection is opened before the first request.
    private func bootstrapped() throws -> String {
        let environment = try locator.resolve((any EnvironmentService).self)
        try promise(api.server.connectionCount == 0, "nothing connects before the first request")
        return "the locator “\(locator.name)” leads to \(environment.baseURL), with \(api.pins.count) pins"
            + " and \(api.server.connectionCount) connections"
    }

    /// Resolving the service creates it; the response is decoded as a model.
    private func getsAModel() async throws -> String {
        let user = try await firstUser(locator)
        try promise(api.server.requestCount == 1, "one request is sent")
        return "users/1 is \(user.name), after \(api.server.requestCount) request"
            + " over \(api.server.handshakes.last?.version ?? "no TLS")"
    }

    /// A model is sent as JSON, and the response is decoded as another one.
    private func postsAModel() async throws -> String {
        let requests = try locator.resolve((any DataRequestService).self)
        let created: User = try await requests.post("users", body: NewUser(name: "Grace Hopper"))
        let sent = api.server.requests.last
        try promise(sent?.method == "POST" && created.name == "Grace Hopper", "the server reads what was posted")
        return "the server received \(sent?.bodyText ?? "nothing") and made user \(created.id), \(created.name),"
            + " over \(api.server.connectionCount) connection in all"
    }

    /// A scope overrides one service for one workflow and takes all others from its parent. It is closed at the end.
    private func coversAServiceForOneWorkflow() async throws -> String {
        let requestsBefore = api.server.requestCount
        let inside = try await locator.withScope("checkout") { checkout in
            // The usual service, but over a scripted transport.
            let transport = ScriptedTransport()
            transport.on(.get, "/v1/users/1").answer(json: User(id: 7, name: "a double"))
            let double = try HTTPDataRequestService(
                environment: MutableEnvironment("https://double.test/v1/"), transport: transport)
            try checkout.register(double, as: (any DataRequestService).self)
            let user = try await firstUser(checkout)
            try transport.verify()
            return user
        }
        let sentInside = api.server.requestCount - requestsBefore
        let outside = try await firstUser(locator)
        try promise(sentInside == 0 && inside != outside, "the double is used inside of the workflow only")
        return "in “checkout” users/1 is \(inside.name) (\(sentInside) requests),"
            + " in “\(locator.name)” \(outside.name)"
    }

    /// The locator hands out a proxy, so that no other part of the program keeps the workflow's cart alive.
    private func lendsACart() throws -> String {
        let (badge, items) = try shop()
        do {
            try badge.add("too late")
        } catch let error as ServiceLocatorError {
            let registered = try locator.resolveOptional((any CartService).self)
            try promise(error.reason == .serviceGone && registered == nil, "the cart is released with its workflow")
            return "the cart held \(items) during its workflow; afterwards its proxy throws “\(error.reason)”"
        }
        throw BrokenPromise(text: "the cart is released with its workflow")
    }

    /// Runs a workflow with a cart. Returns the proxy that another part of the program received, and the items it saw.
    private func shop() throws -> (cart: any CartService, items: String) {
        let cart = Cart()
        try locator.registerWeakProxy(cart, as: (any CartService).self) { CartServiceProxy($0) }
        let badge = try locator.resolve((any CartService).self)
        cart.add("a book")
        try badge.add("a pen")
        return (badge, try badge.items.joined(separator: " and "))
    }

    /// A completion handler runs on the application's queue, and a token cancels the request
    /// before the server responds.
    private func cancelsARequest() async throws -> String {
        let requests = try locator.resolve((any DataRequestService).self)
        let queue = DispatchQueue(label: "app.reports")
        let (results, handler) = AsyncStream<Result<Report, RequestFailure>>.makeStream()

        let token = requests.get("report", deserializeTo: Report.self, completionQueue: queue) { result in
            dispatchPrecondition(condition: .onQueue(queue))
            handler.yield(result)
            handler.finish()
        }
        await api.reportRequested.opened()
        token.cancel()

        var iterator = results.makeAsyncIterator()
        let result = await iterator.next()
        api.reportReleased.open()
        guard case .failure(let failure) = result else { throw BrokenPromise(text: "a cancelled request fails") }
        try promise(failure.reason == .cancelled, "the failure is “cancelled”")
        return "the handler received “\(failure.reason)” while the server held its reply back"
    }

    /// The server has a certificate of the same authority for the same host, but with a key that is not pinned.
    private func refusesAnotherKey() async throws -> String {
        let misled = try bootstrap(baseURL: api.impostor.url + "/v1/", pins: api.pins, anchors: api.anchors)
        do {
            _ = try await firstUser(misled)
        } catch let failure as RequestFailure {
            let seen = api.impostor.applicationBytesReceived
            try promise(failure.reason == .pinMismatch && seen == 0, "nothing is sent to a server with another key")
            return "“\(failure.reason)” in the phase “\(failure.phase)”; the server saw \(seen) bytes of the request"
        }
        throw BrokenPromise(text: "another key is refused")
    }
}

extension Demo {
    /// Typical application code: it resolves the service from the locator that it was given.
    private func firstUser(_ locator: ServiceLocator) async throws -> User {
        try await locator.resolve((any DataRequestService).self).get("users/1")
    }
}

/// Registers all services of the application, once at its start. No other code names concrete services.
///
/// Nothing is created yet. The request service, with its thread and its connections, is created
/// when it is first resolved.
///
/// - Parameters:
///   - baseURL: The base URL of the API.
///   - pins: The public key of the API's server and a backup.
///   - anchors: The trusted authorities; `.system` for a server on the Internet.
func bootstrap(baseURL: String, pins: [Pin], anchors: TrustAnchors) throws -> ServiceLocator {
    let locator = ServiceLocator(name: "app")
    try locator.register(ConstantEnvironment(baseURL), as: (any EnvironmentService).self)
    try locator.registerLazy((any DataRequestService).self) { locator in
        try HTTPDataRequestService(
            environment: locator.resolve((any EnvironmentService).self),
            trust: TrustPolicy(pins: pins, anchors: anchors))
    }
    return locator
}

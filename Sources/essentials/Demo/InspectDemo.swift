import Dispatch
import EssentialsHTTP
import EssentialsInspector
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import ServiceEssentials

/// `essentials demo --inspect`: a program that sends requests to the server of the demonstration, and its inspector's page.
///
/// A program of a user has the page from `InspectorServer`, or from the server that it is. This one uses the server of the test
/// kit, which suits a demonstration only.
struct InspectDemo {
    /// The pause between two rounds of requests.
    private static let pause = Duration.milliseconds(700)

    private let api: DemoAPI
    private let locator: ServiceLocator
    private let requests: any DataRequestService
    private let resources: any ResourceService
    private let routes: InspectorRoutes
    private let pages: LoopbackServer

    init(api: DemoAPI) throws {
        self.api = api
        locator = ServiceLocator(name: "demo")
        try locator.register(Inspector(program: "essentials demo", bodyLimit: 4_096), as: Inspector.self)
        try locator.register(ConstantEnvironment(api.server.url + "/v1/"), as: (any EnvironmentService).self)
        try locator.registerLazy((any DataRequestService).self) { locator in
            var configuration = HTTPDataRequestService.Configuration()
            configuration.observers = [try locator.resolve(Inspector.self)]
            configuration.cache = ResponseCache()
            configuration.limits = OriginLimits(concurrency: 4)
            configuration.retry = .attempts(2)
            return try HTTPDataRequestService(
                environment: locator.resolve((any EnvironmentService).self),
                trust: TrustPolicy(pins: api.pins, anchors: api.anchors), configuration: configuration)
        }
        try locator.registerLazy((any ResourceService).self) { locator in
            var configuration = HTTPResourceService.Configuration()
            configuration.observers = [try locator.resolve(Inspector.self)]
            return try HTTPResourceService(
                requests: locator.resolve((any DataRequestService).self),
                environment: locator.resolve((any EnvironmentService).self), configuration: configuration)
        }
        requests = try locator.resolve((any DataRequestService).self)
        resources = try locator.resolve((any ResourceService).self)
        let routes = InspectorRoutes(try locator.resolve(Inspector.self), of: locator)
        self.routes = routes
        pages = try LoopbackServer { Self.reply(to: $0, from: routes) }
    }

    /// Sends requests until the task is cancelled.
    func run() async throws(RequestFailure) {
        try StandardStream.output.write("inspector: \(pages.url)\(routes.address)\n")
        let user: Resource<User> = resources.resource("users/1")
        let observation = user.observe { _ in }
        while !Task.isCancelled {
            await sendSome(user)
            try? await Task.sleep(for: Self.pause)
        }
        observation.cancel()
        api.reportReleased.open()
        // The pages that follow end with the locator.
        await locator.close()
        // A server waits for its threads, and these for tasks, so it is stopped where no task runs.
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [pages] in
                pages.stop()
                continuation.resume()
            }
        }
    }

    private func sendSome(_ user: Resource<User>) async {
        _ = try? await user.load()
        async let one = try? requests.send(DataRequest(.get, "users/1"))
        async let other = try? requests.send(DataRequest(.get, "users/2"))
        async let created = try? requests.send(DataRequest(.post, "users", body: .model(NewUser(name: "Grace Hopper"))))
        // The server waits before this response, which is cancelled meanwhile.
        let slow = Task { try await requests.send(DataRequest(.get, "slow")) }
        _ = await (one, other, created)
        slow.cancel()
        _ = try? await slow.value
    }

    // MARK: Pages

    /// Responds on the thread of a connection, which waits meanwhile.
    private static func reply(to request: ServerRequest, from routes: InspectorRoutes) -> ServerReply {
        var head = HTTPRequest(
            // An invalid method becomes one that the routes refuse.
            method: HTTPRequest.Method(request.method) ?? .put, scheme: "http", authority: request.header("Host"),
            path: request.target)
        for (name, value) in request.headers {
            if let name = HTTPField.Name(name) { head.headerFields.append(HTTPField(name: name, value: value)) }
        }
        guard let response = waited({ [head] in await routes.respond(to: head) }) else { return .close }
        let fields = response.head.headerFields.map { ($0.name.rawName, $0.value) }
        switch response.body {
        case .bytes(let bytes): return .response(status: response.head.status.code, headers: fields, body: bytes)
        case .events(let events):
            let iterator = SharedIterator(events)
            return .raw([
                .head(status: response.head.status.code, headers: fields + [("Connection", "close")]),
                .sendWhile { waited { await iterator.next() } ?? nil },
            ])
        }
    }

    /// Waits on the thread of a connection for what a task returns.
    private static func waited<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) -> Value? {
        let (result, done) = (Returned<Value>(), DispatchSemaphore(value: 0))
        Task {
            let value = await work()
            result.value.withLock { $0 = value }
            done.signal()
        }
        done.wait()
        return result.value.withLock { $0 }
    }
}

/// What a task returns to a thread.
private final class Returned<Value: Sendable>: Sendable {
    let value = Mutex<Value?>(nil)
}

/// The events of a page, which the thread of its connection takes one after another.
private actor SharedIterator {
    private var iterator: InspectorEvents.AsyncIterator

    init(_ events: InspectorEvents) { iterator = events.makeAsyncIterator() }

    func next() async -> [UInt8]? {
        var copy = iterator
        let text = await copy.next()
        iterator = copy
        return text
    }
}

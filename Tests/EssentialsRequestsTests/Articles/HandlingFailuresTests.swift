import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("The article HandlingFailures")
struct HandlingFailuresTests {
    private struct User: Codable, Hashable, Sendable {
        var id: Int
        var name: String
    }

    private struct Problem: Codable, Sendable {
        var title: String
    }

    private struct Order: Codable, Sendable {
        var article = 7
    }

    /// Collects what the article's code shows.
    private final class Screen: Sendable {
        private let texts = Mutex<[String]>([])
        var shown: [String] { texts.withLock { $0 } }
        func show(_ text: String) { texts.withLock { $0.append(text) } }
    }

    private let transport = ScriptedTransport()

    private func service() throws -> any DataRequestService {
        transport.on(.get, "/v1/users/1").answer(json: User(id: 1, name: "Grace"))
        transport.on(.get, "/v1/users/99").answer(.notFound, json: Problem(title: "There is no such user."))
        return HTTPDataRequestService(
            environment: try ConstantEnvironment("https://api.test/v1/"), transport: transport)
    }

    @Test(
        "The article on failures tells an order that was not sent from one that may have arrived",
        arguments: [
            (RequestFailure(.interrupted, "", phase: .waiting), "The order may have arrived."),
            (RequestFailure(.connection, "", remedy: "Wait.", phase: .connect), "The order was not sent. Wait."),
            (RequestFailure(.status, "", phase: .receiving), "The order was refused."),
        ])
    func orders(failure: RequestFailure, expected: String) async throws {
        let requests = try service()
        transport.on(.post, "/v1/orders").answer(.failure(failure))
        let order = Order()
        var shown: [String] = []
        func show(_ text: String) { shown.append(text) }

        // Article begins
        do throws(RequestFailure) {
            try await requests.post("orders", body: order)
        } catch {
            switch (error.reason, error.phase) {
            case (.status, _): show("The order was refused.")
            case (_, .sending), (_, .waiting), (_, .receiving):
                show("The order may have arrived.")
            default: show("The order was not sent. \(error.remedy ?? "")")
            }
        }
        // Article ends
        #expect(shown == [expected])
    }

    @Test("The article on failures shows the error model of a server")
    func errorModel() async throws {
        let requests = try service()
        var shown: [String] = []
        func show(_ text: String) { shown.append(text) }

        // Article begins
        var request = DataRequest(.get, "users/99")
        // or configuration.errorModel, for all requests
        request.errorModel = Problem.self
        do throws(RequestFailure) {
            show(try await requests.model(of: request, as: User.self).name)
        } catch {
            show(error.errorModel(as: Problem.self)?.title ?? error.message)
        }
        // Article ends
        #expect(shown == ["There is no such user."])
    }

    @Test("The article on failures shows the bodies of a response and of a failure as text")
    func text() async throws {
        let requests = try service()
        transport.on(.get, "/v1/users/99/notes").answer(text: "Milk").thenAnswer(.gone, text: "The user has left.")
        var shown: [String] = []
        func show(_ text: String) { shown.append(text) }

        for _ in 0..<2 {
            // Article begins
            do throws(RequestFailure) {
                show(try await requests.get("users/99/notes", as: String.self))
            } catch {
                let body = error.response?.body ?? Data()
                show(String(decoding: body, as: UTF8.self))
            }
            // Article ends
        }
        #expect(shown == ["Milk", "The user has left."])
    }

    @Test("The article on failures shows two ways to read a resource that may be missing")
    func missing() async throws {
        let requests = try service()
        transport.on(.get, "/v1/users/1/deputy").answer(.notFound)
        transport.on(.get, "/v1/users/7").answer(.forbidden)

        // Article begins
        func user(_ number: Int) async throws(RequestFailure) -> User? {
            do throws(RequestFailure) {
                return try await requests.get("users/\(number)", as: User.self)
            } catch {
                guard error.reason == .status,
                    error.response?.head.status == .notFound
                else { throw error }
                return nil
            }
        }
        // Article ends
        #expect(try await user(1)?.name == "Grace")
        #expect(try await user(99) == nil)
        let refused = await #expect(throws: RequestFailure.self) { try await user(7) }
        #expect(refused?.response?.head.status == .forbidden)

        // Article begins
        let deputy: User? = try await requests.get(
            "users/1/deputy", expecting: [200...299, 404...404])
        // Article ends
        #expect(deputy == nil)
        let failure = await #expect(throws: RequestFailure.self) {
            try await requests.get("users/99", expecting: [200...299, 404...404], as: User?.self)
        }
        #expect(failure?.reason == .decoding)
    }

    @Test("The article on failures shows three ways to catch a typed error in a closure")
    func closures() async throws {
        let requests = try service()
        var shown: [String] = []
        func show(_ text: String) { shown.append(text) }

        // Article begins
        let reading = Task {
            do throws(RequestFailure) {
                return try await requests.get("users/1", as: User.self).name
            } catch {
                return error.reason == .closed ? "closed" : error.message
            }
        }
        // Article ends
        #expect(await reading.value == "Grace")

        // Article begins
        let read = { (path: String) async throws(RequestFailure) -> User in
            try await requests.get(path)
        }
        do {
            show(try await read("users/99").name)
        } catch {
            show(error.reason.name)
        }
        // Article ends
        #expect(shown == ["status"])

        // Article begins
        func name(of number: Int) async throws(RequestFailure) -> String {
            let user: User = try await requests.get("users/\(number)")
            return user.name
        }
        // Article ends
        #expect(try await name(of: 1) == "Grace")
    }

    @Test("The article on failures shows bootstrap code that tells errors of the locator from errors of requests")
    func bootstrap() async throws {
        let screen = Screen()
        @Sendable func show(_ text: String) { screen.show(text) }

        // Article begins
        func start(with locator: ServiceLocator) async -> Bool {
            do {
                let requests = try locator.resolve((any DataRequestService).self)
                let user: User = try await requests.get("users/1")
                show("Hello, \(user.name).")
                return true
            } catch let error as ServiceLocatorError {
                show("The program is not set up. \(error.message)")
            } catch let error as RequestFailure {
                let remedy = error.remedy ?? ""
                show("The server did not help. \(error.message) \(remedy)")
            } catch {
                show("\(error)")
            }
            return false
        }
        // Article ends

        let locator = ServiceLocator(name: "app")
        #expect(await !start(with: locator))
        let requests = try service()
        try locator.register(requests, as: (any DataRequestService).self)
        #expect(await start(with: locator))
        transport.on(.get, "/v1/users/1").answer(.serviceUnavailable)
        #expect(await !start(with: locator))

        let broken = ServiceLocator(name: "broken")
        try broken.registerLazy((any DataRequestService).self) { _ in
            try HTTPDataRequestService(
                environment: ConstantEnvironment("https://api.test/v1/"),
                trust: TrustPolicy(contentsOfFile: "/nowhere/pins.json"))
        }
        #expect(await !start(with: broken))
        let thrown = #expect(throws: ServiceLocatorError.self) { try broken.resolve((any DataRequestService).self) }
        let error = try #require(thrown)
        #expect(error.reason == .constructionFailed)
        // Article begins
        let cause = error.rootCause as? RequestFailure
        show(cause?.remedy ?? error.message)
        // Article ends
        #expect(cause?.reason == .file)

        try #require(screen.shown.count == 5)
        #expect(screen.shown[4] == cause?.remedy)
        #expect(screen.shown[0].hasPrefix("The program is not set up. "))
        #expect(screen.shown[1] == "Hello, Grace.")
        #expect(screen.shown[2].hasPrefix("The server did not help. "))
        #expect(screen.shown[3].contains("/nowhere/pins.json"))
    }
}

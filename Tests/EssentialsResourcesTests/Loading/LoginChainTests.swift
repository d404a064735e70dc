import EssentialsHTTP
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit
import EssentialsTools
import TestTools
import Testing

/// The login by hand: a request that is refused is followed by a login and repeated.
@Suite("Resource: login by chained requests", .leavesNothing, .timeLimit(.minutes(5)))
struct LoginChainTests {
    /// The token of the client. Requests that are refused at the same time log in once.
    private actor Session {
        private(set) var token = "old"
        private(set) var logins = 0
        private(set) var callers = 0
        private var renewal: Task<String?, Never>?

        func logIn(by request: ResourceRequest<String>) async {
            callers += 1
            let renewal = renewal ?? Task { try? await request.content }
            if self.renewal == nil {
                self.renewal = renewal
                logins += 1
            }
            if let token = await renewal.value { self.token = token }
            self.renewal = nil
        }
    }

    /// The tokens of the server.
    private final class Backend: Sendable {
        private let valid = Mutex("1")
        let loginLatch = Latch()

        func expire() { valid.withLock { $0 += "1" } }

        func answer(_ request: RecordedRequest) -> ScriptedAnswer {
            let isAllowed = request.headerFields[.authorization] == "Bearer " + valid.withLock { $0 }
            return isAllowed ? ScriptedAnswer(text: String(request.url.path)) : ScriptedAnswer(.unauthorized)
        }

        func login() async -> ScriptedAnswer {
            await loginLatch.wait()
            return ScriptedAnswer(text: valid.withLock { $0 })
        }
    }

    private let fixture: ResourceFixture
    private let session = Session()
    private let backend = Backend()

    init() throws {
        fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/*").answer { [backend] in backend.answer($0) }
        fixture.transport.on(.post, "/v1/login").answer { [backend] _ in await backend.login() }
        try fixture.service.configure("/*", methods: [.get]) { [session] in
            $0.mutate { $0.headerFields[.authorization] = "Bearer \(await session.token)" }
        }
    }

    private func sent(_ method: HTTPRequest.Method) -> [String] {
        fixture.transport.requests.filter { $0.method == method }.map { String($0.url.path) }
    }

    /// A request that logs in and is repeated if it is refused.
    private func authorized(_ name: String) -> ResourceRequest<String> {
        let item: Resource<String> = fixture.service.resource(name)
        let login: Resource<String> = fixture.service.resource("login")
        let request = item.loadRequest()
        return request.chained { [session] outcome in
            guard case .failure(let failure) = outcome, failure.status == .unauthorized else { return .keep }
            await session.logIn(by: login.request(.post))
            return .pass(to: request.repeated())
        }
    }

    @Test("Requests that are refused at the same time log in once, and are each repeated with the new token")
    func together() async throws {
        let chains = ["a", "b", "c"].map { authorized($0).start() }
        while await session.callers < 3 { await Task.yield() }
        backend.loginLatch.open()
        for (chain, name) in zip(chains, ["a", "b", "c"]) { #expect(try await chain.content == "/v1/\(name)") }
        #expect(await session.logins == 1)
        #expect(sent(.post) == ["/v1/login"])
        #expect(sent(.get).sorted() == ["/v1/a", "/v1/a", "/v1/b", "/v1/b", "/v1/c", "/v1/c"])
        // The next one is sent with the new token at once.
        #expect(try await authorized("d").content == "/v1/d")
        #expect(sent(.get).count == 7)
    }

    @Test("A chain that is repeated after its token has expired logs in again")
    func repeated() async throws {
        backend.loginLatch.open()
        let chain = authorized("a")
        #expect(try await chain.content == "/v1/a")
        #expect(try await chain.repeated().content == "/v1/a")
        #expect(await session.logins == 1)
        backend.expire()
        #expect(try await chain.repeated().content == "/v1/a")
        #expect(await session.logins == 2)
        #expect(sent(.get).count == 5)
    }

    @Test("A chain that is cancelled while it logs in sends nothing afterwards")
    func cancelled() async throws {
        let item: Resource<String> = fixture.service.resource("a")
        let login: Resource<String> = fixture.service.resource("login")
        let second = item.request(.get, as: String.self)
        let chain = item.loadRequest().chained { [session] _ in
            await session.logIn(by: login.request(.post))
            return .pass(to: second)
        }.start()
        while await session.callers < 1 { await Task.yield() }
        chain.cancel()
        #expect(chain.isCompleted)
        backend.loginLatch.open()
        while !second.isCompleted { await Task.yield() }
        await #expect(throws: RequestFailure(.cancelled, "")) { try await chain.content }
        #expect(sent(.get) == ["/v1/a"])
    }

    @Test("A login as another account is followed by its partition, which shows nothing of the previous account")
    func partition() async throws {
        backend.loginLatch.open()
        let item: Resource<String> = fixture.service.resource("a")
        fixture.service.enter("ada")
        item.override(with: "of Ada")
        let (service, chain) = (fixture.service, authorized("a"))
        let request = chain.chained { outcome in
            service.enter("bob")
            return .keep
        }
        #expect(try await request.content == "/v1/a")
        #expect(service.partition == "bob")
        // A repeated load does not change the state.
        #expect(item.content == nil)
        #expect(try await item.loadIfNeeded() == "/v1/a")
    }
}

import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@testable import EssentialsRequests

@Suite("Joining by request", .timeLimit(.minutes(5)))
struct RequestJoiningTests {
    /// Sends equal requests at the same time, and returns how often the transport was called.
    private func exchanges(
        _ requests: [DataRequest], expected: Int, _ change: (inout HTTPDataRequestService.Configuration) -> Void
    ) async throws -> Int {
        let gate = LoopbackGate()
        let transport = StubTransport { _ throws(RequestFailure) in
            await gate.opened()
            return TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data("{}".utf8)))
        }
        let service = try ServiceFixture(transport, change).service
        let tasks = requests.map { request in Task { try await service.send(request) } }
        let joining = requests.filter { service.settings.joins($0.joins) }.count
        await until {
            service.settings.joins?.usage.waiters ?? 0 == joining && transport.requests.count >= expected
        }
        gate.open()
        for task in tasks { #expect(try await task.value.status == .ok) }
        return transport.requests.count
    }

    private func request(joins: Bool?) -> DataRequest {
        var request = DataRequest(.get, "a")
        request.joins = joins
        return request
    }

    @Test(
        "A request's own word about joining wins over the service's",
        arguments: [
            (false, [nil, nil], 2), (false, [true, true], 1), (false, [true, true, nil], 2),
            (true, [nil, nil], 1), (true, [false, false], 2), (true, [nil, true, false], 2), (true, [nil, true], 1),
        ] as [(Bool, [Bool?], Int)])
    func precedence(service: Bool, requests: [Bool?], expected: Int) async throws {
        let count = try await exchanges(requests.map(request), expected: expected) {
            $0.joins = service
        }
        #expect(count == expected)
    }

    @Test("An interceptor that prevents joining wins over a request that wants to join")
    func prevented() async throws {
        struct Signer: RequestInterceptor {
            var preventsJoining: Bool { true }
        }
        let requests = [request(joins: true), request(joins: true)]
        #expect(try await exchanges(requests, expected: 2) { $0.interceptors = [Signer()] } == 2)
    }

    @Test("A builder and a definition say whether a request joins")
    func builders() throws {
        #expect(try RequestBuilder(.get, "a").build().joins == nil)
        #expect(try RequestBuilder(.get, "a").joining().build().joins == true)
        #expect(try RequestBuilder(.get, "a").joining(false).build().joins == false)
        var configuration = APIConfiguration()
        configuration.joins = true
        #expect(try ShopAPI.Users.getAll.setting(configuration).build().joins == true)
    }

    @Test("Requests to a foreign server whose environments have different cookies do not join")
    func foreignCookies() async throws {
        let gate = LoopbackGate()
        let transport = StubTransport { request throws(RequestFailure) in
            await gate.opened()
            return TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data("{}".utf8)))
        }
        let service = try ServiceFixture(transport).service
        let url = try RequestURL("https://other/v1/")
        let requests = ["ada", "bob"].map { user in
            let jar = CookieJar()
            jar.store("user=\(user); Path=/", from: url)
            var settings = RequestSettings()
            settings.cookies = .storage(jar)
            var request = request(joins: true)
            request.base = RequestBase(EnvironmentSnapshot(baseURL: url, settings: settings))
            return request
        }
        let tasks = [requests[0], requests[1], requests[1]].map { request in
            Task { try await service.send(request) }
        }
        await until { service.settings.joins?.usage.waiters == 3 }
        gate.open()
        for task in tasks { _ = try await task.value }
        #expect(Set(transport.requests.map { $0.headerFields[.cookie] }) == ["user=ada", "user=bob"])
        #expect(transport.requests.count == 2)
    }

    @Test("A request after the credentials were cleared shares no exchange from before, even while stores are cleared")
    func cleared() async throws {
        /// A store that lets a test act while it is cleared.
        final class SlowStore: PrivateStateStore {
            let (begun, gate) = (LoopbackGate(), LoopbackGate())

            func clearPrivateState(of origin: Origin) async {
                begun.open()
                await gate.opened()
            }
        }
        let gate = LoopbackGate()
        let transport = StubTransport { request throws(RequestFailure) in
            await gate.opened()
            return TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data("{}".utf8)))
        }
        let (jar, store) = (CookieJar(), SlowStore())
        jar.store("sid=1; Path=/", from: try RequestURL("https://h/v1/a"))
        let service = try ServiceFixture(transport) {
            $0.cookies = jar
            $0.privateState = [store]
        }.service
        let joining = request(joins: true)
        let before = Task { try await service.send(joining) }
        await until { transport.requests.count == 1 }
        let clearing = Task { await service.clearAuthorization() }
        await store.begun.opened()
        let after = Task { try await service.send(joining) }
        await until { service.settings.joins?.usage.waiters == 2 }
        gate.open()
        store.gate.open()
        await clearing.value
        _ = try await (before.value, after.value)
        #expect(transport.requests.map { $0.headerFields[.cookie] } == ["sid=1", nil])
    }

    @Test("A request after a store was cleared shares no exchange from before, and those after it share theirs")
    func clearedStore() async throws {
        let gate = LoopbackGate()
        let transport = StubTransport { request throws(RequestFailure) in
            await gate.opened()
            return TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data("{}".utf8)))
        }
        let service = try ServiceFixture(transport).service
        let joining = request(joins: true)
        let before = Task { try await service.send(joining) }
        await until { transport.requests.count == 1 }
        service.separateRequests()
        let after = (0..<2).map { _ in Task { try await service.send(joining) } }
        await until { service.settings.joins?.usage.waiters == 3 }
        gate.open()
        _ = try await before.value
        for task in after { _ = try await task.value }
        #expect(transport.requests.count == 2)
    }

    @Test("An unsafe request separates requests that join by themselves")
    func separated() async throws {
        let gate = LoopbackGate()
        let transport = StubTransport { request throws(RequestFailure) in
            if request.method == .get { await gate.opened() }
            return TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data("{}".utf8)))
        }
        let service = try ServiceFixture(transport).service
        let joining = request(joins: true)
        let before = Task { try await service.send(joining) }
        await until { transport.requests.count == 1 }
        try await service.send(DataRequest(.put, "a"))
        let after = Task { try await service.send(joining) }
        await until { transport.requests.count == 3 }
        gate.open()
        _ = try await (before.value, after.value)
        #expect(transport.requests.map(\.method) == [.get, .put, .get])
    }
}

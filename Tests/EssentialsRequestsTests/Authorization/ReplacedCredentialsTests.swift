import Dispatch
import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@testable import EssentialsRequests

/// What begins on one thread while another one sets or clears credentials.
@Suite("Credentials that are replaced meanwhile", .timeLimit(.minutes(5))) struct ReplacedCredentialsTests {
    private let ada: Credentials
    private let bob: Credentials

    init() throws { (ada, bob) = (try .bearer("ada"), try .bearer("bob")) }

    /// Runs two closures at the same time, on threads of their own.
    private func race(_ one: @escaping @Sendable () -> Void, _ other: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            DispatchQueue(label: "race").async {
                DispatchQueue.concurrentPerform(iterations: 2) { $0 == 0 ? one() : other() }
                continuation.resume()
            }
        }
    }

    @Test("A request with a completion handler is sent with the credentials of its call, not with later ones")
    func handler() async throws {
        for _ in 0..<50 {
            let fixture = try ServiceFixture()
            let service = fixture.service
            service.setAuthorization(ada)
            let failure = await withCheckedContinuation { (continuation: CheckedContinuation<RequestFailure?, Never>) in
                service.send(DataRequest(.put, "profile")) { (result: Result<DataResponse, RequestFailure>) in
                    if case .failure(let failure) = result {
                        continuation.resume(returning: failure)
                    } else {
                        continuation.resume(returning: nil)
                    }
                }
                service.setAuthorization(bob)
            }
            // It was sent before the change, or not at all.
            #expect(failure == nil || failure?.reason == .authorization)
            #expect(fixture.transport.requests.allSatisfy { $0.headerFields[.authorization] == "Bearer ada" })
        }
    }

    @Test("A request with a completion handler is sent in the environment of its call")
    func handlerEnvironment() async throws {
        let environment = try MutableEnvironment("https://a/")
        let fixture = ServiceFixture(environment: environment)
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            fixture.service.send(DataRequest(.put, "x")) { (_: Result<DataResponse, RequestFailure>) in
                continuation.resume()
            }
            #expect((try? environment.set(baseURL: "https://b/")) != nil)
        }
        #expect(fixture.transport.requests.allSatisfy { $0.url.origin.host.text == "a" })
    }

    @Test("A handler that is resumed later belongs to the credentials of that moment")
    func resumedHandler() async throws {
        let fixture = try ServiceFixture()
        let (service, bob) = (fixture.service, bob)
        service.setAuthorization(ada)
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let token = service.send(DataRequest(.get, "x"), autoResume: false) {
                (_: Result<DataResponse, RequestFailure>) in
                continuation.resume()
            }
            service.setAuthorization(bob)
            token.resume()
        }
        #expect(try fixture.last().headerFields[.authorization] == "Bearer bob")
    }

    @Test("What began without credentials does not take an account back to a time that never ends")
    func earlierScope() async throws {
        let service = try ServiceFixture().service
        let early = service.operation()
        #expect(early.admits("alice"))
        service.setAuthorization(ada)
        service.enter("alice")
        // The operation that began before goes on, until others come.
        #expect(!early.hasEnded && early.admits("alice"))
        service.setAuthorization(bob)
        #expect(early.hasEnded && !early.admits("alice"))
        #expect(!service.operation().admits("alice"))
        service.enter("alice")
        #expect(service.operation().admits("alice"))
    }

    @Test("Pages that began without credentials are read with those that followed, and not with the next ones")
    func pages() async throws {
        let transport = StubTransport { request throws(RequestFailure) in
            TransportResponse(
                HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"]),
                body: ResponseBody(Data("[1]".utf8)))
        }
        let fixture = try ServiceFixture(transport)
        let early = fixture.service.operation()
        fixture.service.setAuthorization(ada)
        _ = try await fixture.service.send(DataRequest(.get, "a").bound(to: early))
        #expect(try fixture.last().headerFields[.authorization] == "Bearer ada")
        fixture.service.setAuthorization(bob)
        let failure = await #expect(throws: RequestFailure.self) {
            try await fixture.service.send(DataRequest(.get, "a").bound(to: early))
        }
        #expect(failure?.reason == .authorization)
        #expect(transport.requests.count == 1)
    }

    @Test("An account that another thread uses while credentials are replaced is suspended by them")
    func suspension() async throws {
        let origin = try RequestURL("https://h/v1/").origin
        for round in 0..<500 {
            let service = try ServiceFixture().service
            service.setAuthorization(ada)
            service.enter("alice")
            let bob = bob
            await race {
                if round % 2 == 0 { service.setAuthorization(bob) } else { _ = service.authorization.clear(origin) {} }
            } _: {
                for _ in 0..<20 { _ = service.operation().admits("alice") }
            }
            #expect(!service.operation().admits("alice"), "round \(round)")
        }
    }

    @Test("No request is sent with the credentials of one user and the cookies of another")
    func cookies() async throws {
        for _ in 0..<200 {
            let jar = CookieJar()
            let fixture = try ServiceFixture { $0.cookies = jar }
            let (service, bob) = (fixture.service, bob)
            service.setAuthorization(ada)
            jar.store("session=ada; Path=/", from: try RequestURL("https://h/"))
            async let change: Void = race {
                service.setAuthorization(bob)
            } _: {
            }
            for _ in 0..<5 { _ = try? await service.send(DataRequest(.get, "x")) }
            await change
            for request in fixture.transport.requests where request.headerFields[.authorization] == "Bearer bob" {
                #expect(request.headerFields[.cookie] == nil)
            }
        }
    }

    @Test("Threads that set different credentials at the same time leave one of them, and end the others")
    func several() async throws {
        for _ in 0..<200 {
            let service = try ServiceFixture().service
            service.setAuthorization(ada)
            let first = service.operation()
            let scopes = Mutex<[OperationContext]>([])
            let credentials = [bob, try .bearer("eve")]
            let set = { @Sendable (index: Int) in
                service.setAuthorization(credentials[index])
                let operation = service.operation()
                scopes.withLock { $0.append(operation) }
            }
            await race {
                set(0)
            } _: {
                set(1)
            }
            #expect(first.hasEnded)
            let last = service.operation()
            #expect(!last.hasEnded)
            #expect(scopes.withLock { $0.allSatisfy { $0.hasEnded || $0.scope === last.scope } })
        }
    }

    @Test("Nothing of the credentials stays in memory after a logout, though an account was used with them")
    func released() async throws {
        let service = try ServiceFixture().service
        weak var provider: CountingProvider?
        do {
            let strong = CountingProvider()
            provider = strong
            service.setAuthorization(.tokens(strong))
            service.enter("alice")
            _ = try await service.send(DataRequest(.get, "x"))
        }
        #expect(provider != nil)
        await service.clearAuthorization()
        #expect(!service.operation().admits("alice"))
        while provider != nil { await Task.yield() }
    }

    private final class CountingProvider: AccessTokenProvider {
        func token(replacing old: AccessToken?) async throws -> AccessToken { try AccessToken("t") }
    }

    @Test("Beyond the limit of accounts, those that are suspended stay so without being known")
    func manyAccounts() throws {
        let origin = try RequestURL("https://h/").origin
        let (other, former, present) = (try RequestURL("https://other/").origin, ScopePhase(), ScopePhase())
        var accounts = SuspendedAccounts()
        func admits(_ account: String, at origin: Origin) -> Bool { accounts.admits(account, at: origin, in: present) }
        for number in 0..<SuspendedAccounts.limit { accounts.enter("\(number)", at: origin, in: former) }
        former.end()
        #expect(!admits("7", at: origin))
        accounts.enter("one more", at: origin, in: present)
        #expect(admits("one more", at: origin))
        #expect(!admits("7", at: origin))
        #expect(admits("7", at: other))
        // Accounts that are not suspended count as never used.
        accounts = SuspendedAccounts()
        for number in 0...SuspendedAccounts.limit { accounts.enter("\(number)", at: origin, in: present) }
        #expect(admits("7", at: origin))
    }

    @Test("Credentials of a further origin end nothing of origins without credentials")
    func manyOrigins() async throws {
        let environment = try MutableEnvironment("https://h0/")
        let service = ServiceFixture(environment: environment).service
        let first = service.operation()
        for number in 1..<AuthorizationStore.limit {
            try environment.set(baseURL: "https://h\(number)/")
            _ = service.operation()
        }
        try environment.set(baseURL: "https://one-more/")
        service.setAuthorization(ada)
        #expect(!first.hasEnded)
        // It is still known where it belongs.
        try environment.set(baseURL: "https://h0/")
        await service.clearAuthorization()
        #expect(first.hasEnded)
    }
}

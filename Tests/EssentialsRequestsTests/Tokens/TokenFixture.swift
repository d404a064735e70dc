import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials

@testable import EssentialsRequests

/// A service with a token provider over a transport that accepts some tokens.
struct TokenFixture {
    /// The tokens that the transport accepts, and the challenges of its 401s.
    final class Gatekeeper: Sendable {
        private struct State {
            var accepted: Set<String>
            var challenges: [String]
        }

        private let state: Mutex<State>

        init(_ accepted: Set<String>, _ challenges: [String]) {
            state = Mutex(State(accepted: accepted, challenges: challenges))
        }

        func accept(_ tokens: Set<String>) { state.withLock { $0.accepted = tokens } }

        func response(to request: TransportRequest) -> TransportResponse {
            let (accepted, challenges) = state.withLock { ($0.accepted, $0.challenges) }
            let value = request.headerFields[.authorization] ?? ""
            guard value.hasPrefix("Bearer "), accepted.contains(String(value.dropFirst(7))) else {
                let fields = HTTPFields(challenges.map { HTTPField(name: .wwwAuthenticate, value: $0) })
                return TransportResponse(
                    HTTPResponse(status: .unauthorized, headerFields: fields), body: ResponseBody(Data("no".utf8)))
            }
            return TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data("{}".utf8)))
        }
    }

    let provider: CountingProvider
    let gatekeeper: Gatekeeper
    let transport: StubTransport
    let service: HTTPDataRequestService
    let clock: ManualClock
    let credentials: Credentials

    /// - Parameter answering: Awaited before each response.
    init(
        accepting accepted: Set<String> = ["t1"], _ challenges: [String] = ["Bearer realm=r"],
        base: String = "https://h/v1/", provider: CountingProvider = CountingProvider(),
        _ change: (inout HTTPDataRequestService.Configuration) -> Void = { _ in },
        answering: @escaping @Sendable () async -> Void = {}
    ) throws {
        let gatekeeper = Gatekeeper(accepted, challenges)
        let clock = ManualClock()
        let transport = StubTransport { request throws(RequestFailure) in
            await answering()
            return gatekeeper.response(to: request)
        }
        let fixture = try ServiceFixture(transport, base: base, change)
        self.provider = provider
        self.gatekeeper = gatekeeper
        self.transport = transport
        self.clock = clock
        service = fixture.service
        credentials = .tokens(provider, clock: clock.requestClock)
        service.setAuthorization(credentials)
    }

    /// The source of the credentials.
    var source: TokenSource {
        get throws {
            guard case .tokens(let source) = credentials.content else { throw NoSource() }
            return source
        }
    }

    /// The `Authorization` fields that were sent, without the scheme.
    var sent: [String?] {
        transport.requests.map { request in
            request.headerFields[.authorization].map { String($0.drop { $0 != " " }.dropFirst()) }
        }
    }

    struct NoSource: Error {}
}

extension TokenSource {
    /// Returns when this many requests wait for a token.
    func waitForWaiters(_ count: Int) async {
        while waiterCount < count { await Task.yield() }
    }

    /// Returns when the provider is not running.
    func waitUntilIdle() async {
        while isRefreshing { await Task.yield() }
    }
}

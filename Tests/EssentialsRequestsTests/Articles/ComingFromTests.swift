import EssentialsTestKit
import FoundationEssentials
import HTTPTypes
import ServiceEssentials
import Testing

@Suite("The article ComingFrom")
struct ComingFromTests {
    private struct User: Codable, Hashable, Sendable {
        var id: Int
        var name: String
    }

    private let transport = ScriptedTransport()

    private func service() throws -> any DataRequestService {
        HTTPDataRequestService(environment: try ConstantEnvironment("https://api.test/v1/"), transport: transport)
    }

    @Test("The article on other clients shows a request with a body, a field and a timeout")
    func request() async throws {
        let requests = try service()
        let user = User(id: 7, name: "Ada")
        transport.on(.put, "/v1/users/7", body: .json(user)).answer(.noContent)

        // Article begins
        var request = DataRequest(.put, "users/7")
        request.body = .model(user)
        request.headerFields[.ifMatch] = "\"1\""
        request.options.idleTimeout = .seconds(15)
        // throws for a status other than 200 to 299
        let response = try await requests.send(request)
        // Article ends
        #expect(response.status == .noContent)
        try transport.requests[0].expect(headerFields: [.ifMatch: "\"1\""])
    }

    @Test("The article on other clients shows a transport for any URL, whose statuses are no errors")
    func anyURL() async throws {
        let server = try LoopbackServer { request in
            request.path == "/moved"
                ? .response(status: 302, headers: [("Location", "/log")]) : .response(status: 404, body: "one\ntwo\n")
        }
        let address = server.url + "/moved"
        var shown: [String] = []
        func show(_ text: String) { shown.append(text) }

        // Article begins
        let transport = try CurlTransport()
        var request = TransportRequest(.get, try RequestURL(address))
        request.options.delivery = .streamed
        // every status
        let response = try await transport.send(request, following: .limit(5))
        for try await line in response.response.body.lines() { show(line) }
        await transport.shutdown()
        // Article ends
        #expect(response.response.status == .notFound)
        #expect(shown == ["one", "two"])
    }

    @Test("The article on other clients shows parameters in the query and as a form")
    func parameters() async throws {
        let requests = try service()
        transport.on(.get, "/v1/users", query: ["role": "admin"]).answer(json: [User(id: 1, name: "Grace")])
        transport.on(.post, "/v1/users", body: .text("name=Ada")).answer(.created, json: User(id: 2, name: "Ada"))

        // Article begins
        let admins: [User] = try await requests.get(
            "users", parameters: ["role": "admin"])
        let created = try await requests.post(
            "users", body: .parameters(["name": "Ada"], as: .form), as: User.self)
        // Article ends
        #expect(admins == [User(id: 1, name: "Grace")])
        #expect(created == User(id: 2, name: "Ada"))
    }

    @Test("The article on other clients shows pins for the hosts of a domain")
    func pins() async throws {
        let authority = try TestAuthority(name: "Test authority").certificate
        let (current, backup) = (try authority.issue(.init(commonName: "a")).publicKeyPin, authority.publicKeyPin)
        let environment = try ConstantEnvironment("http://api.example.com/v1/")

        // Article begins
        let trust = try TrustPolicy(hosts: [
            HostRule(
                "**.example.com",
                pins: PinSet([.publicKey(current), .publicKey(backup)]))
        ])
        let requests = try HTTPDataRequestService(
            environment: environment, trust: trust)
        // Article ends
        // The host is pinned, so that plain http is refused before a connection is opened.
        let failure = await #expect(throws: RequestFailure.self) { try await requests.get("users") }
        #expect(failure?.reason == .plaintextRefused)
        await requests.shutdown()
    }
}

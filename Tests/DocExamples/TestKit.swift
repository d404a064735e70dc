// swift-format-ignore-file
// The code stands as in the documentation comments.

import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

private struct User: Codable, Sendable, Equatable {
    var id = 1
    var name = ""
}
private enum Users: APIService {
    static let getAll: APIRequest<[User]> = request(.get)
    static func get(id: Int) -> APIRequest<User> { request(.get, "\(id)") }
    static func delete(id: Int) -> APIRequest<Void> { request(.delete, "\(id)") }
}
private let (user, ada, transport, locator) = (User(), User(), ScriptedTransport(), ServiceLocator(name: "app"))
private var authority: TestAuthority { given() }
private var request: RecordedRequest { given() }

// Certificates/TestAuthority.swift
private func testAuthorityExample() async throws {
    let authority = try TestAuthority(name: "Test CA")
    let leaf = try authority.issue(TestCertificate.Template(commonName: "localhost"))
    // A client that trusts authority.certificate trusts a server with leaf.
    use(leaf)
}

// Certificates/TestCertificate.swift
@Listed private func testCertificateExample() async throws -> [Any] {
    let leaf = try authority.issue(TestCertificate.Template(commonName: "localhost"))
    leaf.publicKeyPin                // "sha256/…", as a client pins it
    let intermediate = try authority.issueAuthority(name: "Intermediate")
    try intermediate.issue(TestCertificate.Template(commonName: "below"))
}

// ControlledReachability.swift
private func controlledReachabilityExample() async throws {
    let reachability = ControlledReachability(.unreachable(.noRoute))
    try locator.replace(reachability, as: (any ReachabilityService).self)
    reachability.set(.local)
}

// LoopbackServer/LoopbackGate.swift
private func loopbackGateExample() async throws {
    let gate = LoopbackGate()
    let server = try LoopbackServer { _ in
        .raw([.head(headers: [("Content-Length", "2")]), .gate(gate), .text("ok"), .keepAlive])
    }
    // … look at the half-arrived response …
    gate.open()
    use(server)
}

// LoopbackServer/LoopbackServer.swift
private func loopbackServerExample() async throws {
    let server = try LoopbackServer { request in
        request.path == "/hello" ? .response(body: "Hello, \(request.query("name") ?? "world")") : .reset
    }
    // … send requests to server.url …
    #expect(server.requests.first?.header("Accept") == "application/json")
    server.stop()
}

// LoopbackServer/ServerReply.swift
@Listed private func serverReplyExample() async throws -> [Any] {
    ServerReply.response(status: 201, headers: [("Content-Type", "application/json")], body: #"{"id":1}"#)
    ServerReply.chunked(chunks: [Array("a".utf8), Array("b".utf8)], trailers: [("Digest", "x")])
    ServerReply.raw([.text("HTTP/1.1 200 OK\r\n\r\n"), .pause(.milliseconds(20)), .reset])
}

// LoopbackServer/ServerRequest.swift
private func serverRequestExample() async throws {
    let server = try LoopbackServer { request in
        request.query("page") == "2" ? .response(body: "second") : .response(status: 404)
    }
    use(server)
}

// LoopbackServer/ServerStep.swift
@Listed private func serverStepExample() async throws -> [Any] {
    // A response that promises ten bytes, sends two, and resets the connection.
    ServerReply.raw([.head(headers: [("Content-Length", "10")]), .text("ab"), .reset])
}

// LoopbackServer/ServerTLS.swift
private func serverTLSExample() async throws {
    let authority = try TestAuthority(name: "Test CA")
    let leaf = try authority.issue(TestCertificate.Template(commonName: "localhost"))
    let server = try LoopbackServer(tls: ServerTLS(certificate: leaf)) { _ in .response(body: "hello") }
    use(server)
}

// Scripted/BodyPattern.swift
private func bodyPatternExample() async throws {
    transport.on(.post, "/v1/users", body: .json(user)).answer(.created)
    transport.on(.post, "/v1/users", body: .json(["id": 1, "name": "Ada"])).answer(.created)
}

// Scripted/QueryPattern.swift
@Listed private func queryPatternExample() async throws -> [Any] {
    transport.on(.get, "/v1/users", query: ["role": "admin", "page": "2"])       // exactly these, in any order
    transport.on(.get, "/v1/users", query: .containing(["role": "admin"]))       // further items are allowed
    transport.on(.get, "/v1/users", query: .text("role=admin&page=2"))           // exactly this text
}

// Scripted/RecordedRequest+Expectations.swift
private func recordedRequestExpectationsExample() async throws {
    try request.expect(method: .post, path: "/v1/users/*")
    try request.expect(query: ["role": "admin"])
    try request.expect(headerNames: [.authorization], absent: [.cookie])
    try request.expect(json: user)
    try request.expect(json: ["id": 1, "name": "Ada"])
}

// Scripted/RecordedRequest+Expectations.swift
private func recordedRequestExpectationsExample2() async throws {
    do { try request.expect(json: user) } catch { print(error) }      // body: $.name: expected "Ann", was "Bob"
}

// Scripted/RecordedRequest.swift
private func recordedRequestExample() async throws {
    let request = try await transport.request(number: 1)
    #expect(request.method == .post)
    try request.expect(json: ["name": "Ann"])
}

// Scripted/ScriptedAnswer.swift
private func scriptedAnswerExample() async throws {
    transport.on(.post, "/echo").answer { request in
        ScriptedAnswer(.created, data: request.body, after: .seconds(1))
    }
}

// Scripted/ScriptedRule+Answers.swift
private func scriptedRuleAnswersExample() async throws {
    transport.on(.get, "/v1/users/1").answer(json: ["id": 1, "name": "Ada", "tags": ["a", nil]])
}

// Scripted/ScriptedRule.swift
private func scriptedRuleExample() async throws {
    let rule = transport.on(.post, "/v1/users").answer(.created).thenAnswer(.conflict)
    #expect(rule.useCount == 2)
}

// Scripted/ScriptedTransport+HAR.swift
private func scriptedTransportHARExample() async throws {
    transport.replay(try HAR(contentsOf: "Fixtures/checkout.har"))
}

// Scripted/ScriptedTransport+Definitions.swift
private func scriptedTransportDefinitionsExample() async throws {
    transport.stub(Users.getAll, with: [User(id: 1, name: "Ada")])
    transport.stub(Users.get(id: 7), failing: .timeout)
    transport.stub(Users.delete(id: 7))                                          // 204
    transport.stub(Users.get(id: 1), with: ada).thenAnswer(.notFound)            // a sequence
    // … the code under test sends requests …
    try transport.expect(sent: [Users.getAll, Users.get(id: 1), Users.get(id: 1)])
}

// Scripted/ScriptedTransport+Definitions.swift
private func scriptedTransportDefinitionsExample2() async throws {
    try transport.expect(sent: [Users.getAll, Users.get(id: 7), Users.get(id: 7)])
}

// Scripted/ScriptedTransport.swift
private func scriptedTransportExample() async throws {
    let transport = ScriptedTransport()
    transport.on(.get, "/v1/users", query: ["role": "admin"]).answer(json: [user])
    transport.on(.post, "/v1/users").answer(.created, json: user).thenAnswer(.conflict)
    transport.on(.get, "/slow").answer(text: "x", after: .seconds(2))      // on transport.clock
    transport.on(.get, "/down").fail(.connection)
    transport.on { $0.headerFields[.accept] == "text/csv" }.answer { request in
        ScriptedAnswer(text: "path\n\(request.url.path)")
    }
    // … the code under test sends requests …
    try transport.verify()
}

// Scripted/UnexpectedRequest.swift
private func unexpectedRequestExample() async throws {
    #expect(transport.unexpected.isEmpty, "\(transport.unexpected)")
}

// Time/ManualClock.swift
private func manualClockExample() async throws {
    let clock = ManualClock()
    let task = Task { try await clock.sleep(for: .seconds(30)) }
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .seconds(30))
    try await task.value
}

// ResponseStore/ResponseStoreConformance.swift
private func responseStoreConformanceExample() async {
    let violations = await ResponseStoreConformance.check { RedisStore(client, prefix: "test") }
    #expect(violations == [])
}

private let client = 0
private func RedisStore(_ client: Int, prefix: String) -> any ResponseStore { ScriptedStore() }

// ResponseStore/ScriptedStore.swift
private func scriptedStoreExample() {
    let store = ScriptedStore()
    let cache = ResponseCache(store: store)
    store.behave(.hangs, in: .lookup)
    use(cache)
}

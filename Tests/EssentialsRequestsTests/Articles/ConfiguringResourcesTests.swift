import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("The article ConfiguringResources")
struct ConfiguringResourcesTests {
    private struct Report: Sendable, Equatable {
        var text: String
        init(_ bytes: Data) { text = String(decoding: bytes, as: UTF8.self) }
    }
    private struct Problem: Codable, Sendable { var title: String }
    private struct Login: Sendable {
        func newToken() async throws -> String { "fresh" }
    }

    private func decrypt(_ bytes: Data) -> Data { Data(bytes.reversed()) }

    private func scriptedTransport() -> ScriptedTransport {
        let transport = ScriptedTransport()
        transport.on { $0.headerFields[.authorization] == nil }.answer(.unauthorized)
        transport.on(nil, "/v1/reports/7", headerFields: [.authorization: "Bearer fresh"]).answer(text: "cba")
        transport.on(nil, "/v1/members/7", headerFields: [.authorization: "Bearer fresh"]).answer(.notFound)
        transport.on(nil, "/v1/accounts/7", headerFields: [.authorization: "Bearer fresh"]).answer(
            .conflict, json: Problem(title: "The account is closed."))
        return transport
    }

    private func resourceService(_ transport: ScriptedTransport) throws -> HTTPResourceService {
        let environment = try ConstantEnvironment("https://api.example.com/v1/")
        return try HTTPResourceService(
            requests: HTTPDataRequestService(environment: environment, transport: transport), environment: environment)
    }

    private func expectProblem(_ account: Resource<String>) async {
        let loaded = await #expect(throws: RequestFailure.self) { try await account.load() }
        let written = await #expect(throws: RequestFailure.self) { _ = try await account.put("x") }
        #expect(loaded?.message == "The account is closed.")
        #expect(written?.message == "The account is closed.")
    }

    @Test("The article on configuration shows blocks, a login by hand and a pipeline")
    func configuring() async throws {
        let transport = scriptedTransport()
        let service = try resourceService(transport)
        let login = Login()

        // Article begins
        try service.configure("/**") { $0.expiration = .seconds(60) }
        try service.configure("/users/*", name: "users") {
            $0.expiration = .seconds(300)
        }
        let quick = try service.configure("/prices", methods: [.get]) {
            $0.expiration = .seconds(1)
        }
        quick.remove()
        // Article ends

        // Article begins
        try service.configure("/**") {
            $0.decorate { call, next in
                do {
                    return try await next(call.request)
                } catch let failure as RequestFailure
                    where failure.response?.head.status == .unauthorized
                {
                    var again = call.request
                    again.headerFields[.authorization] =
                        "Bearer \(try await login.newToken())"
                    return try await next(again)
                }
            }
        }
        // Article ends

        // Article begins
        try service.configure("/reports/*") {
            $0.pipeline.transform(at: .decoding) { (bytes: Data) in decrypt(bytes) }
            $0.pipeline.transform(at: .model) { (bytes: Data) in Report(bytes) }
        }
        // Article ends

        // Article begins
        try service.configure("/members/*") {
            $0.pipeline.add(.content(false, forStatus: 404), at: .model)
        }
        try service.configure("/**") {
            $0.errorModel = Problem.self
            $0.pipeline.add(
                .message { failure in failure.errorModel(as: Problem.self)?.title },
                at: .cleanup)
        }
        // Article ends
        let user: Resource<String> = service.resource("users/7")
        #expect(user.configuration().expiration == .seconds(300))
        #expect(service.resource("prices", as: String.self).configuration().expiration == .seconds(60))
        #expect(try await service.resource("reports/7", as: Report.self).load().text == "abc")
        #expect(transport.requestCount == 2)
        let isMember: Resource<Bool> = service.resource("members/7")
        #expect(try await isMember.load() == false)
        await expectProblem(service.resource("accounts/7"))
    }
}

import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite struct UnexpectedRequestTests {
    private let transport = ScriptedTransport()

    @Test func `A request that no rule answers fails with its description and the nearest rules`()
        async throws
    {
        transport.on(.delete, "/other", fileID: "M/T.swift", line: 1).answer()
        transport.on(.get, "/v1/users", query: ["role": "admin"], fileID: "M/T.swift", line: 2).answer()
        transport.on(.post, "/v1/users", query: ["x": "1"], body: .json(["a": 1]), fileID: "M/T.swift", line: 3)
            .answer()
        transport.on(fileID: "M/T.swift", line: 4) { _ in false }.answer()
        let request = try scriptedRequest(
            .get, "/v1/users?role=user", headerFields: [.accept: "text/csv", .authorization: "Bearer secret"],
            body: .bytes(Data("line\nnext".utf8)))
        let failure = await requestFailure { _ = try await transport.send(request) }
        let difference = """
              GET https://api.example.com/v1/users?role=user
              Accept: “text/csv”
              Authorization: … (13 bytes)
              body: 9 bytes, “line\\nnext”
            The nearest of 4 rules:
              GET /v1/users, “role=admin” (T.swift:2)
                query: expected “role=admin”, was “user”
              closure (T.swift:4)
                its closure says no
              POST /v1/users, “x=1”, body {a: 1} (T.swift:3)
                method: expected POST, was GET
                query: expected “x=1”, there is none
                query: “role=user” not expected
                body: expected JSON, was 9 bytes, “line\\nnext”
            """
        #expect(failure?.reason == .invalidRequest)
        #expect(failure?.host == "api.example.com")
        #expect(failure?.message == "No rule of the script answers this request:\n\(difference)\n")
        #expect(transport.unexpected.map(\.description) == [difference])
        #expect(transport.unexpected.map(\.request.url.target) == ["/v1/users?role=user"])
        #expect(transport.requestCount == 1)
        #expect(transport.problems == ["Unexpected request:\n\(difference)"])
        #expect(mismatch { () throws(RequestMismatch) in try transport.verify() } == transport.problems)
    }

    @Test func `A script without rules says so`() async throws {
        let failure = await requestFailure { _ = try await transport.send(scriptedRequest(.put, "/")) }
        #expect(failure?.reason == .invalidRequest)
        #expect(
            transport.unexpected.map(\.description) == [
                "  PUT https://api.example.com/\n  body: none\nThe script has no rules."
            ])
    }

    @Test func `A matching rule that does not answer says why`() async throws {
        transport.on(.get, "/", host: "api.example.com", fileID: "T.swift", line: 1).answer().once()
        _ = transport.on(.get, "/", headerFields: [:], fileID: "T.swift", line: 2)
        _ = try await transport.send(scriptedRequest())
        _ = await requestFailure { _ = try await transport.send(scriptedRequest()) }
        #expect(
            transport.unexpected.map(\.description) == [
                """
                  GET https://api.example.com/
                  body: none
                The rules:
                  GET / (T.swift:2)
                    it has no answer
                  GET / at api.example.com (T.swift:1)
                    its 1 answer was given already
                """
            ])
    }

    @Test(arguments: ["X-Api-Key", "x-auth-token", "X-Otp", "Set-Cookie", "X-Signature"])
    func `Values of secret header fields are not shown`(name: String) async throws {
        let fields = HTTPFields([HTTPField(name: try #require(HTTPField.Name(name)), value: "s3cret")])
        transport.on(.get, "/", headerFields: [.accept: "a/b"], fileID: "T.swift", line: 1).answer()
        let failure = await requestFailure {
            _ = try await transport.send(scriptedRequest(.get, "/", headerFields: fields))
        }
        #expect(failure?.message.contains("\(name): … (6 bytes)") == true)
        #expect(failure?.message.contains("s3cret") == false)
    }

    @Test func `Differences in host, path and fields are named, and credentials are hidden`() async throws {
        transport.on(
            nil, "/a/*", host: "other.example.com", headerFields: [.authorization: "right", .accept: "a"],
            fileID: "T.swift", line: 1
        ).answer()
        let request = try scriptedRequest(headerFields: [.authorization: "wrong"], body: .bytes(Data([0xff, 0, 0x10])))
        _ = await requestFailure { _ = try await transport.send(request) }
        #expect(
            transport.unexpected.map(\.description) == [
                """
                  GET https://api.example.com/
                  Authorization: … (5 bytes)
                  body: 3 bytes, ff 00 10
                The rules:
                  any method /a/* at other.example.com, Authorization: … (5 bytes), Accept: “a” (T.swift:1)
                    path: expected /a/*, was /
                    host: expected other.example.com, was api.example.com
                    header Authorization: expected …, was …
                    header Accept: expected “a”, there is none
                """
            ])
    }

    @Test func `Long bodies are cut between characters`() async throws {
        let body = String(repeating: "ä", count: 300)
        _ = await requestFailure {
            _ = try await transport.send(scriptedRequest(.post, body: .bytes(Data(("x" + body).utf8))))
        }
        let lines = transport.unexpected[0].description.split(separator: "\n")
        #expect(lines[1] == "  body: 601 bytes, “x" + String(repeating: "ä", count: 199) + "…”")
    }

    @Test func `Unexpected requests beyond the maximum are counted but not kept`() async throws {
        var limits = ScriptedTransport.Limits()
        limits.unexpected = 2
        limits.requests = 3
        limits.rules = 0
        let transport = ScriptedTransport(limits: limits)
        transport.on(.get, "/").answer()
        for _ in 0..<5 { _ = await requestFailure { _ = try await transport.send(scriptedRequest()) } }
        #expect(transport.unexpected.count == 2)
        #expect(transport.requests.count == 3)
        #expect(transport.requestCount == 5)
        #expect(
            Array(transport.problems.dropFirst(2)) == [
                "… and 3 more of these.", "2 requests over the limit of 3 were not recorded.",
                "1 rules over the limit of 0 have no effect.",
            ])
    }
}

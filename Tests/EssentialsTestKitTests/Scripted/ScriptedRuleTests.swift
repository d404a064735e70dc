import EssentialsHTTP
import EssentialsTestKit
import Testing

@Suite struct ScriptedRuleTests {
    private let transport = ScriptedTransport()

    private func send(_ target: String, times: Int = 1) async throws {
        for _ in 0..<times { _ = try await transport.send(scriptedRequest(.get, target)) }
    }

    @Test func `Rules that are not expected may stay unused`() async throws {
        transport.on(.get, "/a").answer().thenAnswer(.conflict)
        #expect(transport.problems == [])
        try transport.verify()
    }

    @Test func `Expected answers that were not given are problems`() async throws {
        transport.on(.get, "/a", fileID: "T.swift", line: 1).answer().thenAnswer(.conflict).thenAnswer(.gone).expected()
        transport.on(.get, "/b", fileID: "T.swift", line: 2).answer().once()
        #expect(
            transport.problems == [
                "The rule GET /a (T.swift:1) was expected: 3 of its 3 answers were not given.",
                "The rule GET /b (T.swift:2) was expected: 1 of its 1 answer was not given.",
            ])
        try await send("/a", times: 2)
        try await send("/b")
        #expect(
            transport.problems == ["The rule GET /a (T.swift:1) was expected: 1 of its 3 answers were not given."])
        try await send("/a", times: 2)
        try transport.verify()
    }

    @Test func `An answer that is added to an exhausted rule is given`() async throws {
        let rule = transport.on(.get, "/a").answer().once()
        try await send("/a")
        rule.thenAnswer(.conflict)
        #expect(try await transport.send(scriptedRequest(.get, "/a")).status == .conflict)
        #expect(rule.useCount == 2)
        try transport.verify()
    }

    @Test func `A rule without an answer is a problem`() {
        _ = transport.on(.get, "/a", fileID: "T.swift", line: 1)
        #expect(transport.problems == ["The rule GET /a (T.swift:1) has no answer."])
    }

    @Test func `An error of a closure is a problem and the underlying error`() async throws {
        struct Mistake: Error {}
        transport.on(.get, "/a", fileID: "T.swift", line: 1).answer { _ in throw Mistake() }
        let failure = await requestFailure { try await send("/a") }
        #expect(failure?.reason == .invalidRequest)
        #expect(failure?.underlying is Mistake)
        #expect(transport.problems == ["The rule GET /a (T.swift:1): its closure threw Mistake()."])
    }

    @Test func `A CancellationError of a closure becomes cancelled`() async throws {
        transport.on(.get, "/a").answer { _ in throw CancellationError() }
        #expect(await requestFailure { try await send("/a") }?.reason == .cancelled)
        try transport.verify()
    }

    @Test func `A rule keeps at most 10,000 answers`() {
        let rule = transport.on(.get, "/a", fileID: "T.swift", line: 1).answer()
        for _ in 0..<10_001 { rule.thenAnswer(.conflict) }
        #expect(transport.problems == ["The rule GET /a (T.swift:1) has 2 answers more than the 10000 allowed."])
    }
}

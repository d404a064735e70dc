import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite struct ScriptedTransportTests {
    private let transport = ScriptedTransport()
    private let user = User(id: 1, name: "Ann")

    @Test func `A rule answers the requests that it matches`() async throws {
        transport.on(.get, "/v1/users", query: ["role": "admin"]).answer(json: [user])
        transport.on(.get, "/text").answer(.accepted, text: "x", headerFields: [.eTag: "1"])
        transport.on(.get, "/data").answer(data: Data([0, 255]))
        let users = try await transport.send(scriptedRequest(.get, "/v1/users?role=admin"))
        #expect(users.status == .ok)
        #expect(users.headerFields == [.contentType: "application/json"])
        #expect(users.text == #"[{"id":1,"name":"Ann"}]"#)
        let text = try await transport.send(scriptedRequest(.get, "/text"))
        #expect(text.status == .accepted)
        #expect(text.headerFields == [.eTag: "1", .contentType: "text/plain; charset=utf-8"])
        #expect(text.text == "x")
        let data = try await transport.send(scriptedRequest(.get, "/data"))
        #expect(data.headerFields == [:])
        #expect(data.body.data == Data([0, 255]))
        try transport.verify()
    }

    @Test func `Answers are given in order, and the last one is repeated`() async throws {
        let rule = transport.on(.post, "/v1/users")
            .answer(.created, json: user).thenAnswer(.conflict).thenAnswer { request in
                ScriptedAnswer(.ok, data: request.body)
            }
        var statuses: [Int] = []
        for _ in 0..<4 {
            let request = try scriptedRequest(.post, "/v1/users", body: .bytes(Data("b".utf8)))
            let response = try await transport.send(request)
            statuses.append(response.status.code)
            if response.status == .ok { #expect(response.text == "b") }
        }
        #expect(statuses == [201, 409, 200, 200])
        #expect(rule.useCount == 4)
        rule.answer(.gone)
        #expect(try await transport.send(scriptedRequest(.post, "/v1/users")).status == .gone)
    }

    @Test func `The newest matching rule answers, and an exhausted one is skipped`() async throws {
        transport.on(.get, "/a").answer(text: "old")
        transport.on(nil, "/**").answer(text: "any").thenAnswer(text: "more").once()
        _ = transport.on(.get, "/a")
        var texts: [String?] = []
        for _ in 0..<4 { texts.append(try await transport.send(scriptedRequest(.get, "/a")).text) }
        #expect(texts == ["any", "more", "old", "old"])
    }

    @Test func `Closures can select requests and create answers`() async throws {
        transport.on { $0.headerFields[.accept] == "text/csv" }.answer { request in
            ScriptedAnswer(text: "path\n\(request.url.path)", headerFields: [.contentType: "text/csv"])
        }
        let response = try await transport.send(scriptedRequest(.get, "/x", headerFields: [.accept: "text/csv"]))
        #expect(response.text == "path\n/x")
        #expect(response.headerFields == [.contentType: "text/csv"])
    }

    @Test func `Trailers, interim responses and connection facts come from the answer`() async throws {
        var answer = ScriptedAnswer(.ok, text: "x")
        answer.trailerFields = [.eTag: "t"]
        answer.informational = [HTTPResponse(status: .earlyHints)]
        answer.connection.protocolName = "HTTP/2"
        transport.on(.get, "/").answer(answer)
        let response = try await transport.send(scriptedRequest())
        #expect(response.trailerFields == [.eTag: "t"])
        #expect(response.informational.map(\.status.code) == [103])
        #expect(response.connection.protocolName == "HTTP/2")
        #expect(response.metrics.sendings == 1)
        #expect(response.metrics.bodyBytesReceived == 1)
    }

    @Test(arguments: [
        (RequestFailure.Reason.connection, RequestFailure.Phase.connect), (.nameResolution, .nameResolution),
        (.pinMismatch, .handshake), (.timeout, .waiting), (.interrupted, .receiving), (.queueFull, .queue),
    ])
    func `A failure has the usual phase of its reason`(
        reason: RequestFailure.Reason, phase: RequestFailure.Phase
    ) async throws {
        transport.on(.get, "/down").fail(reason).thenFail(reason, message: "No.", phase: .sending)
        let first = await requestFailure { _ = try await transport.send(scriptedRequest(.get, "/down")) }
        #expect([first?.reason.name, first?.phase.name, first?.host] == [reason.name, phase.name, "api.example.com"])
        let second = await requestFailure { _ = try await transport.send(scriptedRequest(.get, "/down")) }
        #expect([second?.reason.name, second?.phase.name, second?.message] == [reason.name, "sending", "No."])
    }

    @Test func `A custom failure is thrown unchanged by an answer and by a closure`() async throws {
        transport.on(.get, "/").answer(.failure(RequestFailure(.revoked, "One.", attempt: 3)))
            .thenAnswer { _ in throw RequestFailure(.proxy, "Two.", attempt: 4) }
        let first = await requestFailure { _ = try await transport.send(scriptedRequest()) }
        #expect([first?.message, first.map { "\($0.attempt)" }] == ["One.", "3"])
        let second = await requestFailure { _ = try await transport.send(scriptedRequest()) }
        #expect([second?.message, second.map { "\($0.attempt)" }] == ["Two.", "4"])
        try transport.verify()
    }

    @Test func `A delayed answer arrives when the clock has been advanced by the delay`() async throws {
        transport.on(.get, "/slow").answer(.ok, text: "x", after: .seconds(2))
        let transport = transport
        let task = Task { try await transport.send(scriptedRequest(.get, "/slow")) }
        await transport.clock.waitForSleepers(count: 1)
        transport.clock.advance(by: .seconds(1))
        #expect(transport.clock.sleeperCount == 1)
        transport.clock.advance(by: .seconds(1))
        let response = try await task.value
        #expect(response.text == "x")
        #expect(response.metrics.firstByte == .seconds(2))
        #expect(response.metrics.finished == .seconds(2))
    }

    @Test func `A delay starts when the request arrives, so the clock may be advanced at once`() async throws {
        transport.on(.get, "/slow").answer(after: .seconds(2))
        let transport = transport
        let task = Task { try await transport.send(scriptedRequest(.get, "/slow")) }
        _ = try await transport.request(number: 1)
        transport.clock.advance(by: .seconds(2))
        #expect(try await task.value.status == .ok)
    }

    @Test func `A shared clock advances several transports together`() async throws {
        let clock = ManualClock()
        let tasks = (0..<2).map { _ in
            let transport = ScriptedTransport(clock: clock)
            transport.on(.get, "/").answer(after: .seconds(1))
            return Task { try await transport.send(scriptedRequest()).status }
        }
        await clock.waitForSleepers(count: 2)
        clock.advance(by: .seconds(1))
        for task in tasks { #expect(try await task.value == .ok) }
    }

    @Test func `A model that cannot be encoded fails with encoding and is a problem`() async throws {
        transport.on(.get, "/").answer(json: [Double.nan])
        let failure = await requestFailure { _ = try await transport.send(scriptedRequest()) }
        #expect(failure?.reason == .encoding)
        #expect(failure?.message == "The scripted answer's Array<Double> cannot be written as JSON.")
        #expect(transport.problems.count == 1)
        #expect(transport.problems[0].hasSuffix("The scripted answer's Array<Double> cannot be written as JSON."))
    }
}

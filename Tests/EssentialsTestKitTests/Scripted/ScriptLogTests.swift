import EssentialsHTTP
import EssentialsTestKit
import Testing

@Suite struct ScriptLogTests {
    @Test func `Waiting for a request ends when the request arrives`() async throws {
        let transport = ScriptedTransport()
        transport.on(.get, "/*").answer()
        let waits = [2, 1, 2].map { number in Task { try await transport.request(number: number).url.path } }
        for target in ["/first", "/second"] { _ = try await transport.send(scriptedRequest(.get, target)) }
        var paths: [Substring] = []
        for wait in waits { paths.append(try await wait.value) }
        #expect(paths == ["/second", "/first", "/second"])
    }

    @Test func `A rule that is added when a request arrives applies to later requests`() async throws {
        let transport = ScriptedTransport()
        transport.on(.get, "/").answer(text: "first", after: .seconds(1))
        let task = Task { try await transport.send(scriptedRequest()).text }
        _ = try await transport.request(number: 1)
        transport.on(.get, "/").answer(text: "second")
        #expect(try await transport.send(scriptedRequest()).text == "second")
        transport.clock.advance(by: .seconds(1))
        #expect(try await task.value == "first")
    }

    @Test func `Waiting fails with cancelled after cancellation, and with closed after a shutdown`() async {
        let transport = ScriptedTransport()
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await requestFailure { _ = try await transport.request(number: 1) }
        }
        #expect(await cancelled.value?.reason == .cancelled)
        let late = Task { await requestFailure { _ = try await transport.request(number: 1) } }
        late.cancel()
        #expect(await late.value?.reason == .cancelled)
        await transport.shutdown()
        #expect(await requestFailure { _ = try await transport.request(number: 1) }?.reason == .closed)
    }

    @Test(arguments: [0, -1, 10_001]) func `An invalid request number is refused`(number: Int) async {
        let failure = await requestFailure { _ = try await ScriptedTransport().request(number: number) }
        #expect(failure?.reason == .invalidRequest)
        #expect(failure?.message == "There is no request number \(number).")
    }
}

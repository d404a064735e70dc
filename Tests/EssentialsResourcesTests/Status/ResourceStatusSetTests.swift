import EssentialsTestKit
import TestTools
import Testing

@testable import EssentialsResources

@Suite("Resource status of a set", .leavesNothing, .timeLimit(.minutes(5)))
struct ResourceStatusSetTests {
    let fixture: ResourceFixture
    let number: Resource<Int>
    let item: Resource<Item>

    init() throws {
        fixture = try ResourceFixture()
        number = fixture.service.resource("number")
        item = fixture.service.resource("item")
    }

    private func text(_ status: ResourceStatus?) -> String {
        switch status {
        case .loading: "loading"
        case .content: "content"
        case .failed(let failure): "failed \(failure.status?.code ?? 0)"
        case nil: "end"
        }
    }

    @Test("The statuses begin with the current one, and each differs from the previous one")
    func sequence() async throws {
        let (first, second) = (Latch(), Latch())
        fixture.transport.on(.get, "/v1/number").answer { _ in
            await first.wait()
            return ScriptedAnswer(json: 1)
        }
        fixture.transport.on(.get, "/v1/item").answer { _ in
            await second.wait()
            return ScriptedAnswer(.internalServerError)
        }
        var statuses = ResourceStatus.of(number, item).makeAsyncIterator()
        #expect(text(await statuses.next()) == "content")
        let loads = (number.startLoad(), item.startLoad())
        #expect(text(await statuses.next()) == "loading")
        first.open()
        _ = try await loads.0.content
        // The other resource still loads, so nothing new is shown.
        second.open()
        #expect(text(await statuses.next()) == "failed 500")
        number.override(with: 2)
        item.override(with: Item(name: "a"))
        #expect(text(await statuses.next()) == "content")
    }

    @Test("A slow reader finds only the newest status, and skips a status that it has already read")
    func slowReader() async {
        let set = ResourceStatusSet(number, item, rules: [.allContent, .loading])
        var statuses = set.statuses.makeAsyncIterator()
        #expect(text(await statuses.next()) == "content")
        fixture.transport.on(.get, "/v1/number").answer { _ in ScriptedAnswer(json: 1) }
        for _ in 0..<100 {
            number.startLoad().cancel()
            number.override(with: 1)
        }
        let latch = Latch()
        fixture.transport.on(.get, "/v1/item").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "a"))
        }
        item.startLoad()
        #expect(text(await statuses.next()) == "loading")
        latch.open()
        #expect(text(await statuses.next()) == "content")
    }

    @Test("Resources without types have content if there is content of any type")
    func untyped() async {
        let set = ResourceStatusSet([number.any, item.any], rules: [.allContent, .failure])
        var statuses = ResourceStatus.of([number.any, item.any], rules: [.allContent, .failure]).makeAsyncIterator()
        #expect(text(await statuses.next()) == "content")
        fixture.transport.on(.get, "/v1/item").answer(.notFound)
        _ = try? await item.load()
        #expect(text(set.current) == "failed 404")
        #expect(text(await statuses.next()) == "failed 404")
        number.override(with: 1)
        item.override(with: Item(name: "a"))
        #expect(text(set.current) == "content")
    }

    @Test("Trying again loads only the failed resources, and counts as a load by hand", arguments: [true, false])
    func retryFailed(isTyped: Bool) async throws {
        let latch = Latch()
        fixture.transport.on(.get, "/v1/number").answer(.internalServerError).thenAnswer { _ in
            await latch.wait()
            return ScriptedAnswer(json: 7)
        }
        let rules: [ResourceStatus.Rule] = [.manualLoading, .failure]
        let set =
            isTyped
            ? ResourceStatusSet(number, item, rules: rules)
            : ResourceStatusSet([number.any, item.any], rules: rules)
        item.override(with: Item(name: "a"))
        _ = try? await number.load()
        #expect(text(set.current) == "failed 500")
        set.retryFailed()
        #expect(text(set.current) == "loading")
        #expect(number.isLoading)
        #expect(!item.isLoading)
        // A second try does not load twice.
        set.retryFailed()
        _ = try await fixture.transport.request(number: 2)
        latch.open()
        for await status in set.statuses {
            if case .content = status { break }
        }
        #expect(number.content == 7)
        #expect(fixture.transport.requestCount == 2)
    }

    @Test("A load counts as manual while a tracked request runs")
    func track() async throws {
        let latch = Latch()
        fixture.transport.on(.get, "/v1/number").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: 7)
        }
        let set = ResourceStatusSet(number, rules: [.manualLoading])
        var statuses = set.statuses.makeAsyncIterator()
        #expect(text(await statuses.next()) == "content")
        let request = number.startLoad()
        #expect(text(set.current) == "content")
        set.track(request)
        #expect(text(await statuses.next()) == "loading")
        latch.open()
        #expect(text(await statuses.next()) == "content")
        #expect(try await request.content == 7)
    }

    @Test("The statuses end when the service is closed or the task is cancelled, and their readers leave the resources")
    func end() async {
        let cancelled = Task { [number, item] in
            for await _ in ResourceStatus.of(number, item) {}
        }
        while number.observerCount == 0 || item.observerCount == 0 { await Task.yield() }
        cancelled.cancel()
        await cancelled.value
        #expect(number.observerCount == 0)
        #expect(item.observerCount == 0)
        var statuses = ResourceStatus.of(number, item).makeAsyncIterator()
        #expect(text(await statuses.next()) == "content")
        await fixture.service.close()
        #expect(text(await statuses.next()) == "end")
        var late = ResourceStatus.of(number, item).makeAsyncIterator()
        #expect(text(await late.next()) == "content")
        #expect(text(await late.next()) == "end")
        var empty = ResourceStatus.of([]).makeAsyncIterator()
        #expect(text(await empty.next()) == "content")
        #expect(text(await empty.next()) == "end")
    }

    @Test("The line for people names a running load, the age of the oldest content, and the reason of the last failure")
    func line() async throws {
        let latch = Latch()
        fixture.transport.on(.get, "/v1/number").answer(.internalServerError).thenAnswer { _ in
            await latch.wait()
            return ScriptedAnswer(json: 7)
        }
        let set = ResourceStatusSet(number, item)
        #expect(set.line == "no content")
        number.override(with: 1)
        fixture.clock.advance(by: .seconds(11))
        #expect(set.line == "incomplete, 11 s old")
        item.override(with: Item(name: "a"))
        fixture.clock.advance(by: .seconds(30))
        #expect(set.line == "41 s old")
        _ = try? await number.load()
        #expect(set.line == "41 s old, last response 500")
        let request = number.startLoad()
        #expect(set.line == "loading, 41 s old, last response 500")
        #expect(number.state.statusLine == "loading, 41 s old, last response 500")
        #expect(item.state.statusLine == "30 s old")
        latch.open()
        _ = try await request.content
        #expect(number.state.statusLine == "0 s old")
    }

    @Test(
        "A line has the largest whole unit of the age, and a failure's text for people without a status",
        arguments: [
            (StatusLine(isLoading: true), "loading"),
            (StatusLine(age: .milliseconds(59_999), isComplete: true), "59 s old"),
            (StatusLine(age: .seconds(60), isComplete: true), "1 min old"),
            (StatusLine(age: .seconds(3_599), isComplete: true), "59 min old"),
            (StatusLine(age: .seconds(86_399), isComplete: true), "23 h old"),
            (StatusLine(age: .seconds(172_800), isComplete: true), "2 d old"),
            (StatusLine(age: .seconds(-5), isComplete: true), "0 s old"),
            (
                StatusLine(failure: RequestFailure(.timeout, "").with(message: "The shop is asleep")),
                "no content, last failure: The shop is asleep"
            ),
        ] as [(StatusLine, String)])
    func lines(line: StatusLine, expected: String) {
        #expect(line.text == expected)
    }
}

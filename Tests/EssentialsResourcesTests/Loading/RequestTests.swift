import EssentialsHTTP
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

/// Keeps the events, in order.
final class Journal: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
}

@Suite("Resource: requests", .leavesNothing)
struct RequestTests {
    @Test("A request sends nothing before it is started, and is started once")
    func starting() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "a"))
        let item: Resource<Item> = fixture.service.resource("item")
        let request = item.loadRequest()
        #expect(request.phase == .notStarted)
        #expect(!item.isLoading)
        request.start().start()
        #expect(request.phase != .notStarted)
        #expect(try await request.content.name == "a")
        request.start()
        #expect(request.isCompleted)
        #expect(try await request.response.status == .ok)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test("Waiting for a request starts it")
    func waitingStarts() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "a"))
        let item: Resource<Item> = fixture.service.resource("item")
        #expect(try await item.loadRequest().content.name == "a")
        #expect(item.content?.name == "a")
    }

    @Test("A cancelled request ends at once, and a request that was cancelled before its start sends nothing")
    func cancelling() async throws {
        let fixture = try ResourceFixture()
        let latch = Latch()
        fixture.transport.on(.get, "/v1/item").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "late"))
        }
        let item: Resource<Item> = fixture.service.resource("item")
        let request = item.startLoad()
        _ = try await fixture.transport.request(number: 1)
        request.cancel()
        #expect(request.isCompleted)
        #expect(!item.isLoading)
        await #expect(throws: RequestFailure(.cancelled, "")) { try await request.content }
        latch.open()
        let early = item.loadRequest()
        early.cancel()
        early.start()
        await #expect(throws: RequestFailure(.cancelled, "")) { try await early.content }
        #expect(fixture.transport.requestCount == 1)
        #expect(item.content == nil)
    }

    @Test("Hooks are called once each, in order, after the observers, and late ones as well")
    func hooks() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "a"), headerFields: [.eTag: "\"1\""])
            .thenAnswer(.notModified).thenAnswer(.notFound)
        let item: Resource<Item> = fixture.service.resource("item")
        let journal = Journal()
        let observation = item.observeSynchronously { change in
            if case .newContent = change.event { journal.add("observer") }
        }
        func observed(_ request: ResourceRequest<Item>) async {
            let end = Latch()
            request.onCompletion { _ in
                await Task.yield()
                journal.add("completion")
            }
            .onSuccess { journal.add("success \($0.status.code)") }
            .onNewContent { journal.add("new \($0.name)") }
            .onNotModified { journal.add("not modified") }
            .onFailure { journal.add("failure \($0.reason.name)") }
            .onCompletion { _ in end.open() }
            request.start()
            await end.wait()
            let late = Latch()
            request.onCompletion { _ in
                journal.add("late")
                late.open()
            }
            await late.wait()
        }
        await observed(item.loadRequest())
        #expect(journal.all == ["observer", "completion", "success 200", "new a", "late"])
        await observed(item.loadRequest())
        #expect(journal.all.dropFirst(5) == ["completion", "success 304", "not modified", "late"])
        await observed(item.loadRequest())
        #expect(journal.all.dropFirst(9) == ["completion", "failure status", "late"])
        observation.cancel()
    }

    @Test("A cancellation completes a request without being a failure")
    func cancellationHooks() async throws {
        let fixture = try ResourceFixture()
        let item: Resource<Item> = fixture.service.resource("item")
        let journal = Journal()
        let end = Latch()
        item.loadRequest().onFailure { _ in journal.add("failure") }
            .onCompletion { _ in
                journal.add("completion")
                end.open()
            }
            .cancel()
        await end.wait()
        #expect(journal.all == ["completion"])
    }

    @Test("A request with any method does not change the state and causes no events")
    func otherMethods() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.post, "/v1/item").answer(
            .created, json: Item(name: "made"), headerFields: [.location: "x"])
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "other"))
        let item: Resource<Item> = fixture.service.resource("item")
        item.override(with: Item(name: "own"))
        let version = item.state.version
        try fixture.service.configure("/item", methods: [.post]) { $0.headerFields[.userAgent] = "poster" }
        let request = item.request(.post, body: .model(Item(name: "new")), as: Item.self) {
            $0.headerFields[.accept] = "a/b"
        }
        let response = try await request.response
        #expect(response.content.name == "made")
        #expect(response.status == .created)
        #expect(response.headerFields[.location] == "x")
        let sent = try #require(fixture.transport.requests.first)
        #expect(sent.headerFields[.userAgent] == "poster")
        #expect(sent.headerFields[.accept] == "a/b")
        #expect(try sent.decoded(as: Item.self).name == "new")
        #expect(try await item.request(.get, as: Item.self).content.name == "other")
        #expect(item.state.version == version)
        #expect(item.content?.name == "own")
    }

    @Test("Running requests are listed in the order of their start")
    func running() async throws {
        let fixture = try ResourceFixture()
        let latch = Latch()
        fixture.transport.on(nil, "/v1/item").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "a"))
        }
        let item: Resource<Item> = fixture.service.resource("item")
        let requests = [
            item.request(.post).start(), item.startLoad(), item.request(.put).start(), item.request(.delete).start(),
            item.startLoad(),
        ]
        #expect(item.runningRequests.map(\.method) == [.post, .get, .put, .delete, .get])
        #expect(item.runningRequests.map(\.isLoad) == [false, true, false, false, true])
        item.runningRequests[2].cancel()
        #expect(requests[2].isCompleted)
        #expect(item.runningRequests.map(\.method) == [.post, .get, .delete, .get])
        item.wipe()
        #expect(item.runningRequests.map(\.method) == [.post, .delete])
        item.wipe(.includingWrites)
        #expect(item.runningRequests.isEmpty)
        #expect(requests.map(\.isCompleted) == Array(repeating: true, count: 5))
        latch.open()
    }

    @Test("The late end of a cancelled request does not remove a newer one from the list")
    func lateEnd() async throws {
        let fixture = try ResourceFixture()
        let (latch, answer) = (Latch(), Latch())
        try fixture.service.configure("/item") {
            $0.mutate { request in
                // It ignores the cancellation.
                if request.method == .post { await latch.wait() }
            }
        }
        fixture.transport.on(.put, "/v1/item").answer { _ in
            await answer.wait()
            return ScriptedAnswer()
        }
        let item: Resource<Item> = fixture.service.resource("item")
        let first = item.request(.post, as: Item.self).start()
        first.cancel()
        let second = item.request(.put, as: Item.self).start()
        _ = try await fixture.transport.request(number: 1)
        latch.open()
        for _ in 0..<100 { await Task.yield() }
        #expect(item.runningRequests.map(\.method) == [.put])
        second.cancel()
        #expect(item.runningRequests.isEmpty)
        answer.open()
    }

    @Test("A repeated load sends the request again without its hooks, and does not change the state")
    func repeated() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "a")).thenAnswer(json: Item(name: "b"))
        let item: Resource<Item> = fixture.service.resource("item")
        let journal = Journal()
        let request = item.loadRequest().onSuccess { journal.add($0.content.name) }
        _ = try await request.content
        try fixture.service.configure("/item") { $0.headerFields[.userAgent] = "again" }
        let second = request.repeated()
        #expect(second.phase == .notStarted)
        #expect(try await second.content.name == "b")
        #expect(fixture.transport.requests.last?.headerFields[.userAgent] == "again")
        #expect(item.content?.name == "a")
        let end = Latch()
        second.onCompletion { _ in end.open() }
        await end.wait()
        #expect(journal.all == ["a"])
    }

    @Test("A body that can be sent once makes a repeated request fail as not replayable")
    func notReplayable() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.post, "/v1/item").answer(text: "ok")
        let item: Resource<String> = fixture.service.resource("item")
        let (stream, continuation) = AsyncStream<Data>.makeStream()
        continuation.yield(Data("x".utf8))
        continuation.finish()
        let request = item.request(.post, body: .raw(.stream(stream, length: 1)), as: String.self)
        #expect(try await request.content == "ok")
        let failure = await #expect(throws: RequestFailure.self) { try await request.repeated().content }
        #expect(failure?.reason == .notReplayable)
    }

    @Test("Ready-made requests call their hooks later, and cannot be cancelled")
    func readyMade() async throws {
        let answered = ResourceRequest<Item>.answered(Item(name: "a"), status: .created)
        answered.cancel()
        #expect(answered.isCompleted)
        #expect(try await answered.response.status == .created)
        let failed = ResourceRequest<Item>.failed(RequestFailure(.timeout, "late"))
        let end = Latch()
        let journal = Journal()
        failed.onFailure { failure in
            journal.add(failure.message)
            end.open()
        }
        await end.wait()
        #expect(journal.all == ["late"])
        await #expect(throws: RequestFailure(.timeout, "")) { try await failed.repeated().content }
    }

    @Test("Only the first outcome of a custom request counts")
    func custom() async throws {
        let journal = Journal()
        let request = ResourceRequest<Item>.custom { completion in
            journal.add("begun, completed: \(completion.isCompleted)")
            journal.add("\(completion.complete(.success(ResourceResponse(Item(name: "first")))))")
            journal.add("\(completion.complete(.success(ResourceResponse(Item(name: "second")))))")
            journal.add("completed: \(completion.isCompleted)")
        }
        #expect(journal.all.isEmpty)
        #expect(try await request.content.name == "first")
        _ = try await request.repeated().content
        #expect(journal.all.prefix(4) == ["begun, completed: false", "true", "false", "completed: true"])
    }
}

@Suite("Resource: chained requests", .leavesNothing)
struct RequestChainTests {
    // Deeper than a stack allows. Sanitized tasks change threads so slowly that other tests would miss their deadlines.
    #if ESSENTIALS_THREAD_SANITIZER
        private static let depth = 500
    #else
        private static let depth = 20_000
    #endif

    @Test("A chain keeps, replaces or passes on the outcome of its first request")
    func steps() async throws {
        let first = ResourceRequest<Item>.answered(Item(name: "a"))
        #expect(try await first.chained { _ in .keep }.content.name == "a")
        #expect(try await first.chained { _ in .use(.success(ResourceResponse(Item(name: "b")))) }.content.name == "b")
        #expect(try await first.chained { _ in .pass(to: .answered(Item(name: "c"))) }.content.name == "c")
        let failed = ResourceRequest<Item>.failed(RequestFailure(.timeout, ""))
        #expect(
            try await failed.chained { outcome in
                if case .failure = outcome { .pass(to: first) } else { .keep }
            }.content.name == "a")
    }

    @Test("A chain begins with its first request")
    func start() async throws {
        let first = ResourceRequest<Item>.custom { $0.complete(.success(ResourceResponse(Item(name: "a")))) }
        let chain = first.chained { _ in .keep }
        #expect(chain.phase == .notStarted)
        first.start()
        #expect(chain.phase != .notStarted)
        #expect(try await chain.content.name == "a")
        #expect(first.chained { _ in .keep }.phase != .notStarted)
    }

    @Test("Cancelling a chain cancels the running request, and its closure is not called")
    func cancelling() async throws {
        let journal = Journal()
        let first = ResourceRequest<Item>.custom { _ in }
        let chain = first.chained { _ in
            journal.add("closure")
            return .keep
        }
        chain.start().cancel()
        #expect(first.isCompleted)
        await #expect(throws: RequestFailure(.cancelled, "")) { try await chain.content }
        #expect(journal.all.isEmpty)

        let second = ResourceRequest<Item>.custom { _ in journal.add("second") }
        let begun = Latch()
        let passing = ResourceRequest<Item>.answered(Item(name: "a")).chained { _ in
            begun.open()
            return .pass(to: second)
        }
        await begun.wait()
        while second.phase == .notStarted { await Task.yield() }
        passing.cancel()
        #expect(second.isCompleted)
    }

    @Test("Cancelling a chain of 20,000 retries cancels the last one, regardless of the size of the stack")
    func manyRetries() async throws {
        let last = ResourceRequest<Item>.custom { _ in }
        @Sendable func retry(_ count: Int) -> ResourceRequest<Item> {
            ResourceRequest<Item>.failed(RequestFailure(.timeout, "")).chained { _ in
                .pass(to: count == 0 ? last : retry(count - 1))
            }
        }
        let chain = retry(Self.depth)
        while last.phase == .notStarted { await Task.yield() }
        chain.cancel()
        #expect(last.isCompleted && chain.isCompleted)
        await #expect(throws: RequestFailure(.cancelled, "")) { try await chain.content }
    }

    @Test("A request that begins 20,000 nested chains starts and ends all of them")
    func manyBeginnings() async throws {
        for startsFirst in [true, false] {
            let first = ResourceRequest<Item>.custom { _ in }
            let chain = (0..<Self.depth).reduce(first) { request, _ in request.chained { _ in .keep } }
            _ = startsFirst ? first.start() : chain.start()
            #expect(chain.phase == .running)
            while first.phase == .notStarted { await Task.yield() }
            chain.cancel()
            #expect(first.isCompleted && chain.isCompleted)
        }
    }

    @Test("20,000 nested chains are repeated and released, regardless of the size of the stack")
    func manyRepeated() async throws {
        let first = ResourceRequest<Int>.custom { $0.complete(.success(ResourceResponse(0))) }
        let chain = (0..<Self.depth).reduce(first) { request, _ in
            request.chained { outcome in
                guard case .success(let response) = outcome else { return .keep }
                return .use(.success(ResourceResponse(response.content + 1)))
            }
        }
        #expect(try await chain.repeated().content == Self.depth)
        #expect(chain.phase == .notStarted && first.phase == .notStarted)
        _ = chain.repeated()
        #expect(try await chain.content == Self.depth)
    }

    @Test("A chain that is released while its first request is started breaks nothing")
    func droppedWhileStarting() async throws {
        for _ in 0..<200 {
            let first = ResourceRequest<Int>.custom { $0.complete(.success(ResourceResponse(0))) }
            var chain: ResourceRequest<Int>? = (0..<20).reduce(first) { request, _ in request.chained { _ in .keep } }
            let starting = Task { first.start() }
            _ = chain?.phase
            chain = nil
            #expect(try await starting.value.content == 0)
        }
    }

    @Test("The closure of a chain receives the cancellation of its first request")
    func cancelledFirst() async throws {
        let first = ResourceRequest<Item>.custom { _ in }
        let chain = first.chained { outcome in
            guard case .failure(let failure) = outcome, failure.reason == .cancelled else { return .keep }
            return .use(.success(ResourceResponse(Item(name: "instead"))))
        }
        chain.start()
        first.cancel()
        #expect(try await chain.content.name == "instead")
    }

    @Test("A repeated chain repeats its first request and its closure")
    func repeated() async throws {
        let journal = Journal()
        let chain = ResourceRequest<Item>.custom { completion in
            journal.add("first")
            completion.complete(.success(ResourceResponse(Item(name: "a"))))
        }.chained { _ in
            journal.add("closure")
            return .keep
        }
        _ = try await chain.content
        _ = try await chain.repeated().content
        #expect(journal.all == ["first", "closure", "first", "closure"])
    }
}

@Suite("Resource: progress of requests", .leavesNothing)
struct RequestProgressTests {
    private final class Values: Sendable {
        private let values = Mutex<[Double]>([])
        var all: [Double] { values.withLock { $0 } }
        func add(_ value: Double) { values.withLock { $0.append(value) } }
    }

    @Test("Progress grows with time and bytes, never decreases, and is 1 once before the hooks")
    func progress() async throws {
        let fixture = try ResourceFixture()
        let latch = Latch()
        fixture.transport.on(.get, "/v1/item").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "a"))
        }
        let item: Resource<Item> = fixture.service.resource("item")
        let values = Values()
        let atEnd = Values()
        let end = Latch()
        let request = item.loadRequest().onProgress { values.add($0) }
            .onCompletion { _ in
                atEnd.add(Double(values.all.count))
                end.open()
            }
            .start()
        _ = try await fixture.transport.request(number: 1)
        await fixture.clock.waitForSleepers(count: 1)
        fixture.clock.advance(by: .milliseconds(50))
        await fixture.clock.waitForSleepers(count: 1)
        let early = values.all
        #expect(early.count == 1 && early[0] > 0 && early[0] < 0.2)
        latch.open()
        _ = try await request.content
        await end.wait()
        #expect(values.all == values.all.sorted())
        #expect(values.all.last == 1)
        #expect(values.all.count { $0 == 1 } == 1)
        #expect(atEnd.all == [Double(values.all.count)])
    }

    @Test(
        "Progress rises while the server prepares its response to an upload, whether its size is known or not",
        arguments: [true, false])
    func waiting(knowsSize: Bool) async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.put, "/v1/item").answer(text: "done", after: .seconds(10))
        let item: Resource<String> = fixture.service.resource("item")
        let values = Values()
        let data = Data(repeating: 7, count: 200_000)
        let pieces = AsyncStream<Data> { continuation in
            continuation.yield(data)
            continuation.finish()
        }
        let body: DataRequest.Body = knowsSize ? .data(data) : .raw(.stream(pieces, length: nil))
        let request = item.request(.put, body: body, as: String.self).onProgress { values.add($0) }.start()
        _ = try await fixture.transport.request(number: 1)
        // The delay of the response, and the progress, which grows with time.
        var uploaded = 0.0
        for round in 0..<40 {
            await fixture.clock.waitForSleepers(count: 2)
            if round == 1 { uploaded = values.all.last ?? 0 }
            fixture.clock.advance(by: .milliseconds(50))
        }
        await fixture.clock.waitForSleepers(count: 2)
        // The connection and the upload are done. The wait for the response and the download are not.
        #expect(uploaded > 0.4)
        #expect(values.all.last.map { $0 > uploaded + 0.05 && $0 < 1 } == true)
        #expect(values.all.count > 30)
        fixture.clock.advance(by: .seconds(10))
        _ = try await request.content
        #expect(values.all == values.all.sorted() && values.all.last == 1)
    }

    @Test("The progress of a chain covers its requests")
    func chain() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "a"))
        let item: Resource<Item> = fixture.service.resource("item")
        let values = Values()
        let chain = item.loadRequest().chained { _ in .pass(to: item.request(.get)) }.onProgress { values.add($0) }
        _ = try await chain.content
        #expect(values.all == values.all.sorted())
        #expect(values.all.contains(0.8))
        #expect(values.all.last == 1)
        #expect(values.all.count { $0 == 1 } == 1)
    }
}

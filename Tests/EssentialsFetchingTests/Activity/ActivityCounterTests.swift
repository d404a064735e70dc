import Dispatch
import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Glibc
import TestTools
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite("Activity counter", .timeLimit(.minutes(5)))
struct ActivityCounterTests {
    /// A counted service whose requests wait until the latch is opened.
    private struct Fixture {
        let counter = ActivityCounter()
        let latch = Latch()
        let clock = ManualClock()
        let transport: ScriptedTransport
        let service: HTTPDataRequestService
        let requests: any DataRequestService

        init(_ change: (inout HTTPDataRequestService.Configuration) -> Void = { _ in }) throws {
            transport = ScriptedTransport(clock: clock)
            var settings = HTTPDataRequestService.Configuration()
            settings.clock = clock.requestClock
            change(&settings)
            service = HTTPDataRequestService(
                environment: try ConstantEnvironment("https://h/v1/"), transport: transport, configuration: settings)
            requests = counter.counting(service)
        }

        func answer(_ path: String, _ answer: ScriptedAnswer) {
            transport.on(.get, path).answer { [latch] _ in
                await latch.wait()
                return answer
            }
        }
    }

    /// How a request ends.
    enum End: CaseIterable {
        case success, status, failure, invalid, redirect, retry, cancelled, closed, stream, brokenStream, releasedStream
        case download, failedDownload
    }

    @Test("The number is 1 during a request and 0 after it, for every kind of end", arguments: End.allCases)
    func ends(end: End) async throws {
        let fixture = try Fixture { if end == .retry { $0.retry = .standard } }
        let (counter, requests) = (fixture.counter, fixture.requests)
        switch end {
        case .status: fixture.answer("/v1/a", ScriptedAnswer(.notFound))
        case .failure: fixture.answer("/v1/a", .failure(.connection))
        case .redirect:
            fixture.answer("/v1/a", ScriptedAnswer(.found, headerFields: [.location: "/v1/b"]))
            fixture.answer("/v1/b", ScriptedAnswer(text: "x"))
        case .retry: fixture.answer("/v1/a", ScriptedAnswer(.serviceUnavailable))
        case .brokenStream: fixture.answer("/v1/a", ScriptedAnswer(pieces: ["x", .failure(.interrupted)]))
        default: fixture.answer("/v1/a", ScriptedAnswer(pieces: ["x", "y"]))
        }
        var request = DataRequest(.get, end == .invalid ? "https://" : "a")
        if [.stream, .brokenStream, .releasedStream].contains(end) { request.options.delivery = .streamed }
        let path = "/tmp/essentials-activity-\(getpid())-\(end)"
        var task: Task<DataResponse?, any Error>? = Task { [request] in
            if end == .download || end == .failedDownload {
                let destination = end == .download ? path : "/nowhere/at/all"
                _ = try await requests.download(request, to: destination, options: DownloadOptions(), progress: nil)
                return nil
            }
            return try await requests.send(request)
        }
        if end != .invalid && end != .failedDownload {
            _ = try await fixture.transport.request(number: 1)
            #expect(counter.count == 1)
        }
        if end == .cancelled { task?.cancel() }
        let shutdown = end == .closed ? Task { await fixture.service.shutdown() } : nil
        await shutdown?.value
        fixture.latch.open()
        if end == .retry {
            await fixture.clock.waitForSleepers(count: 1)
            #expect(counter.count == 1)
            fixture.transport.on(.get, "/v1/a").answer(text: "x")
            fixture.clock.advance(by: .seconds(600))
        }
        var result: Result<DataResponse?, any Error>? = await task?.result
        if var body = (try? result?.get())?.body.makeAsyncIterator(), request.options.delivery == .streamed {
            #expect(counter.count == 1)
            if end != .releasedStream {
                while let chunk = try? await body.next() { #expect(chunk.count == 1 && counter.count == 1) }
                #expect(counter.count == 0)
            }
        }
        let succeeds: [End] = [.success, .redirect, .retry, .stream, .brokenStream, .releasedStream, .download]
        let hasSucceeded = if case .success = result { true } else { false }
        #expect(hasSucceeded == succeeds.contains(end))
        // They hold the body.
        (result, task) = (nil, nil)
        while end == .releasedStream, counter.count > 0 { await Task.yield() }
        #expect(counter.count == 0)
        unlink(path)
    }

    @Test("Requests with completion handlers and shared requests count each, and cancelled ones no longer do")
    func callbacks() async throws {
        let fixture = try Fixture { $0.joins = true }
        fixture.answer("/v1/a", ScriptedAnswer(text: "x"))
        let queue = DispatchQueue(label: "test")
        let tokens = (0..<3).map { _ in
            fixture.requests.get("a", deserializeTo: String.self, completionQueue: queue) { _ in }
        }
        while fixture.counter.count < 3 { await Task.yield() }
        // A request that has not joined yet would be sent on its own.
        while fixture.service.settings.joins?.usage.waiters != 3 { await Task.yield() }
        tokens[0].cancel()
        while fixture.counter.count > 2 { await Task.yield() }
        fixture.latch.open()
        while fixture.counter.count > 0 { await Task.yield() }
        #expect(fixture.transport.requestCount == 1)
    }

    @Test("Requests to full URLs are counted as well, and one counter has the sum of several services")
    func sum() async throws {
        let fixture = try Fixture()
        fixture.answer("/v1/a", ScriptedAnswer(text: "x"))
        let open = fixture.counter.counting(HTTPDataRequestService.forAnyServer(over: fixture.transport))
        let requests = fixture.requests
        let tasks = [
            Task { _ = try await requests.send(DataRequest(.get, "a")) },
            Task { _ = try await open.send(DataRequest(at: "https://other.example.com/v1/a")) },
            Task { _ = try await open.get("https://other.example.com/v1/a", as: String.self) },
        ]
        _ = try await fixture.transport.request(number: 3)
        #expect(fixture.counter.count == 3)
        fixture.latch.open()
        for task in tasks { try await task.value }
        #expect(fixture.counter.count == 0)
        let path = "/tmp/essentials-activity-\(getpid())-open"
        _ = try await open.download("https://other.example.com/v1/a", to: path)
        #expect(fixture.counter.count == 0)
        unlink(path)
    }

    @Test("The sequence begins with the current number, gives the newest one, and ends with its task")
    func sequence() async throws {
        let counter = ActivityCounter()
        let first = counter.begin()
        var iterator = counter.counts.makeAsyncIterator()
        #expect(await iterator.next() == 1)
        var others = (0..<5).map { _ in counter.begin() }
        #expect(await iterator.next() == 6)
        // A change that is undone before it is read does not count.
        counter.begin().end()
        others.removeLast()
        first.end()
        first.end()
        #expect(await iterator.next() == 4)
        others = []
        #expect(await iterator.next() == 0)
        let task = Task {
            var seen: [Int] = []
            for await count in counter.counts { seen.append(count) }
            return seen
        }
        task.cancel()
        #expect(await task.value.allSatisfy { $0 == 0 })
    }

    @Test("The number is never negative and 0 at the end, with many threads that begin, end and cancel")
    func concurrent() async throws {
        let fixture = try Fixture()
        fixture.transport.on(.get, "/v1/a").answer(text: "x")
        fixture.latch.open()
        let (counter, requests) = (fixture.counter, fixture.requests)
        let watcher = Task {
            var least = 0
            for await count in counter.counts { least = min(least, count) }
            return least
        }
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<300 {
                group.addTask {
                    let task = Task { try await requests.send(DataRequest(.get, "a")) }
                    if index % 3 == 0 { task.cancel() }
                    _ = await task.result
                }
            }
        }
        #expect(counter.count == 0)
        watcher.cancel()
        #expect(await watcher.value == 0)
    }
}

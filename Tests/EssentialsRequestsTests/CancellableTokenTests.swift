import Dispatch
import EssentialsHTTP
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsRequests

@Suite struct CancellableTokenTests {
    @Test("A new token is neither cancelled nor finished")
    func new() {
        let token = CancellableToken()
        #expect(!token.isCancelled)
        #expect(!token.isFinished)
    }

    @Test("A token calls its cancellation once, even if it is attached after cancelling", arguments: [false, true])
    func attach(cancelsFirst: Bool) {
        let calls = Mutex(0)
        let token = CancellableToken()
        if cancelsFirst { token.cancel() }
        token.attach { calls.withLock { $0 += 1 } }
        token.cancel()
        token.cancel()
        #expect(calls.withLock { $0 } == 1)
        #expect(token.isCancelled)
    }

    @Test("A token that has finished cannot be cancelled")
    func finished() throws {
        let token = CancellableToken()
        #expect(try token.finish(with: .success(1))?.get() == 1)
        token.attach { Issue.record("It was over.") }
        token.cancel()
        #expect(token.isFinished)
        #expect(!token.isCancelled)
    }

    @Test("After cancelling every outcome is cancelled, and the transport's own failure is kept")
    func outcome() {
        let token = CancellableToken()
        token.cancel()
        let results: [Result<Int, RequestFailure>] = [
            .success(1), .failure(RequestFailure(.status, "No.")), .failure(RequestFailure(.cancelled, "Told so.")),
        ]
        let failures = results.map { result in
            #expect(throws: RequestFailure.self) { try token.finish(with: result)?.get() }
        }
        #expect(failures.map { $0?.reason } == [.cancelled, .cancelled, .cancelled])
        #expect(failures.last??.message == "Told so.")
        #expect(!token.isFinished)
    }

    @Test("A silently cancelled token calls no handler")
    func silent() {
        let results: [Result<Int, RequestFailure>] = [.success(1), .failure(RequestFailure(.cancelled, "Told so."))]
        for result in results {
            let token = CancellableToken()
            token.cancel(silently: true)
            token.cancel()
            #expect(token.finish(with: result) == nil)
            #expect(token.state == .cancelled)
        }
    }

    @Test("Tokens are equal only to themselves and describe the state of their request")
    func identity() throws {
        let (one, other) = (CancellableToken(), CancellableToken())
        #expect(one == one)
        #expect(one != other)
        #expect(Set([one, other, one]).count == 2)
        #expect(one.id != other.id)
        #expect(one.state == .running)
        _ = one.finish(with: .success(1))
        #expect(one.state == .finished)
    }

    @Test("Progress is available as the newest value and as a stream that ends with the request")
    func progress() async {
        let token = CancellableToken()
        #expect(token.progress == nil)
        var early = token.progressUpdates.makeAsyncIterator()
        token.reached(TransferProgress(bytes: 1, expected: 3))
        #expect(await early.next()?.bytes == 1)
        token.reached(TransferProgress(bytes: 2, expected: 3))
        token.reached(TransferProgress(bytes: 3, expected: 3))
        #expect(token.progress?.bytes == 3)
        var late = token.progressUpdates.makeAsyncIterator()
        _ = token.finish(with: .success(()))
        #expect(await early.next()?.bytes == 3)
        #expect(await early.next() == nil)
        #expect(await late.next()?.bytes == 3)
        #expect(await late.next() == nil)
        var after = token.progressUpdates.makeAsyncIterator()
        #expect(await after.next()?.bytes == 3)
        #expect(await after.next() == nil)
    }

    @Test("Cancelling while 10,000 requests complete gives each handler one result")
    func race() async throws {
        let count = 10_000
        let service = try service()
        let calls = Mutex(Array(repeating: 0, count: count))
        let reasons = Mutex(Set<RequestFailure.Reason>())
        let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
        let serial = DispatchQueue(label: "handlers")
        let canceller = DispatchQueue(label: "canceller")
        for index in 0..<count {
            let token = service.get("a", deserializeTo: [Int].self, completionQueue: serial) { result in
                calls.withLock { $0[index] += 1 }
                if case .failure(let failure) = result { reasons.withLock { _ = $0.insert(failure.reason) } }
                continuation.yield()
            }
            canceller.async { token.cancel() }
        }
        var seen = 0
        for await _ in ends {
            seen += 1
            if seen == count { break }
        }
        for queue in [canceller, serial] {
            await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
        }
        #expect(calls.withLock { $0.allSatisfy { $0 == 1 } })
        #expect(reasons.withLock { $0.isSubset(of: [.cancelled]) })
    }

    @Test("On the handler's serial queue no success follows after cancel has returned")
    func noSuccessAfterCancel() async throws {
        let service = try service()
        let serial = DispatchQueue(label: "handlers")
        let late = Mutex(0)
        let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
        for _ in 0..<Rounds.racing(2_000) {
            let returned = Flag()
            let token = service.get("a", deserializeTo: [Int].self, completionQueue: serial) { result in
                if case .success = result, returned.isSet { late.withLock { $0 += 1 } }
                continuation.yield()
            }
            serial.async {
                token.cancel()
                returned.set()
            }
        }
        var seen = 0
        for await _ in ends {
            seen += 1
            if seen == Rounds.racing(2_000) { break }
        }
        #expect(late.withLock { $0 } == 0)
    }

    private func service() throws -> HTTPDataRequestService {
        let transport = StubTransport { _ in
            for _ in 0..<Int.random(in: 0...3) { await Task.yield() }
            return TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data("[1]".utf8)))
        }
        return HTTPDataRequestService(environment: try ConstantEnvironment("https://h/"), transport: transport)
    }
}

/// A flag that is set once and can be read from any thread.
private final class Flag: Sendable {
    private let state = Mutex(false)
    var isSet: Bool { state.withLock { $0 } }
    func set() { state.withLock { $0 = true } }
}

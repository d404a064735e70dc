import Dispatch
import EssentialsTools
import Glibc
import Testing

@testable import EssentialsReachability

@Suite(.timeLimit(.minutes(5))) struct StatusBoardTests {
    private let down = ReachabilityStatus.unreachable(RouteError(code: ENETDOWN))

    @Test("A stream delivers the current status immediately, then changes, and ends with the board")
    func stream() async {
        let board = StatusBoard()
        board.publish(.local)
        var first = board.stream().makeAsyncIterator()
        var second = board.stream().makeAsyncIterator()
        #expect(await first.next() == .local)
        board.publish(.local)
        board.publish(down)
        #expect(await first.next() == down)
        #expect(await second.next() == down)
        board.close()
        #expect(await first.next() == nil)
        #expect(await second.next() == nil)
        #expect(board.status == .unknown)
    }

    @Test("A slow reader receives only the newest status")
    func newest() async {
        let board = StatusBoard()
        var iterator = board.stream().makeAsyncIterator()
        for status in [.local, down, .local, down] { board.publish(status) }
        #expect(await iterator.next() == down)
        board.publish(.local)
        #expect(await iterator.next() == .local)
    }

    @Test("A released stream is removed")
    func forgotten() async {
        let board = StatusBoard()
        do {
            var iterator = board.stream().makeAsyncIterator()
            #expect(await iterator.next() == .unknown)
            #expect(board.observerCount == 1)
        }
        #expect(board.observerCount == 0)
        let task = Task { for await _ in board.stream() {} }
        task.cancel()
        await task.value
        #expect(board.observerCount == 0)
    }

    @Test("A handler is called on its queue with the current status and then with changes")
    func handler() async throws {
        let board = StatusBoard()
        let queue = DispatchQueue(label: "test")
        let key = DispatchSpecificKey<Int>()
        queue.setSpecific(key: key, value: 5)
        let (seen, continuation) = AsyncStream.makeStream(of: ReachabilityStatus.self)
        let observation = board.observe(on: queue) { status in
            if DispatchQueue.getSpecific(key: key) == 5 { continuation.yield(status) }
        }
        var iterator = seen.makeAsyncIterator()
        #expect(await iterator.next() == .unknown)
        board.publish(.local)
        #expect(await iterator.next() == .local)
        board.publish(down)
        #expect(await iterator.next() == down)
        #expect(observation.isActive)
    }

    @Test("A handler without a queue is never called concurrently and skips intermediate statuses")
    func slowHandler() async {
        let board = StatusBoard()
        let (entered, leave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let seen = Mutex<[ReachabilityStatus]>([])
        let observation = board.observe(on: nil) { status in
            seen.withLock { $0.append(status) }
            entered.signal()
            leave.wait()
        }
        await Self.wait(for: entered)
        for status in [.local, down, .local, down] { board.publish(status) }
        leave.signal()
        await Self.wait(for: entered)
        leave.signal()
        #expect(seen.withLock { $0 } == [.unknown, down])
        observation.cancel()
    }

    @Test("An observation ends when it is cancelled or released, and its handler is released")
    func ends() async {
        let board = StatusBoard()
        let queue = DispatchQueue(label: "test")
        let calls = Mutex(0)
        final class Marker: Sendable {}
        weak var marker: Marker?
        do {
            let held = Marker()
            marker = held
            let cancelled = board.observe(on: queue) { _ in
                withExtendedLifetime(held) { calls.withLock { $0 += 1 } }
            }
            queue.sync {}
            cancelled.cancel()
            cancelled.cancel()
            #expect(!cancelled.isActive)
            _ = board.observe(on: queue) { _ in withExtendedLifetime(held) {} }
        }
        board.publish(.local)
        queue.sync {}
        #expect(calls.withLock { $0 } == 1)
        #expect(board.observerCount == 0)
        #expect(marker == nil)
    }

    @Test("Cancelling on the handler's serial queue ends the calls immediately")
    func cancelOnQueue() {
        let board = StatusBoard()
        let queue = DispatchQueue(label: "test")
        let calls = Mutex(0)
        queue.sync {
            let observation = board.observe(on: queue) { _ in calls.withLock { $0 += 1 } }
            board.publish(.local)
            observation.cancel()
        }
        queue.sync {}
        #expect(calls.withLock { $0 } == 0)
    }

    @Test("An observer above the limit receives only the current status")
    func tooMany() async {
        let board = StatusBoard()
        board.publish(.local)
        let streams = (0..<StatusBoard.limit).map { _ in board.stream() }
        var iterator = board.stream().makeAsyncIterator()
        #expect(await iterator.next() == .local)
        #expect(await iterator.next() == nil)
        let (seen, continuation) = AsyncStream.makeStream(of: ReachabilityStatus.self)
        let observation = board.observe(on: nil) { continuation.yield($0) }
        #expect(!observation.isActive)
        var values = seen.makeAsyncIterator()
        #expect(await values.next() == .local)
        #expect(board.observerCount == streams.count)
    }

    @Test(
        "A task that waits for the first status resumes when it is found, when the board closes or when it is cancelled"
    )
    func settling() async {
        let board = StatusBoard()
        async let waiting = board.settledStatus()
        let cancelled = Task { await board.settledStatus() }
        cancelled.cancel()
        #expect(await cancelled.value == .unknown)
        board.publish(.local)
        board.settle()
        #expect(await waiting == .local)
        #expect(await board.settledStatus() == .local)
        let other = StatusBoard()
        async let unsettled = other.settledStatus()
        other.close()
        #expect(await unsettled == .unknown)
        #expect(await other.settledStatus() == .unknown)
    }

    @Test("Observers that come and go while statuses change receive none twice in a row and the last one at the end")
    func crowd() async {
        let board = StatusBoard()
        let last = ReachabilityStatus.unreachable(RouteError(code: 4000))
        await withTaskGroup(of: [ReachabilityStatus].self) { group in
            for _ in 0..<16 {
                group.addTask {
                    var seen: [ReachabilityStatus] = []
                    for await status in board.stream() {
                        seen.append(status)
                        if status == last { break }
                    }
                    return seen
                }
            }
            group.addTask {
                for code in Int32(1)...4000 {
                    board.publish(.unreachable(RouteError(code: code)))
                    if code % 64 == 0 { board.observe(on: nil) { _ in }.cancel() }
                }
                return []
            }
            for await seen in group where !seen.isEmpty {
                let codes = seen.map { if case .unreachable(let error) = $0 { error.code } else { 0 } as Int32 }
                #expect(zip(codes, codes.dropFirst()).allSatisfy { $0 < $1 })
                #expect(codes.last == 4000)
            }
        }
        #expect(board.observerCount == 0)
    }

    private static func wait(for semaphore: DispatchSemaphore) async {
        await withCheckedContinuation { continuation in
            let thread = try? SystemThread(named: "test-wait") {
                semaphore.wait()
                continuation.resume()
            }
            if let thread { thread.detach() } else { continuation.resume() }
        }
    }
}

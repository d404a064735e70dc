#if Persistence
    import Dispatch
    import EssentialsTools
    import Testing

    @testable import EssentialsSQLite

    @Suite(.timeLimit(.minutes(5)))
    struct WorkQueueTests {
        @Test("Closures run in the order of submission, and never more at a time than the width of the queue")
        func order() async {
            let narrow = WorkQueue("test", width: 1)
            let started = Mutex<[Int]>([])
            let wide = WorkQueue("test", width: 3)
            let counts = Mutex((running: 0, greatest: 0))
            let group = DispatchGroup()
            for number in 0..<200 {
                group.enter()
                narrow.submit {
                    started.withLock { $0.append(number) }
                    group.leave()
                }
                group.enter()
                wide.submit {
                    counts.withLock { counts in
                        counts.running += 1
                        counts.greatest = max(counts.greatest, counts.running)
                    }
                    counts.withLock { $0.running -= 1 }
                    group.leave()
                }
            }
            await withCheckedContinuation { continuation in group.notify(queue: .global()) { continuation.resume() } }
            #expect(started.withLock { $0 } == Array(0..<200))
            #expect(counts.withLock { (1...3).contains($0.greatest) })
        }

        @Test("A closure that has waited for its turn is released after it has run")
        func releasing() async {
            final class Token: Sendable {}
            let queue = WorkQueue("test", width: 1)
            let gate = DispatchSemaphore(value: 0)
            let ended = DispatchSemaphore(value: 0)
            queue.submit { gate.wait() }
            weak var token: Token?
            do {
                let held = Token()
                token = held
                queue.submit { _ = held }
            }
            queue.submit { ended.signal() }
            gate.signal()
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    ended.wait()
                    continuation.resume()
                }
            }
            #expect(token == nil)
        }

        @Test("Tasks run while all closures of a queue are blocked")
        func blocked() async {
            let queue = WorkQueue("test", width: 16)
            let gate = DispatchSemaphore(value: 0)
            let ended = DispatchGroup()
            for _ in 0..<16 {
                ended.enter()
                queue.submit {
                    gate.wait()
                    ended.leave()
                }
            }
            let sum = await withTaskGroup(of: Int.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        await Task.yield()
                        return number
                    }
                }
                return await group.reduce(0, +)
            }
            #expect(sum == 4_950)
            for _ in 0..<16 { gate.signal() }
            await withCheckedContinuation { continuation in ended.notify(queue: .global()) { continuation.resume() } }
        }
    }
#endif

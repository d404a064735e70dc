import TestTools
import Testing

@testable import EssentialsTools

@Suite(.timeLimit(.minutes(5))) struct AsyncMutexTests {
    @Test("A free mutex is taken without a wait, even by a cancelled task")
    func free() async {
        let mutex = AsyncMutex()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await mutex.enter()
        }
        #expect(await task.value == .entered)
        mutex.leave()
        #expect(await mutex.enter() == .entered)
    }

    @Test("A thousand tasks get the mutex one after the other, in the order of their calls")
    func order() async {
        let mutex = AsyncMutex()
        #expect(await mutex.enter() == .entered)
        let (order, isInside) = (Guarded<[Int]>([]), Guarded(false))
        let tasks = (0..<1_000).map { number in
            Task.immediate {
                #expect(await mutex.enter() == .entered)
                #expect(!isInside.value.withLock { $0 })
                isInside.value.withLock { $0 = true }
                await Task.yield()
                order.value.withLock { $0.append(number) }
                isInside.value.withLock { $0 = false }
                mutex.leave()
            }
        }
        #expect(mutex.waiterCount == 1_000)
        mutex.leave()
        for task in tasks { await task.value }
        #expect(order.value.withLock { $0 } == Array(0..<1_000))
        #expect(await mutex.enter() == .entered)
    }

    @Test("A cancelled wait ends at once, and the next task gets the turn")
    func cancellation() async {
        let mutex = AsyncMutex()
        #expect(await mutex.enter() == .entered)
        let during = Task.immediate { await mutex.enter() }
        let next = Task.immediate { await mutex.enter() }
        during.cancel()
        #expect(await during.value == .cancelled)
        let before = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await mutex.enter()
        }
        #expect(await before.value == .cancelled)
        mutex.leave()
        next.cancel()
        // It has the mutex already.
        #expect(await next.value == .entered)
        #expect(mutex.waiterCount == 0)
        mutex.leave()
        #expect(await mutex.enter() == .entered)
    }

    @Test("Beyond the maximum of waiters a task is refused")
    func maximum() async {
        let mutex = AsyncMutex(maximumWaiters: 1)
        #expect(await mutex.enter() == .entered)
        let waiting = Task.immediate { await mutex.enter() }
        #expect(await mutex.enter() == .full)
        waiting.cancel()
        #expect(await waiting.value == .cancelled)
        let other = Task.immediate { await mutex.enter() }
        mutex.leave()
        #expect(await other.value == .entered)
    }

    @Test("Random steps give the same as an array", arguments: [UInt64](1...20))
    func reference(seed: UInt64) async {
        var numbers = SeededNumbers(state: seed)
        let mutex = AsyncMutex(maximumWaiters: 5)
        var isHeld = false
        var waiting: [Task<AsyncMutex.Entry, Never>] = []
        for step in 0..<1_000 {
            switch Int.random(in: 0..<8, using: &numbers) {
            case 0..<4:
                let task = Task.immediate { await mutex.enter() }
                if isHeld, waiting.count < 5 {
                    waiting.append(task)
                } else {
                    #expect(await task.value == (isHeld ? .full : .entered), "seed \(seed), step \(step)")
                    isHeld = true
                }
            case 4..<7 where isHeld:
                mutex.leave()
                if waiting.isEmpty {
                    isHeld = false
                } else {
                    #expect(await waiting.removeFirst().value == .entered, "seed \(seed), step \(step)")
                }
            case 7 where !waiting.isEmpty:
                let task = waiting.remove(at: Int.random(in: 0..<waiting.count, using: &numbers))
                task.cancel()
                #expect(await task.value == .cancelled, "seed \(seed), step \(step)")
            default: break
            }
            #expect(mutex.waiterCount == waiting.count)
        }
        for task in waiting { task.cancel() }
        for task in waiting { #expect(await task.value == .cancelled) }
    }

    @Test("No turn is lost when tasks are cancelled while they get it", arguments: [UInt64](1...20))
    func races(seed: UInt64) async {
        var numbers = SeededNumbers(state: seed)
        let mutex = AsyncMutex()
        let entered = Guarded(0)
        let tasks = (0..<200).map { _ in
            Task {
                guard await mutex.enter() == .entered else { return false }
                entered.value.withLock { $0 += 1 }
                mutex.leave()
                return true
            }
        }
        for task in tasks where Bool.random(using: &numbers) { task.cancel() }
        var count = 0
        for task in tasks where await task.value { count += 1 }
        #expect(entered.value.withLock { $0 } == count, "seed \(seed)")
        #expect(mutex.waiterCount == 0)
        #expect(await mutex.enter() == .entered)
    }
}

/// A value that several tasks change.
final class Guarded<Value: Sendable>: Sendable {
    let value: Mutex<Value>

    init(_ value: Value) { self.value = Mutex(value) }
}

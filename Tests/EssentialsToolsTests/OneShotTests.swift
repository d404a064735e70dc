import TestTools
import Testing

@testable import EssentialsTools

@Suite(.timeLimit(.minutes(5))) struct OneShotTests {
    @Test("Everything that waits gets the first value, and so does what comes later")
    func first() async {
        let shot = OneShot<Int>()
        #expect(shot.current == nil && !shot.isProvided)
        async let early = shot.value()
        async let other = shot.valueUnlessCancelled()
        #expect(shot.provide(1))
        #expect(!shot.provide(2))
        #expect(await early == 1)
        #expect(await other == 1)
        #expect(await shot.value() == 1)
        #expect(await shot.valueUnlessCancelled() == 1)
        #expect(shot.current == 1 && shot.isProvided)
    }

    @Test("A value can be nil, and is provided then")
    func optional() async {
        let shot = OneShot<Int?>()
        #expect(!shot.isProvided)
        #expect(shot.provide(nil))
        #expect(!shot.provide(1))
        #expect(shot.isProvided)
        #expect(await shot.value() == nil)
    }

    @Test("A task that was cancelled before it waits does not wait, unless the value is there")
    func cancelledBefore() async {
        let shot = OneShot<Int>()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await shot.valueUnlessCancelled()
        }
        #expect(await task.value == nil)
        shot.provide(1)
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await shot.valueUnlessCancelled()
        }
        #expect(await late.value == 1)
    }

    @Test("A cancelled wait ends at once, and the others go on")
    func cancelledDuring() async {
        let shot = OneShot<Int>()
        let tasks = (0..<10).map { _ in Task.immediate { await shot.valueUnlessCancelled() } }
        for task in tasks.prefix(5) { task.cancel() }
        for task in tasks.prefix(5) { #expect(await task.value == nil) }
        shot.provide(1)
        for task in tasks.suffix(5) { #expect(await task.value == 1) }
    }

    @Test("A cancellation after the value changes nothing")
    func cancelledAfter() async {
        let shot = OneShot<Int>()
        let task = Task.immediate { await shot.valueUnlessCancelled() }
        shot.provide(1)
        task.cancel()
        #expect(await task.value == 1)
    }

    @Test("A wait for the value itself outlasts the cancellation of its task")
    func stubborn() async {
        let shot = OneShot<Int>()
        let task = Task.immediate { await shot.value() }
        task.cancel()
        shot.provide(1)
        #expect(await task.value == 1)
    }

    @Test("A thousand waiters get the value, and those that are cancelled before get none")
    func thousand() async {
        let shot = OneShot<Int>()
        let tasks = (0..<1_000).map { _ in Task { await shot.value() } }
        let others = (0..<500).map { _ in Task { await shot.valueUnlessCancelled() } }
        while shot.waiterCount < 1_500 { await Task.yield() }
        for task in others { task.cancel() }
        for task in others { #expect(await task.value == nil) }
        #expect(shot.waiterCount == 1_000)
        shot.provide(1)
        for task in tasks { #expect(await task.value == 1) }
        #expect(shot.waiterCount == 0)
    }

    @Test("A wait ends when its limit does, and the limit is cancelled with the wait")
    func limit() async {
        let shot = OneShot<Int>()
        let (over, ended) = (OneShot<Void>(), OneShot<Bool>())
        let task = Task.immediate { await shot.valueUnlessCancelled { await over.value() } }
        over.provide(())
        #expect(await task.value == nil)
        let other = Task.immediate {
            await shot.valueUnlessCancelled {
                await OneShot<Void>().valueUnlessCancelled()
                ended.provide(Task.isCancelled)
            }
        }
        shot.provide(1)
        #expect(await other.value == 1)
        #expect(await ended.value())
        // The value is there, so that no limit begins.
        #expect(await shot.valueUnlessCancelled { Issue.record("The limit has begun.") } == 1)
    }

    @Test("Beyond the maximum of waiters a wait ends at once")
    func maximum() async {
        let shot = OneShot<Int>(maximumWaiters: 2)
        let tasks = (0..<2).map { _ in Task.immediate { await shot.valueUnlessCancelled() } }
        #expect(await shot.valueUnlessCancelled() == nil)
        shot.provide(1)
        for task in tasks { #expect(await task.value == 1) }
        #expect(await shot.valueUnlessCancelled() == 1)
    }

    @Test("Listeners are called once, under no lock")
    func listeners() async {
        let shot = OneShot<Int>()
        let seen = Guarded<[Int]>([])
        shot.whenProvided { value in
            // It would not return under the lock.
            #expect(shot.current == value)
            shot.whenProvided { late in seen.value.withLock { $0.append(late + 1) } }
            seen.value.withLock { $0.append(value) }
        }
        #expect(seen.value.withLock { $0 } == [])
        shot.provide(1)
        shot.provide(2)
        #expect(seen.value.withLock { $0 } == [2, 1])
    }

    @Test("Each of many racing waits and cancellations ends once", arguments: [UInt64](1...20))
    func races(seed: UInt64) async {
        var numbers = SeededNumbers(state: seed)
        let shot = OneShot<Int>()
        let cancelled = (0..<200).map { _ in Bool.random(using: &numbers) }
        let tasks = cancelled.map { _ in Task { await shot.valueUnlessCancelled() } }
        let providing = Task { shot.provide(7) }
        for (task, isCancelled) in zip(tasks, cancelled) where isCancelled { task.cancel() }
        #expect(await providing.value)
        for (task, isCancelled) in zip(tasks, cancelled) {
            let value = await task.value
            #expect(value == 7 || isCancelled && value == nil, "seed \(seed)")
        }
    }
}

import Testing

@testable import EssentialsTools

@Suite(.timeLimit(.minutes(5))) struct LatestTests {
    @Test("A reader gets the newest value, and each value at most once")
    func newest() async {
        let latest = Latest<Int>(0)
        #expect(await latest.next() == 0)
        for number in 1...5 { latest.put(number) }
        #expect(await latest.next() == 5)
        let task = Task.immediate { await latest.next() }
        latest.put(6)
        latest.put(7)
        #expect(await task.value == 6)
        #expect(await latest.next() == 7)
    }

    @Test("What is there can be read after the end, and then nothing")
    func end() async {
        let latest = Latest<Int>()
        let waiting = Task.immediate { await latest.next() }
        latest.finish()
        #expect(await waiting.value == nil)
        latest.put(1)
        latest.finish()
        #expect(await latest.next() == 1)
        #expect(await latest.next() == nil)
    }

    @Test("A cancelled reader gets nothing, and takes nothing away")
    func cancellation() async {
        let latest = Latest<Int>()
        let during = Task.immediate { await latest.next() }
        during.cancel()
        #expect(await during.value == nil)
        latest.put(1)
        let before = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await latest.next()
        }
        #expect(await before.value == nil)
        #expect(await latest.next() == 1)
        let after = Task.immediate { await latest.next() }
        latest.put(2)
        after.cancel()
        #expect(await after.value == 2)
    }

    @Test("A second reader ends the wait of the first one")
    func readers() async {
        let latest = Latest<Int>()
        let first = Task.immediate { await latest.next() }
        let second = Task.immediate { await latest.next() }
        #expect(await first.value == nil)
        latest.put(1)
        #expect(await second.value == 1)
    }

    @Test("A replaced value is released under no lock")
    func release() async {
        final class Value: Sendable {
            let ended: @Sendable () -> Void
            init(_ ended: @escaping @Sendable () -> Void) { self.ended = ended }
            deinit { ended() }
        }
        let latest = Latest<Value>()
        // It would not return under the lock.
        latest.put(Value { [weak latest] in latest?.put(Value {}) })
        latest.put(Value {})
        #expect(await latest.next() != nil)
    }

    @Test("A reader of racing values gets them in order, and the last one")
    func races() async {
        let latest = Latest<Int>()
        let reading = Task {
            var last = -1
            while let value = await latest.next() {
                #expect(value > last)
                last = value
            }
            return last
        }
        for number in 0..<10_000 { latest.put(number) }
        latest.finish()
        #expect(await reading.value == 9_999)
    }
}

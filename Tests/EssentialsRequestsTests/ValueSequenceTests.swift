import EssentialsTools
import Testing

@testable import EssentialsRequests

@Suite(.timeLimit(.minutes(5))) struct ValueSequenceTests {
    /// A number that raises signals when it changes.
    private final class Number: Sendable {
        let readers = Atomic(0)
        private let value = Mutex(0)
        private let signals = ChangeSignals()

        var changes: ValueSequence<String> {
            ValueSequence(
                of: { self.value.withLock { $0 } }, isSame: { $0 / 10 == $1 / 10 }, showing: { "\($0)" },
                observing: { signal in
                    self.readers.wrappingAdd(1, ordering: .relaxed)
                    let place = self.signals.place(for: signal)
                    return Place {
                        withExtendedLifetime(place) {}
                        self.readers.wrappingSubtract(1, ordering: .relaxed)
                    }
                })
        }

        func set(_ new: Int) {
            value.withLock { $0 = new }
            signals.raise()
        }

        var readerCount: Int { readers.load(ordering: .relaxed) }
    }

    @Test("An iteration begins with its iterator, and leaves its place when the iterator is released")
    func places() async {
        let number = Number()
        let sequence = number.changes
        #expect(number.readerCount == 0)
        do {
            var (one, two) = (sequence.makeAsyncIterator(), sequence.makeAsyncIterator())
            #expect(number.readerCount == 2)
            #expect(await one.next() == "0")
            #expect(await two.next() == "0")
        }
        #expect(number.readerCount == 0)
        for await _ in sequence { break }
        #expect(number.readerCount == 0)
    }

    @Test("A slow reader finds the newest value, and values that are the same once")
    func newest() async {
        let number = Number()
        var iterator = number.changes.makeAsyncIterator()
        #expect(await iterator.next() == "0")
        for value in 1...25 { number.set(value) }
        #expect(await iterator.next() == "25")
        number.set(29)
        let reader = Task.immediate { [iterator] in
            var iterator = iterator
            return await iterator.next()
        }
        number.set(30)
        #expect(await reader.value == "30")
    }

    @Test("An iteration ends with its task, also before a change")
    func cancellation() async {
        let number = Number()
        let task = Task.immediate { await number.changes.reduce(into: []) { $0.append($1) } }
        number.set(10)
        task.cancel()
        #expect(await task.value.first == "0")
        #expect(number.readerCount == 0)
    }

    @Test("Elements are read on the actor of the reader")
    @MainActor
    func isolation() async {
        let sequence = ValueSequence<Int> {
            var last = 0
            return .init {
                MainActor.assertIsolated()
                last += 1
                return last > 3 ? nil : last
            }
        }
        var elements: [Int] = []
        for await element in sequence { elements.append(element) }
        #expect(elements == [1, 2, 3])
    }
}

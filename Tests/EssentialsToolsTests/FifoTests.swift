import TestTools
import Testing

@testable import EssentialsTools

@Suite struct FifoTests {
    @Test("Random changes give the same as an array", arguments: [UInt64](1...8))
    func reference(seed: UInt64) {
        var numbers = SeededNumbers(state: seed)
        var queue = Fifo<Int>()
        var slow: [Int] = []
        for step in 0..<4_000 {
            // Long runs of one kind, so that the queue grows beyond what it compacts.
            let adds = Int.random(in: 0..<400, using: &numbers) < (step / 500 % 2 == 0 ? 300 : 100)
            switch Int.random(in: 0..<40, using: &numbers) {
            case 0:
                queue.removeAll { $0 % 7 == 3 }
                slow.removeAll { $0 % 7 == 3 }
            case 1 where !slow.isEmpty:
                queue[slow.count - 1] = -step
                slow[slow.count - 1] = -step
            case _ where adds:
                queue.append(step)
                slow.append(step)
            default: #expect(queue.popFirst() == (slow.isEmpty ? nil : slow.removeFirst()))
            }
            #expect(queue.count == slow.count)
            #expect(queue.first == slow.first && queue.last == slow.last)
        }
        #expect(Array(queue) == slow, "seed \(seed)")
        #expect(Array(Fifo(slow)) == slow)
    }

    @Test("The memory of a rush is given back once the queue is empty, and that of a few elements is kept")
    func memory() {
        for count in [100, 100_000] {
            var queue = Fifo<Int>()
            for element in 0..<count { queue.append(element) }
            let capacity = queue.elements.capacity
            for _ in 0..<count { _ = queue.popFirst() }
            #expect(queue.elements.capacity == (count == 100 ? capacity : 0))
        }
    }

    @Test("A popped element is released at once, and not with the queue")
    func release() {
        final class Object {}
        var queue = Fifo<Object>()
        var object: Object? = Object()
        weak let last = object
        if let object { queue.append(object) }
        queue.append(Object())
        object = nil
        #expect(last != nil)
        _ = queue.popFirst()
        #expect(last == nil)
        #expect(queue.count == 1)
    }

    @Test(
        "Urgent elements leave first, and equally urgent ones in the order of their arrival", arguments: [UInt64](1...8)
    )
    func priorities(seed: UInt64) {
        var numbers = SeededNumbers(state: seed)
        var queue = PriorityFifo<Int>()
        var slow: [(level: Int, element: Int)] = []
        for step in 0..<1_000 {
            switch Int.random(in: 0..<20, using: &numbers) {
            case 0:
                queue.removeAll { $0 % 5 == 1 }
                slow.removeAll { $0.element % 5 == 1 }
            case 1..<11:
                let level = Int.random(in: 0..<4, using: &numbers)
                queue.append(step, level: level)
                let place = slow.firstIndex { $0.level > level } ?? slow.count
                slow.insert((level, step), at: place)
            default: #expect(queue.popFirst() == (slow.isEmpty ? nil : slow.removeFirst().element))
            }
            #expect(queue.count == slow.count)
        }
        #expect(queue.all == slow.map(\.element), "seed \(seed)")
    }
}

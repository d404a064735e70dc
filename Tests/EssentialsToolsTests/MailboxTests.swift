import TestTools
import Testing

@testable import EssentialsTools

@Suite(.timeLimit(.minutes(5))) struct MailboxTests {
    @Test("A full queue drops its oldest or its newest element", arguments: [true, false])
    func full(dropsOldest: Bool) async {
        let mailbox = Mailbox(BoundedQueue<Int>(limit: 3, dropsOldest ? .dropsOldest : .dropsNewest))
        for number in 1...5 { #expect(mailbox.put(number) == (number <= 3)) }
        mailbox.finish()
        var taken: [Int] = []
        while let number = await mailbox.next() { taken.append(number) }
        #expect(taken == (dropsOldest ? [3, 4, 5] : [1, 2, 3]))
    }

    @Test("A queue has room for one element at least")
    func smallest() async {
        let mailbox = Mailbox(BoundedQueue<Int>(limit: -1, .dropsOldest))
        mailbox.put(1)
        #expect(await mailbox.next() == 1)
    }

    @Test("An element for a reader that waits is delivered when the caller has left its lock")
    func held() async {
        let mailbox = Mailbox(BoundedQueue<Int>(limit: 3, .dropsOldest))
        let task = Task.immediate { await mailbox.next() }
        let (dropped, delivery) = mailbox.changeHeld { $0.put(1) }
        #expect(dropped == nil)
        // The element is on its way to the first reader.
        mailbox.put(2)
        #expect(await mailbox.next() == 2)
        delivery?.make()
        #expect(await task.value == 1)
        #expect(mailbox.changeHeld { $0.put(3) }.1 == nil)
    }

    @Test("A cancelled reader takes no element away")
    func cancellation() async {
        let mailbox = Mailbox(BoundedQueue<Int>(limit: 3, .dropsOldest))
        let during = Task.immediate { await mailbox.next() }
        during.cancel()
        mailbox.put(1)
        #expect(await during.value == nil)
        let after = Task.immediate { await mailbox.next() }
        after.cancel()
        #expect(await after.value == 1)
    }

    @Test("Random steps give the same as an array", arguments: [UInt64](1...20))
    func reference(seed: UInt64) async {
        var numbers = SeededNumbers(state: seed)
        let (limit, dropsOldest) = (Int.random(in: 1...6, using: &numbers), Bool.random(using: &numbers))
        let mailbox = Mailbox(BoundedQueue<Int>(limit: limit, dropsOldest ? .dropsOldest : .dropsNewest))
        var slow: [Int] = []
        var reader: Task<Int?, Never>?
        for step in 0..<1_000 {
            switch Int.random(in: 0..<10, using: &numbers) {
            case 0..<5:
                mailbox.put(step)
                if let waiting = reader.take() {
                    #expect(await waiting.value == step, "seed \(seed), step \(step)")
                } else if slow.count < limit {
                    slow.append(step)
                } else if dropsOldest {
                    slow = slow.dropFirst() + [step]
                }
            case 5..<9:
                if !slow.isEmpty {
                    #expect(await mailbox.next() == slow.removeFirst(), "seed \(seed), step \(step)")
                } else {
                    let earlier = reader
                    reader = Task.immediate { await mailbox.next() }
                    if let earlier { #expect(await earlier.value == nil) }
                }
            default:
                reader?.cancel()
                if let cancelled = reader.take() { #expect(await cancelled.value == nil) }
            }
        }
        mailbox.finish()
        if let reader { #expect(await reader.value == nil) }
        for number in slow { #expect(await mailbox.next() == number, "seed \(seed)") }
        #expect(await mailbox.next() == nil)
    }

    @Test("A reader gets all elements of many racing tasks, and those of each task in order")
    func races() async {
        let mailbox = Mailbox(BoundedQueue<(task: Int, number: Int)>(limit: .max, .dropsNewest))
        let reading = Task {
            var last: [Int: Int] = [:]
            var count = 0
            while count < 8_000, let (task, number) = await mailbox.next() {
                #expect(number == (last[task] ?? -1) + 1)
                last[task] = number
                count += 1
            }
            return count
        }
        await withTaskGroup { group in
            for task in 0..<8 { group.addTask { for number in 0..<1_000 { mailbox.put((task, number)) } } }
        }
        #expect(await reading.value == 8_000)
    }
}

import TestTools
import Testing

@testable import EssentialsTools

@Suite struct HeapTests {
    @Test("Random changes give the same as a sorted list", arguments: [UInt64](1...8))
    func reference(seed: UInt64) {
        var numbers = SeededNumbers(state: seed)
        var queue = Heap<Int, Duration, Int>()
        var slow: [Int: (time: Duration, element: Int)] = [:]
        for step in 0..<2_000 {
            let key = Int.random(in: 0..<40, using: &numbers)
            switch Int.random(in: 0..<5, using: &numbers) {
            case 0...2:
                let time = Duration.seconds(Int.random(in: 0..<100, using: &numbers))
                queue.set(key, at: time, step)
                slow[key] = (time, step)
            case 3: #expect(queue.remove(key) == slow.removeValue(forKey: key)?.element)
            default:
                let now = Duration.seconds(Int.random(in: 0..<30, using: &numbers))
                let taken = queue.takeDue(at: now, limit: 3)
                let due = slow.filter { $0.value.time <= now }
                let times = taken.map { element in slow.first { $0.value.element == element }?.value.time }
                #expect(times == due.values.map { $0.time }.sorted().prefix(3).map { $0 }, "seed \(seed), step \(step)")
                slow = slow.filter { !taken.contains($0.value.element) }
            }
            #expect(queue.count == slow.count)
            #expect(queue.first == slow.values.map { $0.time }.min())
        }
        let times = slow.values.map { $0.time }.sorted()
        let all = queue.takeAll()
        #expect(all.map { element in slow.first { $0.value.element == element }?.value.time } == times)
        #expect(queue.count == 0 && queue.first == nil && queue.remove(0) == nil)
    }
}

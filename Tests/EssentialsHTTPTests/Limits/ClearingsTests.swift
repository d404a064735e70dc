import TestTools
import Testing

@testable import EssentialsHTTP

@Suite("Clearings of a store") struct ClearingsTests {
    @Test("Only what began before the clearing of its part is forbidden")
    func parts() {
        var clearings = Clearings<String>()
        let before = Epoch.now
        clearings.clear("a")
        let after = Epoch.now
        #expect(clearings.forbid("a", since: before))
        #expect(!clearings.forbid("b", since: before))
        #expect(!clearings.forbid("a", since: after))
        #expect(clearings.forbid(since: before) { $0.hasPrefix("a") })
        #expect(!clearings.forbid(since: before) { $0.hasPrefix("b") })
    }

    @Test("A clearing of everything forbids all that began before")
    func everything() {
        var clearings = Clearings<String>()
        let before = Epoch.now
        clearings.clearAll()
        #expect(clearings.forbid("a", since: before))
        #expect(!clearings.forbid("a", since: .now))
    }

    @Test("With more parts than are remembered, nothing that was forbidden is allowed again")
    func limit() {
        var clearings = Clearings<Int>()
        let before = Epoch.now
        for part in 0..<(3 * Clearings<Int>.maximum) { clearings.clear(part) }
        for part in 0..<(3 * Clearings<Int>.maximum) { #expect(clearings.forbid(part, since: before)) }
        #expect(!clearings.forbid(0, since: .now))
    }

    @Test("Random clearings forbid what a list of all of them forbids", arguments: 0..<20 as Range<UInt64>)
    func model(seed: UInt64) async {
        var numbers = SeededNumbers(state: seed)
        var clearings = Clearings<Int>()
        var all: [(part: Int?, at: Epoch)] = []
        var begun: [Epoch] = [.now]
        for step in 0..<300 {
            await Task.yield()
            switch Int.random(in: 0..<10, using: &numbers) {
            case 0: all.append((nil, clearings.clearAll()))
            case 1...5:
                let part = Int.random(in: 0..<8, using: &numbers)
                all.append((part, clearings.clear(part)))
            default: begun.append(.now)
            }
            let isAsExpected = begun.suffix(20).allSatisfy { begun in
                (0..<8).allSatisfy { part in
                    let isForbidden = all.contains { ($0.part == nil || $0.part == part) && begun < $0.at }
                    return clearings.forbid(part, since: begun) == isForbidden
                }
            }
            #expect(isAsExpected, "step \(step)")
        }
    }
}

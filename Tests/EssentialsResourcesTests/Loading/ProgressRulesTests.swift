import TestTools
import Testing

@testable import EssentialsResources

@Suite struct ProgressRulesTests {
    private func close(_ one: Double?, _ other: Double) -> Bool { one.map { abs($0 - other) < 1e-9 } ?? false }

    @Test("The phases of a GET request take their shares one after another")
    func get() {
        var progress = ProgressRules(isGet: true, hasBody: false, now: .zero)
        #expect(progress.value == 0)
        // Half of the first phase, whose share is 0.3 of 1.6.
        #expect(close(progress.update(.time, at: .seconds(1)), 0.3 / 1.6 / 2))
        #expect(progress.update(.connected, at: .seconds(2)) == nil)
        #expect(progress.update(.time, at: .seconds(2)) == nil)
        let connected = progress.value
        // Half of the waiting phase, whose share is 0.3 of the remaining 1.3.
        #expect(close(progress.update(.time, at: .seconds(3)), connected + (1 - connected) * 0.3 / 1.3 / 2))
        #expect(progress.update(.responded, at: .seconds(9)) == nil)
        let responded = progress.value
        #expect(close(progress.update(.received(25, of: 100), at: .seconds(9)), responded + (1 - responded) / 4))
        #expect(progress.update(.time, at: .seconds(20)) == nil)
        let last = progress.update(.received(100, of: 100), at: .seconds(9)) ?? 0
        #expect(last < 1 && last > 0.999)
        #expect(progress.finish() == 1)
        #expect(progress.finish() == nil)
        #expect(progress.update(.received(100, of: 100), at: .seconds(9)) == nil)
        #expect(progress.value == 1)
    }

    @Test("The upload is the largest part of another request, and the download the smallest")
    func post() {
        var progress = ProgressRules(isGet: false, hasBody: true, now: .zero)
        #expect(progress.update(.connected, at: .zero) == nil)
        #expect(close(progress.update(.sent(50, of: 100), at: .zero), 0.5 / 1.4))
        #expect(close(progress.update(.sent(100, of: 100), at: .zero), 1 / 1.4))
        #expect(progress.update(.uploaded, at: .zero) == nil)
        #expect(close(progress.update(.time, at: .seconds(1)), 1 / 1.4 + 0.15 / 1.4))
        let waited = progress.value
        #expect(close(progress.update(.received(1, of: 2), at: .seconds(1)), waited + (1 - waited) / 2))
    }

    @Test("A transfer of unknown size approaches its end")
    func unknownSize() {
        var progress = ProgressRules(isGet: true, hasBody: false, now: .zero)
        #expect(close(progress.update(.received(65_536, of: nil), at: .zero), 0.5))
        #expect(close(progress.update(.received(3 * 65_536, of: nil), at: .zero), 0.75))
        #expect(progress.update(.received(.max, of: nil), at: .zero).map { $0 < 1 } == true)
        #expect(progress.finish() == 1)
    }

    @Test("Progress never decreases, even if sizes change or clocks go back")
    func never() {
        var progress = ProgressRules(isGet: true, hasBody: false, now: .seconds(5))
        #expect(progress.update(.time, at: .zero) == nil)
        #expect(progress.update(.received(50, of: 100), at: .zero) != nil)
        #expect(progress.update(.received(50, of: 1_000), at: .zero) == nil)
        #expect(progress.update(.received(-9, of: 0), at: .zero) == nil)
        #expect(progress.update(.sent(9, of: 9), at: .zero) == nil)
        #expect(close(progress.value, 0.5))
    }

    @Test("A request without a body waits as soon as it is connected")
    func withoutBody() {
        var progress = ProgressRules(isGet: false, hasBody: false, now: .zero)
        #expect(progress.update(.connected, at: .zero) == nil)
        #expect(progress.update(.time, at: .seconds(1)) != nil)
    }

    @Test("A request that ends early reports 1 once")
    func early() {
        var progress = ProgressRules(isGet: true, hasBody: false, now: .zero)
        #expect(progress.finish() == 1)
        #expect(progress.update(.time, at: .seconds(1)) == nil)
        #expect(progress.finish() == nil)
    }

    /// The events of a request, from which the progress is computed anew each time.
    private struct Model {
        var weights: [Double]
        var hasBody: Bool
        /// The highest fraction of each phase, and when it began.
        var fractions = [0.0, 0, 0, 0]
        var starts: [Double?] = [0, nil, nil, nil]

        var phase: Int { starts.lastIndex { $0 != nil } ?? 0 }

        mutating func enter(_ next: Int, _ now: Double) { if next > phase { starts[next] = now } }

        mutating func raise(_ fraction: Double) { fractions[phase] = max(fractions[phase], fraction) }

        /// The remaining part is the product of the parts that the phases leave.
        var value: Double {
            var remaining = 1.0
            for index in 0..<4 where starts[index] != nil {
                remaining *= 1 - fractions[index] * weights[index] / weights[index...].reduce(0, +)
            }
            return 1 - remaining
        }

        mutating func apply(_ event: ProgressRules.Event, _ now: Double) {
            func part(_ count: Int64, _ total: Int64?) -> Double {
                guard let total, total > 0 else { return Double(count) / (Double(count) + 65_536) }
                return min(1, Double(count) / Double(total))
            }
            switch event {
            case .time:
                guard phase == 0 || phase == 2, let start = starts[phase], now > start else { return }
                raise((now - start) / (now - start + 1))
            case .connected: enter(hasBody ? 1 : 2, now)
            case .sent(let count, let total):
                enter(1, now)
                if phase == 1 { raise(part(count, total)) }
            case .uploaded: enter(2, now)
            case .responded: enter(3, now)
            case .received(let count, let total):
                enter(3, now)
                raise(part(count, total))
            }
        }
    }

    @Test(
        "Random requests progress as the product of the parts that their phases leave", arguments: [1, 2] as [UInt64])
    func random(seed: UInt64) {
        var numbers = SeededNumbers(state: seed)
        for round in 0..<5_000 {
            let isGet = Bool.random(using: &numbers)
            let hasBody = Bool.random(using: &numbers)
            var progress = ProgressRules(isGet: isGet, hasBody: hasBody, now: .zero)
            var model = Model(weights: isGet ? [0.3, 0, 0.3, 1] : [0.3, 1, 0.3, 0.1], hasBody: hasBody)
            var (now, count) = (0, Int64(0))
            for _ in 0..<Int.random(in: 0...25, using: &numbers) {
                now += Int.random(in: 0...3, using: &numbers)
                count += Int64.random(in: 0...40, using: &numbers)
                let total = Bool.random(using: &numbers) ? Int64.random(in: 0...300, using: &numbers) : nil
                let events: [ProgressRules.Event] = [
                    .time, .time, .time, .connected, .sent(count, of: total), .sent(count, of: 300), .uploaded,
                    .responded,
                    .received(count, of: total), .received(count, of: 300),
                ]
                // Later events are rare at first, so that all phases are seen.
                let event = events[
                    min(Int.random(in: 0..<10, using: &numbers), Int.random(in: 0..<10, using: &numbers))]
                let before = progress.value
                let reported = progress.update(event, at: .seconds(now))
                model.apply(event, Double(now))
                #expect(abs(progress.value - model.value) < 1e-9, "seed \(seed), round \(round): \(event)")
                #expect(reported == (progress.value > before ? progress.value : nil), "seed \(seed), round \(round)")
                #expect(progress.value >= before && progress.value < 1, "seed \(seed), round \(round)")
                if [.connected, .uploaded, .responded].contains(event) { #expect(progress.value == before) }
            }
            #expect(progress.finish() == 1 && progress.finish() == nil, "seed \(seed), round \(round)")
        }
    }
}

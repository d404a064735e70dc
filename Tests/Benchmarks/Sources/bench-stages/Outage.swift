internal import EssentialsRequests
internal import EssentialsTestKit
internal import Figures
internal import Synchronization

/// A server that fails for a while at a steady rate of new requests, and then works again.
///
/// The clock is moved by hand: each step of 100 ms starts a hundred requests, and moves on when all of them have ended or
/// wait for their next attempt.
enum Outage {
    private static let rate = 1_000

    private final class Counts: Sendable {
        let sent = Atomic(0)
        let ended = Atomic(0)
        let isDown = Atomic(true)
    }

    static func measure(seconds: Int) async throws -> [Row] {
        let clock = ManualClock()
        let counts = Counts()
        var configuration = HTTPDataRequestService.Configuration()
        configuration.clock = clock.requestClock
        configuration.retry = .standard
        let service = try service(
            over: AnsweringTransport { _ in
                counts.sent.add(1, ordering: .relaxed)
                return .json(counts.isDown.load(ordering: .relaxed) ? .serviceUnavailable : .ok)
            }, configuration)
        var perSecond: [Int] = []
        await withDiscardingTaskGroup { group in
            var started = 0
            for second in 0..<(seconds + 10) {
                if second == seconds { counts.isDown.store(false, ordering: .relaxed) }
                let before = counts.sent.load(ordering: .relaxed)
                for _ in 0..<10 {
                    for _ in 0..<(rate / 10) {
                        group.addTask {
                            let _: Int? = try? await service.get("users/1")
                            counts.ended.add(1, ordering: .relaxed)
                        }
                    }
                    started += rate / 10
                    while counts.ended.load(ordering: .relaxed) + clock.sleeperCount < started { await Task.yield() }
                    clock.advance(by: .milliseconds(100))
                }
                perSecond.append(counts.sent.load(ordering: .relaxed) - before)
            }
            while counts.ended.load(ordering: .relaxed) < started {
                clock.advance(by: .seconds(1))
                await Task.yield()
            }
        }
        await service.shutdown()
        let during = perSecond[1..<seconds].reduce(0, +)
        let after = perSecond[seconds...].max() ?? 0
        return [
            Row(
                what: "outage of \(seconds) s at \(rate) requests a second: attempts a request, after the first second",
                value: Double(during) / Double(rate * (seconds - 1)), unit: "", digits: 3, goal: .atMost(1.1),
                isJudged: true),
            Row(
                what: "    busiest second of the recovery, as a share of the rate", value: Double(after) / Double(rate),
                unit: "", digits: 2, goal: .atMost(1.5), isJudged: true),
        ]
    }
}

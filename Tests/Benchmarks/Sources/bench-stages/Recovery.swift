internal import EssentialsRequests
internal import EssentialsTestKit
internal import Figures
internal import Synchronization

/// A thousand clients that use one service, and a server that fails for a while and then works again.
///
/// Each client sends its next request a second after the end of the last one, whether or not that has succeeded. The
/// clock is moved by hand: each step of 50 ms is over when every client sleeps, before its next request or its next
/// attempt.
enum Recovery {
    private static let clients = 1_000
    /// The seconds before the outage; the first one is not measured.
    private static let steady = 3
    private static let after = 30

    static func measure(seconds: Int) async throws -> [Row] {
        let clock = ManualClock()
        let (sent, isDown) = (Counter(), Switch())
        var configuration = HTTPDataRequestService.Configuration()
        configuration.clock = clock.requestClock
        configuration.retry = .standard
        let service = try service(
            over: AnsweringTransport { _ in
                sent.value.add(1, ordering: .relaxed)
                return .json(isDown.value.load(ordering: .relaxed) ? .serviceUnavailable : .ok)
            }, configuration)
        var perSecond: [Int] = []
        let time = configuration.clock
        await withDiscardingTaskGroup { group in
            for client in 0..<clients {
                group.addTask {
                    try? await time.sleep(for: .milliseconds(client + 1))
                    while !Task.isCancelled {
                        let _: Int? = try? await service.get("clients/\(client)")
                        try? await time.sleep(for: .seconds(1))
                    }
                }
            }
            for second in 0..<(steady + seconds + after) {
                isDown.value.store((steady..<(steady + seconds)).contains(second), ordering: .relaxed)
                let before = sent.value.load(ordering: .relaxed)
                for _ in 0..<20 {
                    while clock.sleeperCount < clients { await Task.yield() }
                    clock.advance(by: .milliseconds(50))
                }
                while clock.sleeperCount < clients { await Task.yield() }
                perSecond.append(sent.value.load(ordering: .relaxed) - before)
            }
            group.cancelAll()
        }
        await service.shutdown()
        let rate = Double(perSecond[1..<steady].reduce(0, +)) / Double(steady - 1)
        let busiest = Double(perSecond[(steady + seconds)...].max() ?? 0)
        return [
            Row(
                what: "1,000 clients of one service, outage of \(seconds) s: attempts a second before it",
                value: rate, unit: ""),
            Row(
                what: "    busiest second of the recovery, as a share of that", value: busiest / rate, unit: "",
                digits: 2, goal: .atMost(1.5), isJudged: true),
        ]
    }

    private final class Counter: Sendable {
        let value = Atomic(0)
    }

    private final class Switch: Sendable {
        let value = Atomic(false)
    }
}

internal import EssentialsRequests
internal import Figures
internal import Synchronization

/// A thousand equal requests at once.
enum EqualRequests {
    static func measure() async throws -> [Row] {
        let sent = Atomic(0)
        var configuration = HTTPDataRequestService.Configuration()
        configuration.joins = true
        let service = try service(
            over: AnsweringTransport { _ in
                sent.add(1, ordering: .relaxed)
                // The others arrive meanwhile.
                try? await Task.sleep(for: .milliseconds(200))
                return .json()
            }, configuration)
        let values = await withTaskGroup(of: Int?.self) { group in
            for _ in 0..<1_000 {
                group.addTask {
                    let value: Int? = try? await service.get("users/1")
                    return value
                }
            }
            return await group.reduce(0) { $0 + ($1 == 7 ? 1 : 0) }
        }
        await service.shutdown()
        return [
            Row(
                what: "1,000 equal requests at once: successes", value: Double(values), unit: "", goal: .atLeast(1_000),
                isJudged: true),
            Row(
                what: "    exchanges", value: Double(sent.load(ordering: .relaxed)), unit: "", goal: .atMost(1),
                isJudged: true),
        ]
    }
}

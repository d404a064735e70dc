internal import EssentialsRequests
internal import Figures
internal import ThreadCounters

/// The memory for many URLs.
enum Growth {
    static func measure(urls: Int) async throws -> [Row] {
        let service = try HTTPDataRequestService.measured(over: InstantOrigin(longLifetime, isCopied: true))
        try await service.send(1_000, path: "a")
        let before = heap_bytes()
        for number in 0..<urls { try await service.send(1, path: "films/\(number)") }
        let grown = Double(Int(heap_bytes()) - Int(before)) / Double(16 << 20)
        await service.shutdown()
        return [
            Row(
                what: "\(urls) URLs in 16 MiB: memory", value: grown, unit: "x budget", digits: 2, goal: .atMost(1.1),
                isJudged: true)
        ]
    }
}

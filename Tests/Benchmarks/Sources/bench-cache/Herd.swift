internal import EssentialsRequests
internal import Figures
internal import FoundationEssentials
internal import Synchronization

/// A thousand requests at once for a stale response.
enum Herd {
    private final class Counter: Sendable {
        let number = Atomic(0)
    }

    /// Responds after the turns of many other tasks. Its responses are fresh for a second, and dated on arrival.
    private struct SlowOrigin: Transport {
        let sent = Counter()

        func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
            sent.number.add(1, ordering: .relaxed)
            try? await Task.sleep(for: .milliseconds(50))
            return TransportResponse(
                HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=1, must-revalidate", .eTag: "\"1\""]),
                body: ResponseBody(Data("x".utf8)))
        }

        func send(
            _ request: TransportRequest, cancellation: Cancellation
        ) async throws(RequestFailure) -> TransportResponse { try await send(request) }

        func shutdown() async {}
    }

    static func measure() async throws -> [Row] {
        let transport = SlowOrigin()
        let service = try HTTPDataRequestService.measured(over: transport)
        try await service.send(1, path: "a")
        try await Task.sleep(for: .seconds(2))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<1_000 { group.addTask { try await service.send(1, path: "a") } }
            try await group.waitForAll()
        }
        let count = transport.sent.number.load(ordering: .relaxed) - 1
        await service.shutdown()
        return [
            Row(
                what: "a thousand at once on a stale response: validations", value: Double(count), unit: "",
                goal: .atMost(1), isJudged: true)
        ]
    }
}

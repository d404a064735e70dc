import EssentialsHTTP
import EssentialsTools
import FoundationEssentials
import Testing

@testable import EssentialsRequests

@Suite("Remaining stages of the chain")
struct RemainingStagesTests {
    /// Notes its name when a request enters it.
    private final class NamedStage: Stage {
        let name: String
        let isUsed: Bool
        let entered: Entered
        let next: RemainingStages?

        init(name: String, isUsed: Bool, entered: Entered, next: RemainingStages?) {
            self.name = name
            self.isUsed = isUsed
            self.entered = entered
            self.next = next
        }

        func isUsed(by request: TransportRequest, _ record: ExchangeRecord) -> Bool { isUsed }

        func send(
            _ request: TransportRequest, _ record: ExchangeRecord
        ) async throws(RequestFailure) -> TransportResponse {
            entered.names.withLock { $0.append(name) }
            guard let next else { return TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data())) }
            return try await next.send(request, record)
        }
    }

    private final class Entered: Sendable {
        let names = Mutex<[String]>([])
    }

    @Test(
        "A request enters the stages that it uses in their order, and always the last one",
        arguments: [
            ([true, true, true], ["0", "1", "2"]), ([false, true, true], ["1", "2"]),
            ([true, false, true], ["0", "2"]), ([false, false, true], ["2"]), ([false, false, false], ["2"]),
            ([true, false, false], ["0", "2"]),
        ])
    func order(isUsed: [Bool], expected: [String]) async throws {
        let entered = Entered()
        var stages: RemainingStages?
        for (index, isUsed) in isUsed.enumerated().reversed() {
            stages = RemainingStages(
                NamedStage(name: "\(index)", isUsed: isUsed, entered: entered, next: stages), before: stages)
        }
        let request = TransportRequest(.get, try RequestURL("https://example.com/"))
        let record = ExchangeRecord(
            request, ExchangeRules(expectedStatus: .any, redirects: .standard), id: RequestID(service: 0, number: 0),
            environment: nil, cancellation: Cancellation())
        _ = try await stages?.send(request, record)
        #expect(entered.names.withLock { $0 } == expected)
    }
}

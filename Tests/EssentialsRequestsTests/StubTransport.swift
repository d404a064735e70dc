import EssentialsHTTP
import EssentialsTools
import FoundationEssentials

/// A transport that responds with a closure and records its requests.
final class StubTransport: Transport {
    typealias Answer = @Sendable (TransportRequest) async throws(RequestFailure) -> TransportResponse

    private let answer: Answer
    private let sent = Mutex<[TransportRequest]>([])
    private let shutdowns = Mutex(0)

    init(_ answer: @escaping Answer) { self.answer = answer }

    /// Responds to every request with the same status and body.
    convenience init(status: Int = 200, _ body: String = "{}") {
        self.init { _ in
            TransportResponse(
                HTTPResponse(status: .init(code: status)), body: ResponseBody(Data(body.utf8)))
        }
    }

    var requests: [TransportRequest] { sent.withLock { $0 } }
    var shutdownCount: Int { shutdowns.withLock { $0 } }

    func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
        sent.withLock { $0.append(request) }
        return try await answer(request)
    }

    func shutdown() async { shutdowns.withLock { $0 += 1 } }
}

/// The model of these tests.
struct Note: Codable, Sendable, Hashable {
    var id: Int
    var text: String
}

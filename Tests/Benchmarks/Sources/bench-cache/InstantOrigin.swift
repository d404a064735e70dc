internal import EssentialsRequests
internal import FoundationEssentials
internal import Synchronization

/// A transport that responds at once, with a body of 1 KiB.
struct InstantOrigin: Transport {
    private final class Counter: Sendable {
        let number = Atomic(0)
    }

    let fields: HTTPFields
    private let body: Data
    /// Whether each response has a body of its own in memory.
    private let isCopied: Bool
    private let sent = Counter()

    /// - Parameter cacheControl: What the responses say to caches.
    init(_ cacheControl: String, bytes: Int = 1_024, isCopied: Bool = false) {
        self.isCopied = isCopied
        fields = [
            .contentType: "application/json", .cacheControl: cacheControl, .eTag: "\"1\"",
            .date: "Thu, 01 Jan 2026 00:00:00 GMT", .server: "bench",
        ]
        body = Data(repeating: UInt8(ascii: "x"), count: bytes)
    }

    /// The number of requests.
    var count: Int { sent.number.load(ordering: .relaxed) }

    func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
        sent.number.add(1, ordering: .relaxed)
        return TransportResponse(
            HTTPResponse(status: .ok, headerFields: fields), body: ResponseBody(isCopied ? Data(Array(body)) : body))
    }

    func send(
        _ request: TransportRequest, cancellation: Cancellation
    ) async throws(RequestFailure) -> TransportResponse { try await send(request) }

    func shutdown() async {}
}

extension HTTPDataRequestService {
    /// A service over a transport.
    static func measured(
        over transport: any Transport, _ cache: ResponseCache? = ResponseCache(), at url: String = "https://h/v1/"
    ) throws -> HTTPDataRequestService {
        var configuration = HTTPDataRequestService.Configuration()
        configuration.cache = cache
        return HTTPDataRequestService(
            environment: try ConstantEnvironment(url), transport: transport, configuration: configuration)
    }

    func send(_ count: Int, path: String) async throws {
        for _ in 0..<count { _ = try await send(DataRequest(.get, path)) }
    }
}

/// A lifetime that lasts longer than any run.
let longLifetime = "max-age=\(1 << 40)"

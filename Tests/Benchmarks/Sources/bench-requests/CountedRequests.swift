internal import EssentialsHTTP
internal import EssentialsRequests
internal import FoundationEssentials

/// Sends a number of small GET requests over a transport that responds at once, and measures nothing. It is for programs
/// that count from outside, such as `valgrind --tool=callgrind`.
///
/// It never suspends: some versions of valgrind crash when the main thread begins to wait for other threads. Therefore
/// the service is not shut down. Two runs with different numbers differ only by their requests:
///
///     bench-requests --send 1000
///     bench-requests --send 6000
enum CountedRequests {
    static func run(_ count: Int) async throws {
        let head = HTTPResponse(status: .ok, headerFields: [.contentType: "text/plain"])
        let transport = NullTransport(TransportResponse(head, body: ResponseBody(Data("Hello, world!".utf8))))
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment("http://127.0.0.1:8080/v1/"), transport: transport)
        for _ in 0..<count { try await service.get("users/1") }
    }
}

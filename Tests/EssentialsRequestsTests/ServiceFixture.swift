import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials

/// A service with a transport that responds from memory.
struct ServiceFixture {
    let transport: StubTransport
    let service: HTTPDataRequestService

    init(
        _ transport: StubTransport = StubTransport(), base: String = "https://h/v1/", fields: HTTPFields = [:],
        _ change: (inout HTTPDataRequestService.Configuration) -> Void = { _ in }
    ) throws {
        try self.init(transport, environment: ConstantEnvironment(base, headerFields: fields), change)
    }

    init(
        _ transport: StubTransport = StubTransport(), environment: any EnvironmentService,
        _ change: (inout HTTPDataRequestService.Configuration) -> Void = { _ in }
    ) {
        var configuration = HTTPDataRequestService.Configuration()
        configuration.userAgent = "test/1"
        change(&configuration)
        self.transport = transport
        service = HTTPDataRequestService(
            environment: environment, transport: transport, configuration: configuration)
    }

    /// Sends a request and returns the request that the transport received.
    func sent(_ request: DataRequest) async throws -> TransportRequest {
        _ = try await service.send(request)
        return try last()
    }

    /// The last request that the transport received.
    func last() throws -> TransportRequest {
        guard let request = transport.requests.last else { throw NothingSent() }
        return request
    }

    struct NothingSent: Error {}
}

extension TransportRequest {
    /// The body, if it is in memory.
    var bodyText: String? {
        guard case .bytes(let data) = body.content else { return nil }
        return String(decoding: data, as: UTF8.self)
    }
}

/// An interceptor made of a closure.
struct Intercepting: RequestInterceptor {
    let change: @Sendable (inout RequestDraft) async throws -> Void
    func prepare(_ draft: inout RequestDraft) async throws { try await change(&draft) }
}

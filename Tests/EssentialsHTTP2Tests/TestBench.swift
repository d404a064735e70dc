import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

/// The authority and the server's certificate that all tests of this target share.
struct TestIdentity: Sendable {
    let authority: TestAuthority
    let certificate: TestCertificate

    private static let made = Result {
        let authority = try TestAuthority(name: "HTTP/2 tests")
        let template = TestCertificate.Template(commonName: "localhost")
        return TestIdentity(authority: authority, certificate: try authority.issue(template))
    }

    static func shared() throws -> TestIdentity { try made.get() }

    func anchors() throws -> TrustAnchors { try .only([PEM(authority.certificate.certificatePEM)]) }
}

/// A server and a transport that trusts it.
struct TestBench: Sendable {
    let server: HTTP2Server
    let transport: CurlTransport

    /// A request to the server.
    func request(
        _ path: String = "/", method: HTTPRequest.Method = .get, body: RequestBody = .none,
        _ change: (inout TransportOptions) -> Void = { _ in }
    ) throws -> TransportRequest {
        var options = TransportOptions()
        change(&options)
        return TransportRequest(method, try server.url(path), body: body, options: options)
    }

    /// Sends a request and returns the response's body as text.
    @discardableResult
    func text(_ path: String, method: HTTPRequest.Method = .get, body: RequestBody = .none) async throws -> String {
        let response = try await transport.send(request(path, method: method, body: body))
        return String(decoding: response.body.data ?? Data(), as: UTF8.self)
    }

    /// Sends a request that must fail, and returns its failure.
    func failure(of request: TransportRequest) async -> RequestFailure? {
        do throws(RequestFailure) {
            let response = try await transport.send(request)
            _ = try await response.body.collect(upTo: .max)
            Issue.record("The request succeeded with \(response.status).")
            return nil
        } catch {
            return error
        }
    }

    /// Runs a test against a server over TLS.
    static func secure(
        _ options: HTTP2Server.Options = .init(), policy: TrustPolicy? = nil,
        handler: @escaping @Sendable (StreamRequest) -> StreamReply, run: (TestBench) async throws -> Void
    ) async throws {
        let identity = try TestIdentity.shared()
        var options = options
        options.certificate = identity.certificate
        let policy = try policy ?? TrustPolicy(anchors: identity.anchors())
        try await withBench(options, policy: policy, handler: handler, run: run)
    }

    /// Runs a test against a server that speaks HTTP/2 without TLS.
    static func plain(
        _ options: HTTP2Server.Options = .init(),
        handler: @escaping @Sendable (StreamRequest) -> StreamReply, run: (TestBench) async throws -> Void
    ) async throws {
        try await withBench(options, policy: .system, handler: handler, run: run)
    }

    private static func withBench(
        _ options: HTTP2Server.Options, policy: TrustPolicy,
        handler: @escaping @Sendable (StreamRequest) -> StreamReply, run: (TestBench) async throws -> Void
    ) async throws {
        let server = try await HTTP2Server.start(options, handler: handler)
        do {
            let transport = try CurlTransport(trust: policy)
            do {
                try await run(TestBench(server: server, transport: transport))
            } catch {
                await transport.shutdown()
                throw error
            }
            await transport.shutdown()
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }
}

/// Opens its gate after a given number of arrivals.
final class Countdown: Sendable {
    let gate = LoopbackGate()
    private let left: Mutex<Int>

    init(_ count: Int) { left = Mutex(count) }

    func arrive() {
        let isLast = left.withLock { left in
            left -= 1
            return left == 0
        }
        if isLast { gate.open() }
    }
}

extension TestBench {
    /// Sends requests concurrently and returns the bodies of their responses, in the order of the requests.
    func bodies(of requests: [TransportRequest]) async throws -> [String] {
        try await withThrowingTaskGroup(of: (Int, String).self) { group in
            for (index, request) in requests.enumerated() {
                group.addTask {
                    let response = try await transport.send(request)
                    return (index, String(decoding: response.body.data ?? Data(), as: UTF8.self))
                }
            }
            var answers = Array(repeating: "", count: requests.count)
            for try await (index, answer) in group { answers[index] = answer }
            return answers
        }
    }
}

extension RequestBody {
    /// A streamed body that can be read again.
    static func replayable(length: Int?, open: @escaping @Sendable () -> Source) -> RequestBody {
        RequestBody(content: .stream(length: length, isReplayable: true, open: open))
    }
}

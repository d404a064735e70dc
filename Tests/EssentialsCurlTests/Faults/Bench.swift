import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

/// A server that misbehaves at "/bad" and responds with the target elsewhere, and a transport for it.
struct Bench {
    let server: LoopbackServer
    let transport: CurlTransport

    init(_ authority: Authority? = nil, bad steps: [ServerStep]) throws {
        try self.init(authority, options: ServerOptions()) { _ in steps }
    }

    init(
        _ authority: Authority? = nil, options: ServerOptions,
        bad steps: @escaping @Sendable (ServerRequest) -> [ServerStep]
    ) throws {
        let handler: @Sendable (ServerRequest) -> ServerReply = { request in
            request.path.hasPrefix("/bad") ? .raw(steps(request)) : .response(body: request.target)
        }
        if let authority {
            server = try LoopbackServer(
                tls: ServerTLS(certificate: authority.leaf), options: options, handler: handler)
            transport = try CurlTransport(trust: TrustPolicy(anchors: authority.anchors))
        } else {
            server = try LoopbackServer(options: options, handler: handler)
            transport = try CurlTransport()
        }
    }

    /// Sends the request that receives the malformed response.
    func bad(
        _ method: HTTPRequest.Method = .get, _ path: String = "/bad", body: RequestBody = .none,
        as delivery: TransportOptions.Delivery
    ) async throws -> Outcome {
        var sent = try request(method, server, path, body: body)
        sent.options.delivery = delivery
        // Far beyond what any of them needs; a test that reaches it fails with `timeout`.
        sent.options.totalTimeout = .seconds(30)
        return await transport.outcome(of: sent)
    }

    /// Expects that the next requests receive their own responses.
    func expectRecovery(_ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        for number in 0..<2 {
            let path = "/good/\(number)"
            var sent = try request(server, path)
            sent.options.totalTimeout = .seconds(30)
            let outcome = await transport.outcome(of: sent)
            #expect(outcome.text == path, comment, sourceLocation: sourceLocation)
        }
    }

    /// The number of bad requests that reached the server.
    var badCount: Int { server.requests.filter { $0.path.hasPrefix("/bad") }.count }
}

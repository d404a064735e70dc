import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

/// A transfer keeps only its easy handle and its memory from request to request.
@Suite("A reused transfer", .timeLimit(.minutes(5)))
struct TransferReuseTests {
    /// The end of a request before the next one uses its transfer.
    enum Ending: String, CaseIterable, Sendable {
        case collected, trailers, informational, head, noContent, expectationFailed, customMethod
        case bytes, lentBytes, upload, uploadOfKnownLength, answeredEarly
        case streamed, dropped, droppedChunks, abandoned, cancelled
        case redirect, redirectInTwoCodings, droppedRedirectInTwoCodings, challenge, ownCoding, undecoded, decoded
        case headTooLarge, tooManyLines, bodyTooLarge, noStatusLine, twoLengths, foldedFirstField, cut, silent
    }

    /// The request as the server read it, and the response as the client received it.
    private struct Observation: Equatable {
        var request: [String]
        var requestBody: String
        var status: Int
        var fields: [String]
        var body: String
        var trailers: [String]
        var informational: [Int]
        var tlsVersion: String?
        var tlsCipher: String?
        var protocolName: String
        var sendings: Int
        var bodyBytesSent: Int
        var bodyBytesReceived: Int
    }

    private static let large = [UInt8](repeating: 1, count: 40_000)
    private static let twoCodings = [("Content-Encoding", "gzip"), ("Content-Encoding", "gzip")]

    private static func reply(to request: ServerRequest) -> ServerReply {
        switch Ending(rawValue: String(request.path.dropFirst())) {
        case .trailers: .chunked(chunks: [large], trailers: [("Checksum", "1")])
        case .informational:
            .raw([
                .text("HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"),
                .text("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .keepAlive,
            ])
        case .noContent: .response(status: 204)
        case .expectationFailed: .response(status: 417, body: "no")
        case .droppedChunks: .chunked(chunks: [large, large], trailers: [("Checksum", "1")])
        case .abandoned: .raw([.head(headers: [("Content-Length", "100000")]), .send(large), .waitForPeerClose])
        case .cancelled, .silent: .raw([.waitForPeerClose])
        case .answeredEarly: .raw([.text("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .keepAlive])
        case .redirect: .response(status: 302, headers: [("Location", "/")], body: large)
        case .redirectInTwoCodings: .response(status: 302, headers: [("Location", "/")] + twoCodings)
        case .droppedRedirectInTwoCodings:
            .response(status: 302, headers: [("Location", "/")] + twoCodings, body: large)
        case .challenge: .response(status: 401, headers: [("WWW-Authenticate", "Basic realm=\"a\"")], body: large)
        case .ownCoding: .response(headers: [("Content-Encoding", "gzip")], body: "raw")
        case .undecoded: .response(body: large)
        case .decoded:
            (try? Gzip.zeros(count: 5_000)).map {
                .response(headers: [("Content-Encoding", "gzip")], body: $0)
            } ?? .close
        case .headTooLarge: .response(headers: [("Long", String(repeating: "a", count: 5_000))])
        case .tooManyLines: .response(headers: (0..<50).map { ("Field-\($0)", "a") })
        case .bodyTooLarge, .lentBytes, .streamed, .dropped: .response(body: large)
        case .noStatusLine: .raw([.text("HTTP/1.1 OK\r\n\r\n")])
        case .twoLengths: .raw([.text("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab")])
        case .foldedFirstField: .raw([.text("HTTP/1.1 200 OK\r\n folded: a\r\nContent-Length: 0\r\n\r\n")])
        case .cut: .raw([.head(headers: [("Content-Length", "100000")]), .send(large)])
        case .collected, .head, .customMethod, .bytes, .upload, .uploadOfKnownLength: .response(body: "done")
        case nil: .response(headers: [("Server-Field", "1")], body: request.body.isEmpty ? "plain" : "posted")
        }
    }

    private func server(_ authority: Authority?) throws -> LoopbackServer {
        if let authority { return try authority.server(handler: Self.reply) }
        return try LoopbackServer(handler: Self.reply)
    }

    private func transport(_ authority: Authority?) throws -> CurlTransport {
        guard let authority else { return try CurlTransport() }
        return try CurlTransport(trust: TrustPolicy(anchors: authority.anchors))
    }

    /// A source of 40,000 bytes in four pieces.
    private func pieces() -> AsyncStream<Data> {
        AsyncStream { continuation in
            for _ in 0..<4 { continuation.yield(Data(count: 10_000)) }
            continuation.finish()
        }
    }

    private func request(endingIn ending: Ending, _ server: LoopbackServer) throws -> TransportRequest {
        let path = "/\(ending.rawValue)"
        var sent =
            switch ending {
            case .head: try EssentialsCurlTests.request(.head, server, path)
            case .customMethod: try EssentialsCurlTests.request(.init("PURGE") ?? .get, server, path)
            case .bytes: try EssentialsCurlTests.request(.post, server, path, body: .bytes(Data(count: 1_000)))
            case .lentBytes: try EssentialsCurlTests.request(.post, server, path, body: .bytes(Data(count: 300_000)))
            case .upload, .answeredEarly:
                try EssentialsCurlTests.request(.put, server, path, body: .stream(pieces(), length: nil))
            case .uploadOfKnownLength:
                try EssentialsCurlTests.request(.put, server, path, body: .stream(pieces(), length: 40_000))
            default: try EssentialsCurlTests.request(server, path)
            }
        switch ending {
        case .streamed, .dropped, .droppedChunks, .abandoned, .trailers: sent.options.delivery = .streamed
        case .redirect, .redirectInTwoCodings, .droppedRedirectInTwoCodings: sent.unwantedBodies = [.ofRedirects]
        case .challenge: sent.unwantedBodies = [.ofChallenges]
        case .ownCoding: sent.headerFields[.acceptEncoding] = "gzip"
        case .undecoded: sent.options.decompresses = false
        case .headTooLarge: sent.options.maximumHeadSize = 1_000
        case .tooManyLines: sent.options.maximumHeadLines = 20
        case .bodyTooLarge: sent.options.delivery = .collected(upTo: 100)
        case .silent: sent.options.totalTimeout = .milliseconds(50)
        default: break
        }
        return sent
    }

    private func send(_ ending: Ending, _ transport: CurlTransport, _ server: LoopbackServer) async throws {
        let sent = try request(endingIn: ending, server)
        switch ending {
        case .dropped, .droppedChunks, .abandoned, .redirect, .redirectInTwoCodings, .droppedRedirectInTwoCodings,
            .challenge:
            _ = try await transport.send(sent)
        case .cancelled:
            let task = Task { await transport.outcome(of: sent) }
            while server.requests.last?.path != sent.url.target { try await Task.sleep(for: .milliseconds(1)) }
            task.cancel()
            _ = await task.value
        default: _ = await transport.outcome(of: sent)
        }
        while await transport.load.inFlight > 0 { try await Task.sleep(for: .milliseconds(1)) }
    }

    private func observe(_ transport: CurlTransport, _ server: LoopbackServer, posts: Bool) async throws -> Observation
    {
        var sent = try EssentialsCurlTests.request(
            posts ? .post : .get, server, "/", body: posts ? .bytes(Data("text".utf8)) : .none)
        // If decoding is disabled, the request shows any codings that libcurl itself would add.
        sent.options.decompresses = false
        let response = try await transport.send(sent)
        let read = try #require(server.requests.last)
        let lines = read.headers.map { "\($0.name): \($0.value)" }
        return Observation(
            request: ["\(read.method) \(read.target) \(read.version)"] + lines, requestBody: read.bodyText,
            status: response.status.code, fields: response.headerFields.map { "\($0.name.rawName): \($0.value)" },
            body: response.text, trailers: response.trailerFields.map { "\($0.name.rawName): \($0.value)" },
            informational: response.informational.map(\.status.code), tlsVersion: response.connection.tlsVersion,
            tlsCipher: response.connection.tlsCipher, protocolName: response.connection.protocolName,
            sendings: response.metrics.sendings, bodyBytesSent: response.metrics.bodyBytesSent,
            bodyBytesReceived: response.metrics.bodyBytesReceived)
    }

    @Test(
        "A request and its response are the same on a reused transfer as on a new one", arguments: Ending.allCases,
        [false, true])
    func reuse(after ending: Ending, isSecure: Bool) async throws {
        let authority = isSecure ? try Authority() : nil
        let server = try server(authority)
        for posts in [false, true] {
            let new = try transport(authority)
            let expected = try await observe(new, server, posts: posts)
            await new.shutdown()
            let reused = try transport(authority)
            try await send(ending, reused, server)
            #expect(try await observe(reused, server, posts: posts) == expected)
            // The same request also succeeds on the transfer of that request.
            #expect(try await observe(reused, server, posts: !posts).status == 200)
            #expect(try await observe(reused, server, posts: posts) == expected)
            await reused.shutdown()
        }
    }
}

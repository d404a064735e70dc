import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import Testing

/// HTTP/2 connections between two requests, with a server that is written frame by frame (RFC 9113, 4.1).
@Suite("An idle HTTP/2 connection", .serialized, .timeLimit(.minutes(5)))
struct IdleStreamsTests {
    /// The frames that a server sends while no request runs.
    struct Unasked: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var frames: [UInt8]
        /// Whether the next request still uses the same connection.
        var keepsConnection: Bool
    }

    private static let ping: [UInt8] = [0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]
    private static let pong: [UInt8] = [0, 0, 8, 6, 1, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]

    static let unasked: [Unasked] = [
        Unasked(testDescription: "a PING", frames: ping, keepsConnection: true),
        Unasked(
            testDescription: "settings", frames: [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 50], keepsConnection: true),
        Unasked(
            testDescription: "data of a stream that has ended", frames: [0, 0, 2, 0, 0, 0, 0, 0, 1, 0x6f, 0x6b],
            keepsConnection: true),
        Unasked(
            testDescription: "the end of the connection",
            frames: [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0], keepsConnection: false),
    ]

    /// A response on the stream with the text "ok".
    private static func response(_ stream: UInt8) -> [UInt8] {
        [0, 0, 1, 1, 4, 0, 0, 0, stream, 0x88, 0, 0, 2, 0, 1, 0, 0, 0, stream, 0x6f, 0x6b]
    }

    private static func hasRequest(_ bytes: [UInt8], after preface: Int) -> Bool {
        var place = preface
        while place + 9 <= bytes.count {
            if bytes[place + 3] == 1 { return true }
            place += 9 + Int(bytes[place]) << 16 + Int(bytes[place + 1]) << 8 + Int(bytes[place + 2])
        }
        return false
    }

    @Test("Frames that arrive while a connection is idle are read by the next request", arguments: unasked)
    func next(unasked: Unasked) async throws {
        let authority = try Authority()
        let hasBegun = Mutex(false)
        /// Whether the second request had begun when the PING was acknowledged, or `nil` before that.
        let answered = Mutex<Bool?>(nil)
        let options = ServerOptions(onConnect: { _ in
            [
                .receive { Self.hasRequest($0, after: 24) },
                .send([0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0] + Self.response(1)),
                .pause(.milliseconds(50)), .send(unasked.frames),
                .receive { bytes in
                    if bytes.indices.contains(where: { bytes[$0...].starts(with: Self.pong) }) {
                        answered.withLock { $0 = $0 ?? hasBegun.withLock { $0 } }
                    }
                    return Self.hasRequest(bytes, after: 0)
                },
                .send(Self.response(3)), .waitForPeerClose,
            ]
        })
        let server = try LoopbackServer(
            tls: ServerTLS(certificate: authority.leaf, alpn: ["h2"]), options: options
        ) { _ in .close }
        let transport = try CurlTransport(trust: TrustPolicy(anchors: authority.anchors))
        #expect(try await transport.send(request(server)).text == "ok")
        // This is far longer than an acknowledgement takes.
        try await Task.sleep(for: .milliseconds(200))
        hasBegun.withLock { $0 = true }
        var sent = try request(server)
        sent.options.totalTimeout = .seconds(10)
        #expect(try await transport.send(sent).text == "ok")
        #expect(server.connectionCount == (unasked.keepsConnection ? 1 : 2))
        #expect(answered.withLock { $0 } == (unasked.frames == Self.ping ? true : nil))
        await transport.shutdown()
    }
}

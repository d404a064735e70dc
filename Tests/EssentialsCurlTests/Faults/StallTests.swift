import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Glibc
import Testing

/// Slow or silent servers that a deadline must end. The upper bounds leave room for a busy machine.
@Suite("A stall", .serialized)
struct StallTests {
    private func expectTimeout(
        _ transport: CurlTransport, _ sent: TransportRequest, in phase: RequestFailure.Phase? = nil,
        after deadline: Duration,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        // The task runs on the engine's thread, because waiting for a thread of the tests would also count.
        let (outcome, elapsed) = await withTaskExecutorPreference(transport.taskExecutor(for: sent.url.origin)) {
            var outcome = Outcome()
            let elapsed = await ContinuousClock().measure { outcome = await transport.outcome(of: sent) }
            return (outcome, elapsed)
        }
        #expect(outcome.failure?.reason == .timeout, "\(outcome)", sourceLocation: sourceLocation)
        if let phase { #expect(outcome.failure?.phase == phase, "\(outcome)", sourceLocation: sourceLocation) }
        #expect(elapsed >= deadline - .milliseconds(20), sourceLocation: sourceLocation)
        #expect(elapsed < .seconds(20), sourceLocation: sourceLocation)
    }

    private static let drips: [(name: String, steps: [ServerStep])] = [
        ("status line", drip("HTTP/1.1 200 " + String(repeating: "O", count: 3000))),
        ("fields", drip("HTTP/1.1 200 OK\r\n" + String(repeating: "A: b\r\n", count: 500))),
        (
            "body",
            [.head(headers: [("Content-Length", "3000")])] + drip(String(repeating: "x", count: 3000))
        ),
        (
            "chunk size",
            [.head(headers: [("Transfer-Encoding", "chunked")])] + drip("1;" + String(repeating: "x", count: 3000))
        ),
    ]

    /// One byte every 10 ms for half a minute, so that bytes keep moving.
    private static func drip(_ text: String) -> [ServerStep] {
        text.utf8.flatMap { [ServerStep.send([$0]), .pause(.milliseconds(10))] }
    }

    @Test("The total deadline ends the exchange with a server that sends byte by byte", arguments: drips.map(\.name))
    func drip(name: String) async throws {
        let steps = try #require(Self.drips.first { $0.name == name }).steps
        let bench = try Bench(bad: steps)
        for delivery in deliveries {
            var sent = try request(bench.server, "/bad")
            sent.options.delivery = delivery
            sent.options.totalTimeout = .milliseconds(300)
            await expectTimeout(bench.transport, sent, in: .receiving, after: .milliseconds(300))
        }
        #expect(bench.badCount == deliveries.count)
        try await bench.expectRecovery()
    }

    @Test(
        "The idle deadline ends a stall in the middle of a head",
        arguments: ["HTTP/1.1 2", "HTTP/1.1 200 OK\r\nA: "])
    func head(text: String) async throws {
        let bench = try Bench(bad: [.text(text), .hang])
        var sent = try request(bench.server, "/bad")
        sent.options.idleTimeout = .milliseconds(150)
        await expectTimeout(bench.transport, sent, in: .receiving, after: .milliseconds(150))
        try await bench.expectRecovery()
    }

    @Test("The connect deadline ends a connection attempt to a server whose backlog is full")
    func connecting() async throws {
        let backlog = try FullBacklog()
        let transport = try CurlTransport()
        for scheme in ["http", "https"] {
            var sent = TransportRequest(.get, try RequestURL("\(scheme)://127.0.0.1:\(backlog.port)/"))
            sent.options.connectTimeout = .milliseconds(200)
            await expectTimeout(transport, sent, in: .connect, after: .milliseconds(200))
            sent.options.connectTimeout = .seconds(100)
            sent.options.totalTimeout = .milliseconds(200)
            await expectTimeout(transport, sent, in: .connect, after: .milliseconds(200))
        }
        let server = try LoopbackServer { _ in .response(body: "good") }
        #expect(try await transport.send(request(server)).text == "good")
    }

    @Test(
        "The connect deadline ends a stall in the middle of a TLS handshake",
        arguments: [[], [0x16], [0x16, 3, 3, 0x3F, 0xFF], [0x16, 3, 3, 0, 6, 2, 0, 0x3F, 0xFF, 3, 3]] as [[UInt8]])
    func handshake(beginning: [UInt8]) async throws {
        let options = ServerOptions(onAccept: { _ in [.send(beginning), .hang] })
        let server = try LoopbackServer(options: options) { _ in .close }
        let transport = try CurlTransport()
        var sent = TransportRequest(.get, try RequestURL("https://localhost:\(server.port)/"))
        sent.options.connectTimeout = .milliseconds(150)
        await expectTimeout(transport, sent, in: .handshake, after: .milliseconds(150))
        #expect(server.requestCount == 0)
    }

    @Test("The idle deadline ends an upload that its server never reads", arguments: [true, false])
    func upload(isStream: Bool) async throws {
        let options = ServerOptions(onAccept: { _ in [.hang] })
        let server = try LoopbackServer(options: options) { _ in .close }
        let transport = try CurlTransport()
        // This is more than the two sockets buffer.
        let size = 64 << 20
        let pieces = AsyncStream<Data>(unfolding: { Data(count: 1 << 20) })
        let body: RequestBody = isStream ? .stream(pieces, length: nil) : .bytes(Data(count: size))
        var sent = try request(.post, server, body: body)
        sent.options.idleTimeout = .milliseconds(300)
        await expectTimeout(transport, sent, after: .milliseconds(300))
    }
}

/// A listening socket with a full backlog, so that a connection to it is neither made nor refused.
private final class FullBacklog: Sendable {
    private let descriptors: [Int32]
    let port: UInt16

    struct Failure: Error {
        var code: Int32
    }

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 0) == 0 && getsockname(listener, $0, &size) == 0
            }
        }
        guard isBound else { throw Failure(code: errno) }
        port = UInt16(bigEndian: address.sin_port)
        var opened = [listener]
        let flags = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        // A backlog of 0 accepts one connection. The others ensure that it is full.
        for _ in 0..<4 {
            let filler = socket(AF_INET, flags, 0)
            withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = connect(filler, $0, size) }
            }
            opened.append(filler)
        }
        descriptors = opened
    }

    deinit { for descriptor in descriptors { close(descriptor) } }
}

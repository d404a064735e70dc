import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Glibc
import Testing

/// Bodies of requests with `Expect: 100-continue` (RFC 9110, 10.1.1). `ExchangeDetailTests` covers a refusal.
@Suite("A body that waits for 100 Continue", .timeLimit(.minutes(5)))
struct ContinueTests {
    private static let size = 300_000

    enum Source: CaseIterable {
        case memory, stream
    }

    /// The uploads that a server has seen.
    private final class Record: Sendable {
        struct Upload {
            var head = ""
            /// Whether a part of the body arrived before the server sent anything.
            var cameUnasked = false
            /// The size of the whole body in bytes.
            var size = 0
        }

        private let state = Mutex<[Upload]>([])
        var uploads: [Upload] { state.withLock { $0 } }
        func add(_ upload: Upload) { state.withLock { $0.append(upload) } }
    }

    /// A server that sends `100 Continue` 300 ms after a head has arrived, or never.
    private func server(saysContinue: Bool, _ record: Record) throws -> SocketService {
        try SocketService { connection in
            let channel = connection.channel
            var bytes: [UInt8] = []
            while !bytes.holds("\r\n\r\n") {
                let piece = channel.read()
                guard !piece.isEmpty else { return }
                bytes += piece
            }
            guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return }
            var upload = Record.Upload(head: String(decoding: bytes[..<end.lowerBound], as: UTF8.self))
            let begun = bytes.count - end.upperBound
            if saysContinue {
                var entry = pollfd(fd: channel.descriptor, events: Int16(POLLIN), revents: 0)
                upload.cameUnasked = begun > 0 || poll(&entry, 1, 300) != 0
                guard channel.write("HTTP/1.1 100 Continue\r\n\r\n") else { return }
            }
            upload.size = begun + (channel.readAll(Self.size - begun)?.count ?? 0)
            record.add(upload)
            channel.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\ndone")
        }
    }

    private func upload(_ source: Source, to service: SocketService, wait: Duration) throws -> TransportRequest {
        let pieces = AsyncStream<Data> { continuation in
            for _ in 0..<10 { continuation.yield(Data(count: Self.size / 10)) }
            continuation.finish()
        }
        let body: RequestBody =
            switch source {
            case .memory: .bytes(Data(count: Self.size))
            case .stream: .stream(pieces, length: Self.size)
            }
        let url = try RequestURL("http://127.0.0.1:\(service.port)/")
        var sent = TransportRequest(.put, url, body: body)
        sent.options.continueWait = wait
        return sent
    }

    @Test(
        "A body that waits for 100 Continue is sent as soon as it arrives, and not before", arguments: Source.allCases)
    func asked(source: Source) async throws {
        let record = Record()
        let service = try server(saysContinue: true, record)
        let transport = try CurlTransport()
        var sent = try upload(source, to: service, wait: .seconds(120))
        // This is long before the end of the wait, and long after the server has sent 100 Continue.
        sent.options.totalTimeout = .seconds(30)
        #expect(try await transport.send(sent).text == "done")
        let seen = try #require(record.uploads.first)
        #expect(seen.head.lowercased().contains("\r\nexpect: 100-continue"))
        #expect(!seen.cameUnasked)
        #expect(seen.size == Self.size)
        #expect(service.connectionCount == 1)
        await transport.shutdown()
    }

    @Test("If a server never sends 100 Continue, a body is sent after its wait", arguments: Source.allCases)
    func unasked(source: Source) async throws {
        let record = Record()
        let service = try server(saysContinue: false, record)
        let transport = try CurlTransport()
        let wait = Duration.milliseconds(300)
        let sent = try upload(source, to: service, wait: wait)
        // The task runs on the engine's thread, because waiting for a thread of the tests would also count.
        let (text, elapsed) = try await withTaskExecutorPreference(transport.taskExecutor(for: sent.url.origin)) {
            let start = ContinuousClock.now
            let text = try await transport.send(sent).text
            return (text, start.duration(to: .now))
        }
        #expect(text == "done")
        #expect(elapsed >= wait - .milliseconds(20))
        #expect(elapsed < .seconds(30))
        #expect(record.uploads.map(\.size) == [Self.size])
        await transport.shutdown()
    }

    /// The server's refusal of the expectation.
    enum Refusal: CaseIterable {
        case kept, closed, chunked, long

        var head: String {
            switch self {
            case .kept: "Content-Length: 2\r\n\r\nno"
            case .closed: "Connection: close\r\n\r\nno"
            case .chunked: "Transfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n"
            case .long: "Content-Length: 3000000\r\n\r\n" + String(repeating: "n", count: 3_000_000)
            }
        }
    }

    @Test(
        "A request whose expectation is refused with 417 is sent again without it, whatever its method",
        arguments: Refusal.allCases, Source.allCases)
    func refused(_ refusal: Refusal, source: Source) async throws {
        let record = Record()
        let service = try SocketService { connection in
            let channel = connection.channel
            while true {
                var bytes: [UInt8] = []
                while !bytes.holds("\r\n\r\n") {
                    let piece = channel.read()
                    guard !piece.isEmpty else { return }
                    bytes += piece
                }
                guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return }
                var upload = Record.Upload(head: String(decoding: bytes[..<end.lowerBound], as: UTF8.self))
                let begun = bytes.count - end.upperBound
                if upload.head.lowercased().contains("\r\nexpect:") {
                    record.add(upload)
                    guard channel.write("HTTP/1.1 417 Expectation Failed\r\n\(refusal.head)") else { return }
                    if refusal == .closed { return }
                } else {
                    upload.size = begun + (channel.readAll(Self.size - begun)?.count ?? 0)
                    record.add(upload)
                    channel.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone")
                }
            }
        }
        let transport = try CurlTransport()
        for delivery in [TransportOptions.Delivery.collected(upTo: 100), .streamed] {
            var sent = try upload(source, to: service, wait: .seconds(120))
            sent.method = .post
            sent.options.delivery = delivery
            sent.options.totalTimeout = .seconds(30)
            let response = try await transport.send(sent)
            #expect(response.status == .ok)
            #expect(try await response.body.collect(upTo: 100) == Data("done".utf8))
            #expect(response.metrics.sendings == 2)
        }
        #expect(record.uploads.map(\.size) == [0, Self.size, 0, Self.size])
        await transport.shutdown()
    }

    @Test("A response with 417 to a request without an expectation is delivered")
    func plain417() async throws {
        let server = try LoopbackServer { _ in .response(status: 417, body: "no") }
        let transport = try CurlTransport()
        let response = try await transport.send(
            request(.post, server, "/", body: .bytes(Data("body".utf8))))
        #expect(response.status.code == 417)
        #expect(response.metrics.sendings == 1)
        await transport.shutdown()
    }
}

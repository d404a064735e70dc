import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@Suite("An exchange's details")
struct ExchangeDetailTests {
    @Test("Informational responses are delivered in their order, with their fields")
    func informational() async throws {
        let server = try LoopbackServer { _ in
            .raw([
                .text("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\nLink: </b.css>\r\n\r\n"),
                .text("HTTP/1.1 102 Processing\r\n\r\n"),
                .text("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Last: yes\r\n\r\nok"), .keepAlive,
            ])
        }
        let transport = try CurlTransport()
        for delivery in [TransportOptions.Delivery.collected(upTo: 100), .streamed] {
            var sent = try request(server)
            sent.options.delivery = delivery
            let response = try await transport.send(sent)
            #expect(response.informational.map(\.status.code) == [103, 102])
            #expect(
                response.informational.first?.headerFields[values: HTTPField.Name("Link")!] == ["</a.css>", "</b.css>"])
            #expect(response.status == .ok && response.headerFields[HTTPField.Name("X-Last")!] == "yes")
            #expect(try await response.body.collect(upTo: 10) == Data("ok".utf8))
        }
        await transport.shutdown()
    }

    @Test("A body waits for 100 Continue, is sent after its wait, and is sent at once if the expectation is refused")
    func continues() async throws {
        let heads = Mutex<[String?]>([])
        let options = ServerOptions(onHead: { request in
            heads.withLock { $0.append(request.header("Expect")) }
            let isRefused = request.path == "/refused" && request.header("Expect") != nil
            return isRefused ? .response(status: 417, headers: [("Connection", "close")]) : nil
        })
        let server = try LoopbackServer(options: options) { .response(body: "\($0.body.count)") }
        let transport = try CurlTransport()
        let body = Data(repeating: 7, count: 300_000)
        var sent = try request(.put, server, "/taken", body: .bytes(body))
        sent.options.continueWait = .milliseconds(100)
        #expect(try await transport.send(sent).text == "300000")
        var refused = try request(.put, server, "/refused", body: .bytes(body))
        refused.options.continueWait = .seconds(60)
        let response = try await transport.send(refused)
        #expect(response.text == "300000")
        #expect(response.metrics.sendings == 2)
        #expect(try await transport.send(request(.put, server, "/plain", body: .bytes(body))).text == "300000")
        #expect(heads.withLock { $0 } == ["100-continue", "100-continue", nil, nil])
        await transport.shutdown()
    }

    @Test("A large body in memory arrives complete, and again after a dead connection")
    func lentBody() async throws {
        let body = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
        let server = try LoopbackServer { request in
            request.numberOnConnection == 1 && request.path == "/again"
                ? .close : .response(body: Data(request.body) == body ? "same" : "other \(request.body.count)")
        }
        let transport = try CurlTransport()
        #expect(try await transport.send(request(.put, server, body: .bytes(body))).text == "same")
        // The kept connection is dead after the request. PUT is idempotent and is sent again.
        let again = try await transport.send(request(.put, server, "/again", body: .bytes(body)))
        #expect(again.text == "same")
        #expect(again.metrics.sendings == 2)
        #expect(again.metrics.requestSent != nil)
        let refused = await failure {
            try await transport.send(request(.post, server, "/again", body: .bytes(body)))
        }
        #expect(refused?.reason == .interrupted)
        await transport.shutdown()
    }

    @Test("The first-byte deadline ends a response that does not begin, and does not limit its length")
    func firstByte() async throws {
        let server = try LoopbackServer { request in
            request.path == "/silent"
                ? .hang
                : .raw([
                    .head(headers: [("Content-Length", "2")]), .text("o"), .pause(.milliseconds(150)), .text("k"),
                    .keepAlive,
                ])
        }
        let transport = try CurlTransport()
        var sent = try request(server, "/silent")
        sent.options.firstByteTimeout = .milliseconds(80)
        let found = await failure { try await transport.send(sent) }
        #expect(found?.reason == .timeout && found?.phase == .waiting)
        #expect(found?.message.contains("did not begin its response within 0.08 seconds") == true)
        var slow = try request(server, "/slow")
        slow.options.firstByteTimeout = .milliseconds(80)
        slow.options.idleTimeout = .seconds(30)
        // The head arrives at once. Other deadlines limit what follows.
        #expect(try await transport.send(slow).text == "ok")
        await transport.shutdown()
    }

    @Test("A transfer below the minimum rate ends")
    func minimumRate() async throws {
        let server = try LoopbackServer { _ in
            .raw(
                [.head(headers: [("Content-Length", "100000")])]
                    + (0..<400).flatMap { _ in
                        [ServerStep.text("x"), .pause(.milliseconds(50))]
                    })
        }
        let transport = try CurlTransport()
        var sent = try request(server)
        sent.options.minimumRate = TransportOptions.MinimumRate(bytesPerSecond: 1_000, over: .seconds(1))
        let found = await failure { try await transport.send(sent) }
        #expect(found?.reason == .timeout && found?.phase == .receiving)
        #expect(found?.message.contains("slower than 1000 bytes a second for 1.0 seconds") == true)
        await transport.shutdown()
    }

    @Test("A body that expands far beyond its size fails, collected or streamed, but an ordinary one succeeds")
    func expansion() async throws {
        let bomb = try Gzip.zeros(count: 40 << 20)
        let server = try LoopbackServer { _ in
            .response(headers: [("Content-Encoding", "gzip")], body: bomb)
        }
        let transport = try CurlTransport()
        for delivery in [TransportOptions.Delivery.collected(upTo: 64 << 20), .streamed] {
            var sent = try request(server)
            sent.options.delivery = delivery
            let found = await failure { try await transport.send(sent).body.collect(upTo: 64 << 20) }
            #expect(found?.reason == .tooLarge, "\(String(describing: found))")
            #expect(found?.message.contains("more than 100 times its size") == true)
            sent.options.maximumExpansion = nil
            #expect(try await transport.send(sent).body.collect(upTo: 64 << 20).count == 40 << 20)
        }
        await transport.shutdown()
    }

    @Test("Several engine threads serve requests, and each origin's connections are reused")
    func shards() async throws {
        var configuration = CurlTransport.Configuration()
        configuration.shards = 3
        let transport = try CurlTransport(configuration: configuration)
        let servers = try (0..<6).map { number in try LoopbackServer { _ in .response(body: "\(number)") } }
        for _ in 0..<3 {
            for (number, server) in servers.enumerated() {
                #expect(try await transport.send(request(server)).text == "\(number)")
            }
        }
        #expect(servers.map(\.connectionCount) == Array(repeating: 1, count: 6))
        await transport.shutdown()
    }

    @Test("An unusable configuration is refused by the name of its property")
    func configuration() throws {
        func refusal(_ change: (inout CurlTransport.Configuration) -> Void) -> RequestFailure? {
            var configuration = CurlTransport.Configuration()
            change(&configuration)
            do throws(RequestFailure) {
                _ = try CurlTransport(configuration: configuration)
                return nil
            } catch {
                return error
            }
        }
        for (name, change) in [
            ("connectionsPerOrigin", { $0.connectionsPerOrigin = 0 }),
            ("requestsInFlight", { $0.requestsInFlight = -1 }),
            ("streamsPerConnection", { $0.streamsPerConnection = 0 }), ("shards", { $0.shards = 0 }),
            ("shards", { $0.shards = 1_000 }), ("queueLimit", { $0.queueLimit = -1 }),
            ("connectionCacheSize", { $0.connectionCacheSize = -1 }), ("unixSocket", { $0.unixSocket = "" }),
            ("unixSocket", { $0.unixSocket = String(repeating: "a", count: 108) }),
            ("networkInterface", { $0.networkInterface = "" }),
            ("requestsInFlight", { ($0.requestsInFlight, $0.shards) = (2, 3) }),
            ("queueLimit", { ($0.queueLimit, $0.shards) = (2, 3) }),
            ("connectionCacheSize", { ($0.connectionCacheSize, $0.shards) = (1, 2) }),
        ] as [(String, (inout CurlTransport.Configuration) -> Void)] {
            let found = refusal(change)
            #expect(found?.reason == .invalidRequest && found?.message.contains(name) == true, "\(name)")
        }
        #expect(refusal { $0.happyEyeballsDelay = .seconds(-1) } == nil)
        #expect(refusal { $0.addressLifetime = .seconds(Int64.max) } == nil)
        #expect(refusal { $0.connectionLifetime = .zero } == nil)
        #expect(
            refusal { ($0.requestsInFlight, $0.queueLimit, $0.connectionCacheSize, $0.shards) = (3, 0, 0, 3) } == nil)
    }
}

@Suite("A file as a request's body")
struct FileBodyTests {
    /// A file of random bytes, which is removed with this object.
    private final class TemporaryFile {
        let path: String
        let bytes: [UInt8]

        init(count: Int) throws {
            var generator = SystemRandomNumberGenerator()
            bytes = (0..<count).map { _ in UInt8.random(in: 0 ... .max, using: &generator) }
            path = "/tmp/essentials-body-\(UInt64.random(in: 0 ... .max))"
            try Data(bytes).write(to: URL(filePath: path))
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    @Test("A file as a body arrives complete with its length, and again after a dead connection")
    func sent() async throws {
        let file = try TemporaryFile(count: 700_000)
        let server = try LoopbackServer { [bytes = file.bytes] request in
            request.numberOnConnection == 1 && request.path == "/again"
                ? .close
                : .response(
                    body: request.body == bytes ? "same \(request.header("Content-Length") ?? "-")" : "other")
        }
        let transport = try CurlTransport()
        let first = try await transport.send(request(.put, server, body: .file(file.path)))
        #expect(first.text == "same 700000")
        #expect(first.metrics.bodyBytesSent == 700_000)
        let again = try await transport.send(request(.put, server, "/again", body: .file(file.path)))
        #expect(again.text == "same 700000")
        #expect(again.metrics.sendings == 2)
        let post = await failure { try await transport.send(request(.post, server, "/again", body: .file(file.path))) }
        #expect(post?.reason == .interrupted)
        await transport.shutdown()
    }

    @Test("A file that has changed since the request was made fails as `file`")
    func changed() async throws {
        let file = try TemporaryFile(count: 1_000)
        let server = try LoopbackServer { _ in .response(body: "ok") }
        let transport = try CurlTransport()
        let sent = try request(.put, server, body: .file(file.path))
        try Data([1, 2, 3]).write(to: URL(filePath: file.path))
        let found = await failure { try await transport.send(sent) }
        #expect(found?.reason == .file && found?.phase == .sending, "\(String(describing: found))")
        await transport.shutdown()
    }

    @Test("A file that was uploaded is downloaded unchanged")
    func download() async throws {
        let file = try TemporaryFile(count: 3_000_000)
        let server = try LoopbackServer { [bytes = file.bytes] _ in .response(body: bytes) }
        let transport = try CurlTransport()
        let target = file.path + ".copy"
        defer { try? FileManager.default.removeItem(atPath: target) }
        let values = Mutex<[TransferProgress]>([])
        let loaded = try await transport.download(
            request(server), to: target, progress: ProgressReport { value in values.withLock { $0.append(value) } })
        #expect(loaded.bytes == 3_000_000)
        #expect(try Array(Data(contentsOf: URL(filePath: target))) == file.bytes)
        #expect(values.withLock { $0.last?.bytes } == 3_000_000)
        await transport.shutdown()
    }
}

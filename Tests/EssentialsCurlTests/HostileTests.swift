import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

/// Attempts of hostile servers and careless callers.
@Suite("Hostile servers and careless callers")
struct HostileTests {
    @Test(
        "An impossible status is `protocolViolation`",
        arguments: [
            "HTTP/2 99999 OK", "HTTP/2 -5 OK", "HTTP/1.1 101 Switching Protocols", "HTTP/1.1 1000 Hm",
        ])
    func status(line: String) async throws {
        let server = try LoopbackServer { _ in .raw([.text("\(line)\r\nContent-Length: 0\r\n\r\n"), .close]) }
        let transport = try CurlTransport()
        let sent = try request(server)
        #expect(await failure { try await transport.send(sent) }?.reason == .protocolViolation)
    }

    @Test(
        "Bytes beyond a streamed body's length never reach the server as another request",
        arguments: [
            (5, "hello"), (3, "helloGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"), (9, "hello"),
        ])
    func bodyLength(length: Int, piece: String) async throws {
        let server = try LoopbackServer { .response(body: "\($0.path) \($0.bodyText)") }
        let transport = try CurlTransport()
        let pieces = AsyncStream<Data> { continuation in
            continuation.yield(Data(piece.utf8))
            continuation.finish()
        }
        let sent = try request(.post, server, "/first", body: .stream(pieces, length: length))
        let found = await failure { try await transport.send(sent) }
        #expect(found?.reason == (length == piece.utf8.count ? nil : .encoding))
        #expect(try await transport.send(request(server, "/second")).text == "/second ")
        #expect(server.requests.allSatisfy { $0.path != "/smuggled" })
    }

    @Test("A response during an upload loses no byte in either direction", arguments: [1000, 100_000])
    func bothDirections(piece: Int) async throws {
        let size = 4_000_000
        let bytes = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 / 251 &+ $0) })
        let server = try UploadServer(total: size, manner: .echo)
        let transport = try CurlTransport()
        let pieces = AsyncStream<Data> { continuation in
            for start in stride(from: 0, to: size, by: piece) {
                continuation.yield(bytes[start..<min(start + piece, size)])
            }
            continuation.finish()
        }
        let url = try RequestURL("http://127.0.0.1:\(server.port)/")
        var sent = TransportRequest(.post, url, body: .stream(pieces, length: size))
        sent.options.delivery = .streamed
        #expect(try await transport.send(sent).body.collect(upTo: size) == bytes)
    }

    @Test("A server that sends while it reads loses no byte of the upload")
    func flood() async throws {
        let size = 2_000_000
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 / 251 &+ $0) }
        let server = try UploadServer(total: size, manner: .flood(expecting: bytes))
        let transport = try CurlTransport()
        let pieces = AsyncStream<Data> { continuation in
            for start in stride(from: 0, to: size, by: 1000) { continuation.yield(Data(bytes[start..<start + 1000])) }
            continuation.finish()
        }
        let url = try RequestURL("http://127.0.0.1:\(server.port)/")
        var sent = TransportRequest(.post, url, body: .stream(pieces, length: size))
        sent.options.delivery = .streamed
        var last: UInt8?
        for try await chunk in try await transport.send(sent).body { last = chunk.array.last }
        #expect(last == 1)
    }

    @Test(
        "A deadline in the past times out, and is not taken for a missing limit",
        arguments: [Duration.zero, .seconds(-1)])
    func passedDeadline(total: Duration) async throws {
        let server = try LoopbackServer { _ in .hang }
        let transport = try CurlTransport()
        var sent = try request(server)
        sent.options.totalTimeout = total
        let prepared = sent
        #expect(await failure { try await transport.send(prepared) }?.reason == .timeout)
    }

    @Test(
        "No duration traps, however long or negative it is",
        arguments: [
            Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999),
            Duration(secondsComponent: 9_223_372_036_854_775, attosecondsComponent: 999_000_000_000_000_000),
            Duration(secondsComponent: .min, attosecondsComponent: 0), .nanoseconds(1),
        ])
    func durations(duration: Duration) async throws {
        let server = try LoopbackServer { _ in .response(body: "x") }
        let transport = try CurlTransport()
        var sent = try request(server)
        sent.options.connectTimeout = duration
        sent.options.idleTimeout = duration
        if duration > .seconds(1) { sent.options.totalTimeout = duration }
        _ = try? await transport.send(sent)
        let trust = try CompiledTrust(.system)
        _ = try? CertificateChain.presented(by: HostName("127.0.0.1"), port: 1, trust: trust, timeout: duration)
    }

    @Test("The idle deadline does not count while a body from memory is sent")
    func slowUpload() async throws {
        // The sockets buffer a part of the body. The rest takes at least two seconds, during which bytes keep moving.
        let size = 48 << 20
        let server = try UploadServer(total: size, manner: .slow(step: 256 << 10))
        let transport = try CurlTransport()
        let url = try RequestURL("http://127.0.0.1:\(server.port)/")
        var sent = TransportRequest(.post, url, body: .bytes(Data(count: size)))
        sent.options.idleTimeout = .seconds(1)
        #expect(try await transport.send(sent).text == "done")
    }

    @Test("A deadline applies while a request waits for the connection of another")
    func waiting() async throws {
        let gate = LoopbackGate()
        let server = try stalledServer(opening: gate)
        let transport = try CurlTransport()
        let url = try RequestURL("https://localhost:\(server.port)/")
        let first = Task {
            var sent = TransportRequest(.get, url)
            sent.options.connectTimeout = .seconds(300)
            return try await transport.send(sent)
        }
        await gate.opened()
        var total = TransportRequest(.get, url)
        total.options.totalTimeout = .milliseconds(100)
        var connect = TransportRequest(.get, url)
        connect.options.connectTimeout = .milliseconds(100)
        for sent in [total, connect] {
            let found = await failure { try await transport.send(sent) }
            #expect(found?.reason == .timeout)
            #expect(found?.message.contains("0.1 seconds") == true)
        }
        first.cancel()
        _ = await first.result
    }

    @Test(
        "A field that only the transport may set is refused before anything is sent",
        arguments: [
            ("Expect", "100-continue"), ("Host", "evil.example"), ("Transfer-Encoding", "chunked"),
        ])
    func fields(name: String, value: String) async throws {
        let server = try LoopbackServer { _ in .response() }
        let transport = try CurlTransport()
        var sent = try request(.put, server)
        sent.headerFields.append(try HTTPField.checked(name: name, value: value))
        let prepared = sent
        #expect(await failure { try await transport.send(prepared) }?.reason == .invalidRequest)
        #expect(server.connectionCount == 0)
    }

    @Test("A wrong user agent or override is refused when the transport is created")
    func configuration() throws {
        var configuration = CurlTransport.Configuration()
        configuration.userAgent = "x\r\nX-Evil: 1"
        #expect(throws: RequestFailure.self) { try CurlTransport(configuration: configuration) }
        #expect(throws: RequestFailure.self) {
            try CurlTransport.AddressOverride(host: HostName("::1"), port: 1, address: HostName("127.0.0.1"))
        }
        #expect(throws: RequestFailure.self) {
            try CurlTransport.AddressOverride(host: HostName("a.test"), port: 1, address: HostName("b.test"))
        }
    }

    @Test("A second reader of a stream is refused, and the first one continues")
    func twoReaders() async throws {
        let (begun, go) = (LoopbackGate(), LoopbackGate())
        let server = try LoopbackServer { _ in
            .raw([.head(headers: [("Content-Length", "6")]), .text("abc"), .gate(go), .text("def"), .keepAlive])
        }
        let transport = try CurlTransport()
        var sent = try request(server)
        sent.options.delivery = .streamed
        let body = try await transport.send(sent).body
        let readers = (0..<2).map { _ in
            Task {
                var count = 0
                do throws(RequestFailure) {
                    for try await chunk in body {
                        count += chunk.count
                        begun.open()
                    }
                    return (count, Optional<RequestFailure.Reason>.none)
                } catch {
                    go.open()
                    return (count, error.reason)
                }
            }
        }
        await begun.opened()
        let results = [await readers[0].value, await readers[1].value]
        #expect(results.map(\.0).reduce(0, +) == 6)
        #expect(results.compactMap(\.1) == [.invalidRequest])
    }

    @Test("A streamed request that cannot start ends at once")
    func refusedUploads() async throws {
        let server = try LoopbackServer { _ in .response() }
        let transport = try CurlTransport()
        let pieces = AsyncStream<Data>(unfolding: { Data("x".utf8) }, onCancel: {})
        let sent = try request(.post, server, body: .stream(pieces, length: nil))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await failure { try await transport.send(sent) }
        }
        #expect(await task.value?.reason == .cancelled)
        await transport.shutdown()
        let negative = try request(.post, server, body: .stream(pieces, length: -7))
        #expect(await failure { try await transport.send(negative) }?.reason == .invalidRequest)
    }

    @Test("A stream that expands is decoded piece by piece")
    func expansion() async throws {
        let packed = try Gzip.zeros(count: 100 << 20)
        let server = try LoopbackServer { _ in .response(headers: [("Content-Encoding", "gzip")], body: packed) }
        let transport = try CurlTransport()
        var sent = try request(server)
        sent.options.delivery = .streamed
        sent.options.maximumExpansion = nil
        var count = 0
        for try await chunk in try await transport.send(sent).body { count += chunk.count }
        #expect(count == 100 << 20)
    }
}

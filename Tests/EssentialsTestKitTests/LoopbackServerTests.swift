import EssentialsTestKit
import Glibc
import Testing

@Suite struct LoopbackServerTests {
    private let get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

    @Test func `A connection serves several requests`() throws {
        let server = try LoopbackServer { request in
            .response(headers: [("X-Path", request.path)], body: "hi \(request.numberOnConnection)")
        }
        defer { server.stop() }
        #expect(server.url == "http://127.0.0.1:\(server.port)")
        let client = try SocketClient(port: server.port)
        for number in 0..<3 {
            let response = try client.exchange("POST /p\(number)?a=b HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc")
            #expect(response.text == "hi \(number)")
            #expect(response.head.contains("X-Path: /p\(number)"))
        }
        #expect(server.connectionCount == 1)
        #expect(server.requests.map(\.target) == ["/p0?a=b", "/p1?a=b", "/p2?a=b"])
        #expect(server.requests.map(\.number) == [0, 1, 2])
        #expect(server.requests[1].bodyText == "abc")
        #expect(server.applicationBytesReceived == 3 * 47)
    }

    @Test func `Pipelined requests are answered in order`() throws {
        let server = try LoopbackServer { .response(body: $0.target) }
        defer { server.stop() }
        let client = try SocketClient(port: server.port)
        client.send((0..<20).map { "GET /\($0) HTTP/1.1\r\n\r\n" }.joined())
        for number in 0..<20 { #expect(try client.response().text == "/\(number)") }
    }

    @Test func `A connection closes if either side requests it`() throws {
        let server = try LoopbackServer { request in
            request.path == "/last" ? .response(headers: [("Connection", "close")], body: "bye") : .response(body: "ok")
        }
        defer { server.stop() }
        for request in [
            "GET /last HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n",
        ] {
            let client = try SocketClient(port: server.port)
            client.send(request)
            let (text, end) = client.receiveAll()
            #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(text.contains("Connection: close\r\n"))
            #expect(end == .orderly)
        }
    }

    @Test func `Responses to HEAD, 204 and 304 have no body`() throws {
        let server = try LoopbackServer { .response(status: Int($0.path.dropFirst()) ?? 200, body: "abc") }
        defer { server.stop() }
        let client = try SocketClient(port: server.port)
        client.send("HEAD /200 HTTP/1.1\r\n\r\n")
        #expect(try client.response(isHead: true).head.contains("Content-Length: 3"))
        for status in [204, 304] {
            let response = try client.exchange("GET /\(status) HTTP/1.1\r\n\r\n")
            #expect(response.status == status)
            #expect(!response.head.contains("Content-Length"))
        }
        #expect(try client.exchange(get).text == "abc")
    }

    @Test func `Chunked bodies and trailers are sent and received`() throws {
        let server = try LoopbackServer { request in
            .chunked(
                headers: [("Connection", "close")], chunks: [request.body, [], Array("end".utf8)],
                trailers: [("T", request.trailers.first?.value ?? "")])
        }
        defer { server.stop() }
        let client = try SocketClient(port: server.port)
        client.send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nT: v\r\n\r\n")
        let text = client.receiveAll().text
        #expect(text.hasSuffix("Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n3\r\nend\r\n0\r\nT: v\r\n\r\n"))
    }

    @Test func `A client that expects 100 Continue receives it`() throws {
        let server = try LoopbackServer { .response(body: $0.bodyText) }
        defer { server.stop() }
        let client = try SocketClient(port: server.port)
        client.send("PUT / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        #expect(try client.response().status == 100)
        #expect(try client.exchange("ok").text == "ok")
    }

    @Test func `A reply to the header section is sent before the body arrives`() throws {
        let options = ServerOptions(onHead: { $0.path == "/no" ? .response(status: 417) : nil })
        let server = try LoopbackServer(options: options) { .response(body: $0.bodyText) }
        defer { server.stop() }
        let client = try SocketClient(port: server.port)
        client.send("PUT /no HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 900000\r\n\r\nsome of it")
        #expect(client.receiveAll().text.hasPrefix("HTTP/1.1 417 "))
        #expect(server.requestCount == 0)
        let other = try SocketClient(port: server.port)
        #expect(try other.exchange("PUT / HTTP/1.1\r\nContent-Length: 1\r\n\r\na").text == "a")
    }

    @Test func `A connection can use another protocol from its first byte`() throws {
        let options = ServerOptions(onConnect: { connection in
            connection == 1 ? [.text("hello\n"), .receive { $0.contains(UInt8(ascii: "\n")) }, .text("bye")] : []
        })
        let server = try LoopbackServer(options: options) { .response(body: $0.target) }
        defer { server.stop() }
        let first = try SocketClient(port: server.port)
        #expect(try first.exchange("GET /first HTTP/1.1\r\n\r\n").text == "/first")
        let second = try SocketClient(port: server.port)
        second.send("a name")
        second.send("\n")
        #expect(second.receiveAll().text == "hello\nbye")
        #expect(server.requestCount == 1)
    }

    @Test func `Bytes that are not a request are answered with 400 and recorded`() throws {
        let server = try LoopbackServer { _ in .response() }
        defer { server.stop() }
        let client = try SocketClient(port: server.port)
        client.send("nonsense\r\n\r\n")
        #expect(client.receiveAll().text.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
        #expect(server.refusals == ["no request line: nonsense"])
    }

    @Test func `Many clients are served concurrently`() async throws {
        let server = try LoopbackServer { .response(body: $0.target) }
        defer { server.stop() }
        let port = server.port
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let client = try SocketClient(port: port)
                    for _ in 0..<5 {
                        #expect(try client.exchange("GET /\(number) HTTP/1.1\r\n\r\n").text == "/\(number)")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(server.connectionCount == 40)
        #expect(server.requestCount == 200)
        #expect(becomesTrue { server.openConnectionCount == 0 })
    }

    @Test func `Recorded requests are limited, but all requests are counted`() throws {
        let server = try LoopbackServer(options: ServerOptions(recordedRequestMaximum: 2)) { _ in .response() }
        defer { server.stop() }
        let client = try SocketClient(port: server.port)
        for _ in 0..<4 { _ = try client.exchange(get) }
        #expect(server.requests.count == 2)
        #expect(server.requestCount == 4)
    }

    @Test func `A port in use is refused with a readable error`() throws {
        let server = try LoopbackServer { _ in .response() }
        defer { server.stop() }
        #expect {
            _ = try LoopbackServer(port: server.port) { _ in .response() }
        } throws: {
            ($0 as? TestKitError)?.text.contains("Address already in use") == true
        }
    }

    @Test func `The server can listen on the IPv6 loopback address`() throws {
        let server = try LoopbackServer(options: ServerOptions(address: .ipv6)) { _ in .response() }
        #expect(server.url == "http://[::1]:\(server.port)")
        server.stop()
    }

    @Test func `The descriptors are close-on-exec and are all closed in the end`() throws {
        let before = openDescriptors()
        let server = try LoopbackServer { _ in .response() }
        let client = try SocketClient(port: server.port)
        _ = try client.exchange(get)
        for descriptor in openDescriptors().subtracting(before) where descriptor != client.socket {
            var address = sockaddr_in()
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            // Other tests open descriptors at the same time, so only the sockets of this server count.
            let code = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
            }
            guard code == 0, UInt16(bigEndian: address.sin_port) == server.port else { continue }
            #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
        }
        server.stop()
        #expect(throws: TestKitError.self) { _ = try SocketClient(port: server.port) }
    }

    private func openDescriptors() -> Set<Int32> {
        Set((0..<1024).filter { fcntl($0, F_GETFD) >= 0 })
    }
}

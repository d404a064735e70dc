import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

/// Compressed bodies that are damaged, empty, compressed several times, or much larger than they look.
@Suite("A compressed body", .serialized)
struct EncodingTests {
    private static let text = String(repeating: "compressed text ", count: 8)
    private static let packed = bytes("H4sIAAAAAAACA0vOzy0oSi0uTk1RKEmtKFFIpjMfAKL5v2aAAAAA")
    private static func bytes(_ base64: String) -> [UInt8] { Data(base64Encoded: base64).map(Array.init) ?? [] }

    private static func gzip(
        _ name: String, _ body: [UInt8], encoding: String = "gzip", is reason: RequestFailure.Reason? = nil,
        body text: String = ""
    ) -> Fault {
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(encoding)\r\nContent-Length: \(body.count)\r\n\r\n"
        return Fault(name, [.text(head), .send(body), .keepAlive], is: reason, body: text)
    }

    private static func changed(_ index: Int) -> [UInt8] {
        var bytes = packed
        bytes[index] ^= 0x55
        return bytes
    }

    static let damages: [Fault] = [
        gzip("whole", packed, body: text),
        gzip("with a wrong first byte", changed(0), is: .protocolViolation),
        gzip("with a wrong method", changed(2), is: .protocolViolation),
        gzip("with a wrong byte in the middle", changed(15), is: .protocolViolation),
        gzip("with a wrong checksum", changed(packed.count - 6), is: .protocolViolation),
        gzip("with a wrong length", changed(packed.count - 2), is: .protocolViolation),
        gzip("of plain text", Array("hello".utf8), is: .protocolViolation),
        gzip("that says deflate", packed, encoding: "deflate", is: .protocolViolation),
        gzip("that says br", packed, encoding: "br", is: .protocolViolation),
        gzip("of an encoding that nobody knows", Array("hello".utf8), encoding: "foo", body: "hello"),
        gzip("of an encoding that nobody knows within gzip", Array("hello".utf8), encoding: "foo, gzip", body: "hello"),
        gzip("of gzip within an encoding that nobody knows", Array("hello".utf8), encoding: "gzip,foo", body: "hello"),
        gzip("of many encodings, one of them unknown", Array("hello".utf8), encoding: "gzip, br, foo", body: "hello"),
        gzip("that says a charset", Array("hello".utf8), encoding: "UTF-8", body: "hello"),
        gzip("that says zip", Array("hello".utf8), encoding: "zip", body: "hello"),
        gzip("that says aws-chunked", Array("hello".utf8), encoding: "aws-chunked", body: "hello"),
        gzip(
            "that says aws-chunked in a second line", Array("hello".utf8),
            encoding: "gzip\r\nContent-Encoding: aws-chunked", body: "hello"),
        gzip("that says more than gzip", Array("hello".utf8), encoding: "gzipped", body: "hello"),
        gzip("that says the beginning of gzip", Array("hello".utf8), encoding: "gz", body: "hello"),
        gzip("that says nothing", Array("hello".utf8), encoding: "", body: "hello"),
        gzip("that says only a comma", Array("hello".utf8), encoding: ",", body: "hello"),
        gzip("of no byte", [], body: ""),
        gzip("of no byte and no known encoding", [], encoding: "foo", body: ""),
        gzip("that says identity", Array("hello".utf8), encoding: "identity", body: "hello"),
        gzip("that says x-gzip", packed, encoding: "x-gzip", body: text),
        gzip("that says identity beside gzip", packed, encoding: "identity, gzip ,", body: text),
        gzip("packed twice", packed, encoding: "gzip, gzip", is: .protocolViolation),
        gzip("packed by two algorithms", packed, encoding: "br,gzip", is: .protocolViolation),
        gzip("packed twice, in two lines", packed, encoding: "gzip\r\ncontent-encoding:gzip", is: .protocolViolation),
        gzip("packed twice, in a folded line", packed, encoding: "gzip,\r\n gzip", is: .protocolViolation),
        gzip(
            "packed a thousand times", packed, encoding: Array(repeating: "gzip", count: 1000).joined(separator: ","),
            is: .protocolViolation),
    ]

    @Test("A compressed body is decoded to the original, or fails", arguments: damages)
    func damage(fault: Fault) async throws { try await fault.expect() }

    @Test("The field with an unknown encoding stays, and the next request on the connection is decoded")
    func unknown() async throws {
        let packed = Self.packed
        let server = try LoopbackServer { request in
            .response(headers: [("Content-Encoding", request.path == "/odd" ? "UTF-8, gzip" : "gzip")], body: packed)
        }
        let transport = try CurlTransport()
        for delivery in deliveries {
            var odd = try request(server, "/odd")
            odd.options.delivery = delivery
            let response = try await transport.send(odd)
            #expect(response.headerFields[.contentEncoding] == "UTF-8, gzip")
            #expect(try await response.body.collect(upTo: 1_000) == Data(packed))
            #expect(try await transport.send(request(server)).text == Self.text)
        }
    }

    @Test("A compressed body that is cut at any byte is `interrupted`")
    func cuts() async throws {
        let head = Array(
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(Self.packed.count)\r\n\r\n".utf8)
        let bench = try Bench(options: ServerOptions()) { request in
            let cut = Int(request.path.split(separator: "/").last ?? "") ?? 0
            return [.send(head + Self.packed[..<cut]), .close]
        }
        for cut in 0..<Self.packed.count {
            for delivery in deliveries {
                let outcome = try await bench.bad(.get, "/bad/\(cut)", as: delivery)
                #expect(outcome.failure?.reason == .interrupted, "cut at \(cut), \(delivery): \(outcome)")
                #expect(Self.text.hasPrefix(outcome.text))
            }
        }
        try await bench.expectRecovery()
    }

    @Test("A body that expands without limit does not use memory without limit")
    func bombs() async throws {
        // The test runs in its own process, where no other test allocates memory.
        await #expect(processExitsWith: .success) {
            let before = try ResidentMemory.peak()
            try await Bomb.collected()
            try await Bomb.streamed()
            let grown = try ResidentMemory.peak() - before
            // The body is a gigabyte. For a paused stream libcurl keeps at most 64 MiB of it.
            #expect(grown < 200 << 20, "\(grown) bytes")
        }
    }
}

/// A gigabyte of zeros.
private enum Bomb {
    /// Compressed once: 13 bytes are eight of the longest back references, and the longer part repeats them.
    static func plain() throws -> (beginning: [UInt8], period: [UInt8]) {
        let bytes = try Gzip.zeros(count: 1 + 258 * 64)
        return (Array(bytes[..<24]), Array(bytes[24..<37]))
    }

    static func server() throws -> LoopbackServer {
        let (beginning, period) = try plain()
        return try LoopbackServer { request in
            switch request.path {
            case "/plain":
                .raw([
                    .head(headers: [("Content-Encoding", "gzip")]), .send(beginning),
                    .repeatSend(period, count: (1 << 30) / (8 * 258)), .close,
                ])
            default: .response(body: "good")
            }
        }
    }

    static func collected() async throws {
        let server = try server()
        let transport = try CurlTransport()
        var sent = try request(server, "/plain")
        sent.options.delivery = .collected(upTo: 8 << 20)
        let outcome = await transport.outcome(of: sent)
        #expect(outcome.failure?.reason == .tooLarge, "\(outcome)")
        #expect(try await transport.send(request(server)).text == "good")
    }

    /// Reads slowly, so that the rest must wait in its compressed form.
    static func streamed() async throws {
        let server = try server()
        let transport = try CurlTransport()
        var sent = try request(server, "/plain")
        sent.options.delivery = .streamed
        sent.options.maximumExpansion = nil
        var count = 0
        for try await chunk in try await transport.send(sent).body {
            count += chunk.count
            if count < 32 << 20 { try? await Task.sleep(for: .milliseconds(2)) }
            if count > 256 << 20 { break }
        }
        #expect(count > 256 << 20)
        #expect(try await transport.send(request(server)).text == "good")
    }
}

/// The memory that this process holds, in bytes.
enum ResidentMemory {
    struct Unknown: Error {}

    /// The peak of that memory.
    static func peak() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        guard let line, let kilobytes = line.split(separator: " ").dropLast().last.flatMap({ Int($0) }) else {
            throw Unknown()
        }
        return kilobytes << 10
    }
}

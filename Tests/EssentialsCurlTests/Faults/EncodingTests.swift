import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

/// Compressed bodies that are damaged, empty, packed several times, or much larger than they look.
@Suite("A compressed body", .serialized)
struct EncodingTests {
    private static let text = String(repeating: "compressed text ", count: 8)
    private static let packed = bytes("H4sIAAAAAAACA0vOzy0oSi0uTk1RKEmtKFFIpjMfAKL5v2aAAAAA")
    /// The same text, packed in gzip five and six times.
    private static let fiveTimes = bytes(
        "H4sIAAAAAAACA5Pv5mAAASbmye+fJTAwqj07+X6+qoHBKlvrn3X7VjUeXLW0+uvrR5vKdOs/Ve0Lifrw5vpEq4Vhx/Xig+6pF929O+Hu4Q/n"
            + "ZCe2ev9w+iHJ478uYCPDLAYGbq75HV5AUwFFaMe/XgAAAA==")
    private static let sixTimes = bytes(
        "H4sIAAAAAAACAwFzAIz/H4sIAAAAAAACA5Pv5mAAASbmye+fJTAwqj07+X6+qoHBKlvrn3X7VjUeXLW0+uvrR5vKdOs/Ve0Lifrw5vpEq4Vh"
            + "x/Xig+6pF929O+Hu4Q/nZCe2ev9w+iHJ478uYCPDLAYGbq75HV5AUwFFaMe/XgAAAOUEHHNzAAAA")

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
        gzip("of an encoding that nobody knows", packed, encoding: "foo", is: .protocolViolation),
        gzip("of an encoding that nobody knows within gzip", packed, encoding: "foo, gzip", is: .protocolViolation),
        gzip("of no byte", [], body: ""),
        gzip("of no byte and no known encoding", [], encoding: "foo", body: ""),
        gzip("that says identity", Array("hello".utf8), encoding: "identity", body: "hello"),
        gzip("that says x-gzip", packed, encoding: "x-gzip", body: text),
        gzip("packed five times", fiveTimes, encoding: "gzip, gzip, gzip, gzip, gzip", body: text),
        gzip("packed six times", sixTimes, encoding: "gzip, gzip, gzip, gzip, gzip, gzip", is: .protocolViolation),
        gzip(
            "packed a thousand times", packed, encoding: Array(repeating: "gzip", count: 1000).joined(separator: ","),
            is: .protocolViolation),
    ]

    @Test("is what was packed, or fails", arguments: damages)
    func damage(fault: Fault) async throws { try await fault.expect() }

    @Test("that is cut at any byte of its connection is `interrupted`")
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

    @Test("that grows without bounds does not grow here")
    func bombs() async throws {
        // In a process of its own, where nobody else takes memory.
        await #expect(processExitsWith: .success) {
            let before = try ResidentMemory.peak()
            try await Bomb.collected()
            try await Bomb.streamed()
            let grown = try ResidentMemory.peak() - before
            // A bomb is a gigabyte; what libcurl keeps of a paused stream is at most 64 MiB.
            #expect(grown < 200 << 20, "\(grown) bytes")
        }
    }
}

/// A gigabyte of zeros.
private enum Bomb {
    /// Packed three times.
    static let nested =
        "H4sIAAAAAAACA5Pv5mAAASbmt3cW5gUXyrQ9LFuboWamtkzgsZpHmkcXY/cNkSTFmTMdFt1OWWBwh1NCj0GknKF4d0NqUmQA99K3vjqW7z/P"
        + "+H/R/ufTJ7a/bKRz3/jk1fUcf93/dHp9fH76bmWg4QkPpoVPn3xWwqBq26+/r85qAoUMSt5/+77sduCDh29eej8HCjQc/P3l0Y+T3/gbdx/9"
        + "vbIYKHLggey/vfPytzfEr37Prv6OESjU/N3dAOTaIBZmILnAFcyJAnMU3JA4ozKjMqMyozKjMqMyBGX0vn1Pm6374PHfR4dfX1Su/vf2+c/b"
        + "X63/819Jbz1z4g0/AwDYL/M5IwcAAA=="

    /// Packed once: 13 bytes are eight times the longest back reference, and the longer one repeats them.
    static func plain() throws -> (beginning: [UInt8], period: [UInt8]) {
        let bytes = try Gzip.zeros(count: 1 + 258 * 64)
        return (Array(bytes[..<24]), Array(bytes[24..<37]))
    }

    static func server() throws -> LoopbackServer {
        let (beginning, period) = try plain()
        let packed = [UInt8](Data(base64Encoded: nested) ?? Data())
        return try LoopbackServer { request in
            switch request.path {
            case "/nested":
                .response(headers: [("Content-Encoding", "gzip, gzip, gzip")], body: packed)
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
        for path in ["/plain", "/nested"] {
            var sent = try request(server, path)
            sent.options.delivery = .collected(upTo: 8 << 20)
            let outcome = await transport.outcome(of: sent)
            #expect(outcome.failure?.reason == .tooLarge, "\(path): \(outcome)")
            #expect(try await transport.send(request(server)).text == "good")
        }
    }

    /// Reads slowly: what is not read yet must wait where it is packed, or the exchange ends with `tooLarge`.
    static func streamed() async throws {
        let server = try server()
        let transport = try CurlTransport()
        for path in ["/plain", "/nested"] {
            var sent = try request(server, path)
            sent.options.delivery = .streamed
            sent.options.maximumExpansion = nil
            var count = 0
            do throws(RequestFailure) {
                for try await chunk in try await transport.send(sent).body {
                    count += chunk.count
                    if count < 32 << 20 { try? await Task.sleep(for: .milliseconds(2)) }
                    if count > 256 << 20 { break }
                }
                #expect(count > 256 << 20)
            } catch {
                #expect(error.reason == .tooLarge, "\(path): \(error)")
                #expect(path == "/nested")
            }
            #expect(try await transport.send(request(server)).text == "good")
        }
    }
}

/// The memory that this process holds, in bytes.
enum ResidentMemory {
    struct Unknown: Error {}

    /// The most that it ever held.
    static func peak() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        guard let line, let kilobytes = line.split(separator: " ").dropLast().last.flatMap({ Int($0) }) else {
            throw Unknown()
        }
        return kilobytes << 10
    }
}

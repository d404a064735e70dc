import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("The pace of uploads", .timeLimit(.minutes(5)))
struct UploadPaceTests {
    private static let size = 8 << 20

    /// A file of this number of bytes, which is removed with this object.
    private final class File: Sendable {
        let path: String

        init(_ bytes: Data) throws {
            path = "/tmp/essentials-\(UInt64.random(in: 0 ... .max))"
            try bytes.write(to: URL(fileURLWithPath: path))
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    enum Source: CaseIterable {
        case memory, stream, chunked, file
    }

    /// Bytes in which adjacent pieces of a few hundred KiB differ.
    private static func bytes() -> Data {
        var bytes = Data(count: size)
        for index in stride(from: 0, to: size, by: 4096) { bytes[index] = UInt8(truncatingIfNeeded: index >> 12) }
        return bytes
    }

    private func body(_ source: Source, _ bytes: Data, _ file: File) throws -> RequestBody {
        let pieces = AsyncStream<Data> { continuation in
            for start in stride(from: 0, to: bytes.count, by: 100_000) {
                continuation.yield(bytes[start..<min(start + 100_000, bytes.count)])
            }
            continuation.finish()
        }
        return switch source {
        case .memory: .bytes(bytes)
        case .stream: .stream(pieces, length: bytes.count)
        case .chunked: .stream(pieces, length: nil)
        case .file: try .file(file.path)
        }
    }

    /// Checks that the server reads every byte of a body, and returns how often the engine stopped watching a writable
    /// socket.
    private func mutes(
        _ source: Source, tls: ServerTLS? = nil, anchors: TrustAnchors = .system, through socket: Bool = false
    ) async throws -> Int {
        let bytes = Self.bytes()
        let server = try LoopbackServer(tls: tls) { .response(body: Data($0.body) == bytes ? "whole" : "changed") }
        let name = "essentials-\(UInt64.random(in: 0 ... .max))"
        let port = server.port
        let relay = try SocketService(.abstract(name)) { connection in
            guard let target = connection.connect(to: port) else { return }
            connection.channel.relay(with: target)
            target.close()
        }
        defer { relay.stop() }
        var configuration = CurlTransport.Configuration()
        if socket { configuration.unixSocket = "@" + name }
        let transport = try CurlTransport(trust: TrustPolicy(anchors: anchors), configuration: configuration)
        let file = try File(bytes)
        let sent = try request(.put, server, body: body(source, bytes, file))
        #expect(try await transport.send(sent).text == "whole")
        await transport.shutdown()
        return transport.mutes
    }

    // The engine briefly stops watching a socket that stays writable while nothing is written. Over HTTP/1 that would
    // be a mistake, because a peer on this machine acknowledges written bytes before the write returns.

    @Test("Over HTTP/1, an upload from any kind of source is never delayed", arguments: Source.allCases)
    func plain(source: Source) async throws {
        #expect(try await mutes(source) == 0)
    }

    @Test("Over HTTP/1 and TLS, an upload from any kind of source is never delayed", arguments: Source.allCases)
    func secure(source: Source) async throws {
        let authority = try Authority()
        #expect(try await mutes(source, tls: ServerTLS(certificate: authority.leaf), anchors: authority.anchors) == 0)
    }

    @Test("Over a Unix-domain socket, an upload from any kind of source is never delayed", arguments: Source.allCases)
    func throughSocket(source: Source) async throws {
        #expect(try await mutes(source, through: true) == 0)
    }
}

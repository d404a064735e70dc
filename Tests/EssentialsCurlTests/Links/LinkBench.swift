import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import EssentialsTransport
import Testing

/// Collects what happens on a link.
final class CollectingReceiver: LinkReceiver {
    private struct State {
        var bytes: [UInt8] = []
        var sentAll = 0
        var endings: [RequestFailure] = []
    }

    private let state = Mutex(State())
    private let onBytes: @Sendable () -> Void

    /// - Parameter onBytes: Called on the link's thread when bytes have come, before they are counted.
    init(onBytes: @escaping @Sendable () -> Void = {}) { self.onBytes = onBytes }

    var bytes: [UInt8] { state.withLock { $0.bytes } }
    var count: Int { state.withLock { $0.bytes.count } }
    var text: String { String(decoding: bytes, as: UTF8.self) }
    /// How often all bytes that had waited were sent.
    var sentAll: Int { state.withLock { $0.sentAll } }
    var endings: [RequestFailure] { state.withLock { $0.endings } }

    func linkReceived(_ bytes: UnsafeRawBufferPointer) {
        onBytes()
        state.withLock { $0.bytes += bytes }
    }

    func linkSentAll() { state.withLock { $0.sentAll += 1 } }
    func linkEnded(_ failure: RequestFailure) { state.withLock { $0.endings.append(failure) } }

    /// Waits until so many bytes have come.
    func holds(_ count: Int) async throws -> Bool { try await eventually(within: .seconds(60)) { self.count >= count } }
    /// Waits for the end.
    func hasEnded() async throws -> Bool { try await eventually(within: .seconds(60)) { !self.endings.isEmpty } }
}

/// A server that returns what it receives, with or without TLS, and counts it.
final class EchoServer: Sendable {
    private let service: SocketService
    private let front: TLSFront?

    init(tls: ServerTLS? = nil) throws {
        service = try SocketService { connection in
            while true {
                let piece = connection.channel.read()
                guard !piece.isEmpty, connection.channel.write(piece) else { return }
            }
        }
        let port = service.port
        front = try tls.map { try TLSFront($0, to: port) }
    }

    /// A server that presents a chain of the fixtures.
    convenience init(chain: String) throws {
        let certificates = try Fixture.chain(chain)
        try self.init(
            tls: ServerTLS(
                certificate: #require(certificates.first), chain: Array(certificates.dropFirst()),
                clientAuthentication: .request))
    }

    var port: UInt16 { front?.port ?? service.port }
    var connectionCount: Int { front?.connectionCount ?? service.connectionCount }
    var openConnectionCount: Int { service.openConnectionCount }
    var handshakes: [HandshakeRecord] { front?.handshakes ?? [] }
    /// The bytes that came through TLS.
    var applicationBytesReceived: Int { front?.applicationBytesReceived ?? 0 }
}

enum LinkBench {
    /// A transport that finds the names of the fixtures at the ports.
    static func transport(
        _ policy: TrustPolicy = .system, ports: UInt16...,
        configure: (inout CurlTransport.Configuration) -> Void = { _ in }
    ) throws -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .direct
        let loopback = try HostName("127.0.0.1")
        configuration.addressOverrides = try ports.flatMap { port in
            try AttackBench.hosts.map {
                try CurlTransport.AddressOverride(host: HostName($0), port: port, address: loopback)
            }
        }
        configure(&configuration)
        return try CurlTransport(trust: policy, configuration: configuration)
    }

    static func target(_ port: UInt16, host: String = "127.0.0.1", isSecure: Bool = false) throws -> LinkTarget {
        LinkTarget(Origin(scheme: isSecure ? .https : .http, host: try HostName(host), port: port))
    }

    /// The content types of TLS records (RFC 8446, 5.1).
    static func recordTypes(_ bytes: [UInt8]) -> [UInt8] {
        var types: [UInt8] = []
        var place = 0
        while place + 5 <= bytes.count {
            types.append(bytes[place])
            place += 5 + Int(bytes[place + 3]) << 8 + Int(bytes[place + 4])
        }
        return types
    }

    /// Bytes that differ from place to place, except every 65,537th.
    static func pattern(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + tile.count)
        while bytes.count < count { bytes += tile }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    private static let tile = {
        var state: UInt32 = 1
        return (0..<65_537).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(truncatingIfNeeded: state >> 24)
        }
    }()
}

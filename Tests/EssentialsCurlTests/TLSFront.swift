import CEssentialsTest
import EssentialsTools
import Glibc

@testable import EssentialsTestKit

/// A TLS front for a test server without TLS. It forwards decrypted bytes to a port of 127.0.0.1, and returns
/// responses.
final class TLSFront: Sendable {
    private struct Records {
        var handshakes: [HandshakeRecord] = []
        var received = 0
    }

    private final class Rules: Sendable {
        let context: TLSContext
        let target: UInt16
        let records = Mutex(Records())

        init(_ context: TLSContext, _ target: UInt16) { (self.context, self.target) = (context, target) }
    }

    private let rules: Rules
    private let service: SocketService

    /// - Parameter target: The port that receives the decrypted bytes.
    init(_ tls: ServerTLS, to target: UInt16) throws {
        let rules = Rules(try tls.makeContext(), target)
        self.rules = rules
        service = try SocketService { Self.serve($0, rules) }
    }

    var port: UInt16 { service.port }
    var connectionCount: Int { service.connectionCount }
    var openConnectionCount: Int { service.openConnectionCount }
    /// The handshakes in the order of their end.
    var handshakes: [HandshakeRecord] { rules.records.withLock { $0.handshakes } }
    /// The number of decrypted bytes that were received.
    var applicationBytesReceived: Int { rules.records.withLock { $0.received } }

    func stop() { service.stop() }

    private static func serve(_ connection: SocketService.Connection, _ rules: Rules) {
        PeerClient.blockBrokenPipeSignal()
        guard let tls = cet_tls_create(rules.context.pointer, connection.channel.descriptor) else { return }
        defer { cet_tls_free(tls) }
        let isSecure = cet_tls_accept(tls)
        let certificate = cet_tls_peer_certificate(tls)
        defer { free(certificate) }
        let record = HandshakeRecord(
            connection: connection.index, facts: cet_tls_handshake(tls),
            clientCertificatePEM: certificate.map { String(cString: $0) })
        rules.records.withLock { $0.handshakes.append(record) }
        guard isSecure, let target = connection.connect(to: rules.target) else { return }
        defer { target.close() }
        relay(tls, connection.channel, target, rules)
        cet_tls_finish(tls)
    }

    /// Copies both ways until one side ends.
    private static func relay(_ tls: OpaquePointer, _ client: SocketChannel, _ target: SocketChannel, _ rules: Rules) {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            var entries = [client, target].map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            let wait: Int32 = cet_tls_pending(tls) > 0 ? 0 : -1
            guard poll(&entries, nfds_t(entries.count), wait) >= 0 || errno == EINTR else { return }
            if cet_tls_pending(tls) > 0 || entries[0].revents != 0 {
                let count = cet_tls_read(tls, &buffer, buffer.count)
                guard count > 0 else { return }
                rules.records.withLock { $0.received += count }
                guard target.write(Array(buffer[..<count])) else { return }
            }
            if entries[1].revents != 0 {
                let piece = target.read()
                guard !piece.isEmpty, cet_tls_write(tls, piece, piece.count) else { return }
            }
        }
    }
}

import EssentialsTools
import Glibc

@testable import EssentialsTestKit

/// The work of a test server's thread: it accepts connections and serves all of them, without blocking.
///
/// The object and everything that it makes is used by that thread alone. Other threads reach it through `ServerCore`.
final class ServerLoop {
    private static let maximumConnections = 1_024

    private let core: ServerCore
    private let listener: LoopbackListener
    private var connections: [Int: ServedConnection] = [:]
    private var accepted = 0

    init(_ core: ServerCore, listener: LoopbackListener) {
        self.core = core
        self.listener = listener
    }

    func run() {
        defer {
            for connection in connections.values { connection.close() }
            listener.close()
        }
        while true {
            let served = Array(connections)
            var entries = [core.event, listener.descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            entries += served.map { pollfd(fd: $0.value.descriptor, events: $0.value.events, revents: 0) }
            guard poll(&entries, nfds_t(entries.count), -1) > 0 else {
                if errno == EINTR { continue }
                return
            }
            if entries[0].revents != 0 {
                guard let opened = core.takeMail() else { return }
                for mail in opened { connections[mail.connection]?.gateOpened(stream: mail.stream) }
            }
            if entries[1].revents != 0 { accept() }
            for (entry, (index, connection)) in zip(entries.dropFirst(2), served) {
                if entry.revents != 0 { connection.advance() }
                if connection.isClosed { connections[index] = nil }
            }
        }
    }

    private func accept() {
        guard let descriptor = listener.accept() else { return }
        guard connections.count < Self.maximumConnections,
            let connection = ServedConnection(core, index: accepted, descriptor: descriptor)
        else {
            close(descriptor)
            return
        }
        core.record.withLock { $0.protocols.append(nil) }
        connections[accepted] = connection
        accepted += 1
        connection.advance()
    }
}

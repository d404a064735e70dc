import EssentialsTools
import Glibc

/// The protocol that a connection of the test server speaks.
protocol ServedProtocol: AnyObject {
    /// Reads bytes that have arrived. `false` ends the connection.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool
    /// Adds bytes to send, as long as the output has room.
    func fill(_ output: inout OutputBuffer)
    /// A stream's gate is open.
    func gateOpened(stream: Int32)
    /// Whether the connection is closed as soon as the output is written.
    var isOver: Bool { get }
    /// The connection is gone.
    func connectionEnded()
}

/// Bytes on their way to a socket.
struct OutputBuffer {
    private static let limit = 65_536

    private(set) var bytes: [UInt8] = []
    private var start = 0
    /// How many of the bytes belong to the bodies of responses.
    var bodyCount = 0

    var isEmpty: Bool { start == bytes.count }
    var hasRoom: Bool { bytes.count - start < Self.limit }

    mutating func append(_ more: UnsafeRawBufferPointer) { bytes.append(contentsOf: more) }
    mutating func append(_ more: [UInt8]) { bytes += more }

    func withUnwritten<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start...])) }
    }

    /// Removes bytes that have been written; returns how many bytes of bodies are out once it is empty.
    mutating func wrote(_ count: Int) -> Int {
        start += count
        guard isEmpty else { return 0 }
        defer { bodyCount = 0 }
        bytes.removeAll(keepingCapacity: true)
        start = 0
        return bodyCount
    }
}

/// One connection of the test server, from its handshake to its end.
final class ServedConnection {
    private enum Phase {
        case handshake
        case open(any ServedProtocol)
        /// Everything is written; what the peer still sends is read and ignored until it closes.
        case draining
        case closed
    }

    /// How often a connection may write before the others have their turn, and before it reads again.
    private static let writesPerTurn = 16

    private let core: ServerCore
    private let index: Int
    private let wire: Wire
    private var phase = Phase.handshake
    private var output = OutputBuffer()
    /// Whether there may be more to write although the output is empty.
    private var hasMore = false
    private var input = [UInt8](repeating: 0, count: 65_536)

    init?(_ core: ServerCore, index: Int, descriptor: Int32) {
        guard let wire = Wire(descriptor: descriptor, tls: core.tls) else { return nil }
        self.core = core
        self.index = index
        self.wire = wire
    }

    var descriptor: Int32 { wire.descriptor }

    var isClosed: Bool {
        if case .closed = phase { return true }
        return false
    }

    /// What `poll` has to wait for.
    var events: Int16 { Int16(output.isEmpty && !hasMore ? POLLIN : POLLIN | POLLOUT) }

    func close() {
        if case .open(let served) = phase { served.connectionEnded() }
        phase = .closed
        // The socket is closed with this object, after the loop has forgotten it.
        shutdown(wire.descriptor, Int32(SHUT_RDWR))
    }

    func gateOpened(stream: Int32) {
        guard case .open(let served) = phase else { return }
        served.gateOpened(stream: stream)
        write(served)
    }

    /// Does everything that can be done without blocking.
    func advance() {
        if case .handshake = phase { handshake() }
        switch phase {
        case .open(let served):
            guard read({ served.receive($0) }) else { return close() }
            write(served)
        case .draining: if !read({ _ in true }) { close() }
        case .handshake, .closed: break
        }
    }

    private func handshake() {
        switch wire.handshake() {
        case .blocked: return
        case .ended: return close()
        case .moved: break
        }
        let speaksHTTP2 = !wire.isSecure || wire.applicationProtocol == "h2"
        core.record.withLock { $0.protocols[index] = speaksHTTP2 ? "h2" : "http/1.1" }
        if speaksHTTP2 {
            guard let session = HTTP2Session(core, connection: index) else { return close() }
            phase = .open(session)
        } else {
            phase = .open(HTTP1Session(core, connection: index))
        }
    }

    /// Reads all that has arrived; `false` at the end of the connection.
    private func read(_ receive: (UnsafeRawBufferPointer) -> Bool) -> Bool {
        while true {
            let outcome = input.withUnsafeMutableBytes { wire.read(into: $0) }
            switch outcome {
            case .blocked: return true
            case .ended: return false
            case .moved(let count):
                let goesOn = input.withUnsafeBytes { receive(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
                if !goesOn { return false }
            }
        }
    }

    /// Writes until there is nothing left, the socket takes no more, or it is the turn of others.
    private func write(_ served: any ServedProtocol) {
        hasMore = true
        for _ in 0..<Self.writesPerTurn {
            served.fill(&output)
            if output.isEmpty {
                hasMore = false
                break
            }
            switch output.withUnwritten({ wire.write($0) }) {
            case .blocked: return
            case .ended: return close()
            case .moved(let count):
                let bodyCount = output.wrote(count)
                if bodyCount > 0 { core.options.onWritten?(bodyCount) }
            }
        }
        guard served.isOver, output.isEmpty else { return }
        served.connectionEnded()
        guard !core.options.resetsConnections else {
            var rule = linger(l_onoff: 1, l_linger: 0)
            setsockopt(wire.descriptor, SOL_SOCKET, SO_LINGER, &rule, socklen_t(MemoryLayout<linger>.size))
            return phase = .closed
        }
        wire.finish()
        hasMore = false
        phase = .draining
    }
}

import EssentialsTools

/// A SOCKS 5 proxy for tests (RFC 1928, RFC 1929). It connects only to ports of 127.0.0.1.
final class SOCKSTestProxy: Sendable {
    /// A request to the proxy.
    struct Sighting: Sendable, Hashable {
        /// The kind of the host's name: 1 for IPv4, 3 for a domain name, 4 for IPv6.
        let kind: UInt8
        /// The name, or the address's bytes in decimal.
        let host: String
        let port: UInt16
        /// `user:password`; nil if none was sent.
        let credentials: String?
    }

    /// The behaviour of the proxy.
    enum Manner: Sendable {
        /// The behaviour of a correct proxy.
        case works
        /// Responds to the request with this code (RFC 1928, 6).
        case replies(UInt8)
        /// Accepts none of the offered methods.
        case acceptsNoMethod
        /// Sends these bytes instead of choosing a method.
        case says([UInt8])
        /// Chooses no method, and calls this closure when a client has requested one.
        case hangs(@Sendable () -> Void)
        /// Closes the connection when a client has requested a method.
        case closes
    }

    private struct Records {
        var requests: [Sighting] = []
        var tunnelled: [UInt8] = []
        var refusedCredentials = 0
    }

    private final class Rules: Sendable {
        let ports: [String: UInt16]
        let manner: Manner
        let credentials: String?
        let records = Mutex(Records())

        init(ports: [String: UInt16], manner: Manner, credentials: String?) {
            self.ports = ports
            self.manner = manner
            self.credentials = credentials
        }
    }

    private let rules: Rules
    private let service: SocketService

    /// - Parameters:
    ///   - ports: The ports of hosts, whatever port is requested. Other hosts mean 127.0.0.1.
    ///   - credentials: `user:password` that every client must have.
    init(ports: [String: UInt16] = [:], manner: Manner = .works, credentials: String? = nil) throws {
        let rules = Rules(ports: ports, manner: manner, credentials: credentials)
        self.rules = rules
        service = try SocketService { Self.serve($0, rules) }
    }

    var port: UInt16 { service.port }
    /// All requests in the order of their arrival.
    var requests: [Sighting] { rules.records.withLock { $0.requests } }
    /// The bytes that clients sent after their requests.
    var tunnelled: [UInt8] { rules.records.withLock { $0.tunnelled } }
    /// The number of wrong credentials.
    var refusedCredentials: Int { rules.records.withLock { $0.refusedCredentials } }
    var connectionCount: Int { service.connectionCount }

    func stop() { service.stop() }

    // MARK: One connection

    private static func serve(_ connection: SocketService.Connection, _ rules: Rules) {
        let channel = connection.channel
        guard let greeting = channel.readAll(2), greeting[0] == 5, let methods = channel.readAll(Int(greeting[1]))
        else {
            return
        }
        switch rules.manner {
        case .works, .replies: break
        case .acceptsNoMethod:
            channel.write([5, 0xff])
            return connection.hang()
        case .says(let bytes):
            channel.write(bytes)
            return connection.hang()
        case .hangs(let notice):
            notice()
            return connection.hang()
        case .closes: return
        }
        var shown: String?
        if let expected = rules.credentials {
            guard methods.contains(2) else {
                channel.write([5, 0xff])
                return connection.hang()
            }
            channel.write([5, 2])
            shown = readCredentials(channel)
            guard shown == expected else {
                // Counted before the client can know of it.
                rules.records.withLock { $0.refusedCredentials += 1 }
                channel.write([1, 1])
                return connection.hang()
            }
            channel.write([1, 0])
        } else {
            channel.write([5, 0])
        }
        guard let seen = readRequest(channel, shown) else { return }
        rules.records.withLock { $0.requests.append(seen) }
        answer(seen, connection, rules)
    }

    private static func answer(_ seen: Sighting, _ connection: SocketService.Connection, _ rules: Rules) {
        let channel = connection.channel
        var code: UInt8 = 0
        if case .replies(let given) = rules.manner { code = given }
        let target = code == 0 ? connection.connect(to: rules.ports[seen.host] ?? seen.port) : nil
        if code == 0, target == nil { code = 5 }
        channel.write([5, code, 0, 1, 127, 0, 0, 1, 0, 0])
        guard let target else { return connection.hang() }
        channel.relay(with: target) { piece in rules.records.withLock { $0.tunnelled += piece } }
        target.close()
    }

    private static func readCredentials(_ channel: SocketChannel) -> String? {
        guard let head = channel.readAll(2), head[0] == 1, let user = channel.readAll(Int(head[1])),
            let length = channel.readAll(1), let password = channel.readAll(Int(length[0]))
        else { return nil }
        return String(decoding: user, as: UTF8.self) + ":" + String(decoding: password, as: UTF8.self)
    }

    private static func readRequest(_ channel: SocketChannel, _ credentials: String?) -> Sighting? {
        guard let head = channel.readAll(4), head[0] == 5, head[1] == 1 else { return nil }
        let host: String
        switch head[3] {
        case 1, 4:
            guard let address = channel.readAll(head[3] == 1 ? 4 : 16) else { return nil }
            host = address.map(String.init).joined(separator: ".")
        case 3:
            guard let length = channel.readAll(1), let name = channel.readAll(Int(length[0])) else { return nil }
            host = String(decoding: name, as: UTF8.self)
        default: return nil
        }
        guard let port = channel.readAll(2) else { return nil }
        return Sighting(
            kind: head[3], host: host, port: UInt16(port[0]) << 8 | UInt16(port[1]), credentials: credentials)
    }
}

import EssentialsTools
import FoundationEssentials

/// An HTTP proxy for tests: it forwards requests in absolute form (RFC 9112, 3.2.2) and opens tunnels (RFC 9110,
/// 9.3.6), both only to ports of 127.0.0.1.
final class HTTPTestProxy: Sendable {
    /// The behaviour of the proxy for a request.
    enum Manner: Sendable {
        /// The behaviour of a correct proxy.
        case works
        /// Responds with this status.
        case refuses(Int)
        /// Sends no response, and calls this closure when it has read the request.
        case hangs(@Sendable () -> Void)
        /// Closes the connection.
        case closes
        /// Sends this text, and continues to read.
        case says(String)
    }

    /// A request as the proxy read it.
    struct Sighting: Sendable {
        let line: String
        let fields: [String]
        let connection: Int

        /// The values of a field.
        func values(_ name: String) -> [String] {
            fields.filter { $0.lowercased().hasPrefix(name.lowercased() + ":") }
                .map { String($0.dropFirst(name.count + 1).drop { $0 == " " }) }
        }
    }

    private struct Records {
        var requests: [Sighting] = []
        var tunnelled: [UInt8] = []
    }

    /// The state that the threads of connections use.
    private final class Rules: Sendable {
        let ports: [String: UInt16]
        let manner: Manner
        let authorization: String?
        let records = Mutex(Records())

        init(ports: [String: UInt16], manner: Manner, authorization: String?) {
            self.ports = ports
            self.manner = manner
            self.authorization = authorization
        }
    }

    private let rules: Rules
    private let service: SocketService

    /// - Parameters:
    ///   - ports: The ports of hosts, whatever port is requested. Other hosts mean 127.0.0.1.
    ///   - credentials: `user:password` that every request must have.
    init(ports: [String: UInt16] = [:], manner: Manner = .works, credentials: String? = nil) throws {
        let authorization = credentials.map { "Basic " + Data($0.utf8).base64EncodedString() }
        let rules = Rules(ports: ports, manner: manner, authorization: authorization)
        self.rules = rules
        service = try SocketService { Self.serve($0, rules) }
    }

    var port: UInt16 { service.port }
    /// All requests in the order of their arrival.
    var requests: [Sighting] { rules.records.withLock { $0.requests } }
    /// The request lines.
    var lines: [String] { requests.map(\.line) }
    /// The bytes that clients sent through tunnels.
    var tunnelled: [UInt8] { rules.records.withLock { $0.tunnelled } }
    var connectionCount: Int { service.connectionCount }
    var openConnectionCount: Int { service.openConnectionCount }

    func stop() { service.stop() }

    // MARK: One connection

    private static func serve(_ connection: SocketService.Connection, _ rules: Rules) {
        let channel = connection.channel
        var unread: [UInt8] = []
        while let head = readHead(channel, &unread) {
            let seen = Sighting(line: head[0], fields: Array(head.dropFirst()), connection: connection.index)
            rules.records.withLock { $0.requests.append(seen) }
            switch rules.manner {
            case .works: break
            case .refuses(let status):
                channel.write("HTTP/1.1 \(status) No\r\nContent-Length: 0\r\n\r\n")
                continue
            case .hangs(let notice):
                notice()
                return connection.hang()
            case .closes: return
            case .says(let text):
                channel.write(text)
                return connection.hang()
            }
            if let expected = rules.authorization, seen.values("Proxy-Authorization") != [expected] {
                _ = takeBody(of: seen, channel, &unread)
                channel.write(
                    "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"test\"\r\n"
                        + "Content-Length: 0\r\n\r\n")
                continue
            }
            if seen.line.hasPrefix("CONNECT ") { return tunnel(seen, connection, unread, rules) }
            guard forward(seen, connection, &unread, rules) else { return }
        }
    }

    private static func tunnel(
        _ seen: Sighting, _ connection: SocketService.Connection, _ unread: [UInt8], _ rules: Rules
    ) {
        let authority = seen.line.split(separator: " ")[1]
        guard let port = port(of: authority, rules), let target = connection.connect(to: port) else {
            connection.channel.write("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
            return
        }
        connection.channel.write("HTTP/1.1 200 Connection established\r\nProxy-Note: tunnel\r\n\r\n")
        target.write(unread)
        connection.channel.relay(with: target) { piece in rules.records.withLock { $0.tunnelled += piece } }
        target.close()
    }

    /// Forwards a request to its origin, returns the response, and returns whether the connection can be used again.
    private static func forward(
        _ seen: Sighting, _ connection: SocketService.Connection, _ unread: inout [UInt8], _ rules: Rules
    ) -> Bool {
        let channel = connection.channel
        let words = seen.line.split(separator: " ")
        guard words.count == 3, words[1].hasPrefix("http://") else {
            channel.write("HTTP/1.1 400 No absolute form\r\nContent-Length: 0\r\n\r\n")
            return false
        }
        let rest = words[1].dropFirst(7)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard let port = port(of: authority, rules), let target = connection.connect(to: port) else {
            channel.write("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
            return false
        }
        defer { target.close() }
        let body = takeBody(of: seen, channel, &unread)
        // Fields for this hop are not forwarded (RFC 9110, 7.6.1).
        let fields = seen.fields.filter { field in
            !["proxy-", "connection:"].contains { field.lowercased().hasPrefix($0) }
        }
        target.write("\(words[0]) \(rest.dropFirst(authority.count)) HTTP/1.1\r\n")
        target.write((fields + ["Connection: close", "Via: 1.1 test", "", ""]).joined(separator: "\r\n"))
        target.write(body)
        let answer = String(decoding: target.readToEnd(), as: UTF8.self)
        return channel.write(answer.replacing("Connection: close\r\n", with: ""))
    }

    /// The port on this machine for an authority.
    private static func port(of authority: Substring, _ rules: Rules) -> UInt16? {
        guard let colon = authority.lastIndex(of: ":") else { return rules.ports[String(authority)] }
        return rules.ports[String(authority[..<colon])] ?? UInt16(authority[authority.index(after: colon)...])
    }

    /// The lines of the next head; nil at the end.
    private static func readHead(_ channel: SocketChannel, _ unread: inout [UInt8]) -> [String]? {
        while true {
            if let end = unread.firstRange(of: Array("\r\n\r\n".utf8)) {
                let text = String(decoding: unread[..<end.lowerBound], as: UTF8.self)
                unread.removeSubrange(..<end.upperBound)
                return text.split(separator: "\r\n").map(String.init)
            }
            let piece = channel.read()
            guard !piece.isEmpty else { return nil }
            unread += piece
        }
    }

    /// The body in its framing: of a known length, or chunked.
    private static func takeBody(
        of seen: Sighting, _ channel: SocketChannel, _ unread: inout [UInt8]
    ) -> [UInt8] {
        let length = seen.values("Content-Length").first.flatMap { Int($0) }
        let isChunked = !seen.values("Transfer-Encoding").isEmpty
        let end = Array("0\r\n\r\n".utf8)
        while isChunked ? unread.suffix(end.count) != end[...] : unread.count < length ?? 0 {
            let piece = channel.read()
            guard !piece.isEmpty else { break }
            unread += piece
        }
        defer { unread = isChunked ? [] : Array(unread.dropFirst(length ?? 0)) }
        return isChunked ? unread : Array(unread.prefix(length ?? 0))
    }
}

import EssentialsTools
import FoundationEssentials

/// HTTP/1.1 on a connection of the test server, for responses whose body is at hand. The bodies of requests are ignored.
final class HTTP1Session: ServedProtocol {
    private static let headLimit = 65_536

    private let core: ServerCore
    private let connection: Int
    private var input = Data()
    /// How many bytes of the last request's body are still to come.
    private var bodyLeft = 0
    private var responses: [UInt8] = []
    private(set) var isOver = false

    init(_ core: ServerCore, connection: Int) {
        self.core = core
        self.connection = connection
    }

    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        input.append(contentsOf: bytes)
        skipBody()
        while !isOver, let end = input.firstRange(of: Data("\r\n\r\n".utf8)) {
            let head = String(decoding: input[..<end.lowerBound], as: UTF8.self)
            input = Data(input[end.upperBound...])
            answer(head)
            skipBody()
        }
        return input.count <= Self.headLimit
    }

    func fill(_ output: inout OutputBuffer) {
        output.append(responses)
        responses = []
    }

    func gateOpened(stream: Int32) {}

    func connectionEnded() {}

    private func skipBody() {
        let count = min(bodyLeft, input.count)
        input = Data(input.dropFirst(count))
        bodyLeft -= count
    }

    private func answer(_ head: String) {
        var lines = head.split(separator: "\r\n")
        let words = lines.removeFirst().split(separator: " ")
        guard words.count == 3 else { return isOver = true }
        var headers = HeaderList()
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1)
            let value = parts.count > 1 ? parts[1].drop { $0 == " " } : ""
            headers.append(name: parts[0].lowercased(), value: String(value))
        }
        bodyLeft = headers.first(name: "content-length").flatMap { Int($0) } ?? 0
        let path = String(words[1])
        let ordinal = core.record.withLock { $0.began(path, connection: connection) }
        let reply = core.handler(
            StreamRequest(
                method: String(words[0]), path: path, headers: headers, body: Data(), connection: connection,
                ordinal: ordinal))
        core.record.withLock { $0.ended(connection: connection) }
        guard let body = reply.body, reply.headGate == nil, reply.endGate == nil, case .whole = reply.end else {
            return isOver = true
        }
        var text = "HTTP/1.1 \(reply.status) Status\r\n"
        for field in reply.headers { text += "\(field.name): \(field.value)\r\n" }
        if reply.headers.first(name: "content-length") == nil { text += "content-length: \(body.count)\r\n" }
        responses += Array("\(text)\r\n".utf8) + body.bytes(from: 0, upTo: body.count)
        isOver = reply.headers.first(name: "connection") == "close"
    }
}

/// Parses requests from a stream of bytes, framed as in RFC 9112. A pure value: bytes in, events out.
///
/// Stricter than most servers, because it tests clients: bare line feeds, folded fields, two lengths, and a length
/// combined with a transfer coding are refused.
struct RequestParser {
    enum Event {
        /// More bytes are needed for the next event.
        case needsBytes
        /// A header section is complete, and its body is not yet read. With `expectsContinue`
        /// the client waits for a 100.
        case head(ServerRequest, expectsContinue: Bool)
        /// A request is complete.
        case request(ServerRequest)
        /// The bytes are not a valid request or exceed a limit; no event follows.
        case refused(status: Int, text: String)
    }

    private enum State {
        case head, body(Int), chunkSize, chunk(Int), chunkEnd, trailers, refused(status: Int, text: String)
    }

    private struct Refusal: Error {
        let status: Int
        let text: String
    }

    private var buffer: [UInt8] = []
    private var start = 0
    private var state = State.head
    private var lines: [String] = []
    private var lineBytes = 0
    private var request: ServerRequest?
    private let headMaximum: Int
    private let bodyMaximum: Int

    init(headMaximum: Int, bodyMaximum: Int) {
        self.headMaximum = headMaximum
        self.bodyMaximum = bodyMaximum
    }

    /// Whether bytes have arrived that belong to no event yet.
    var hasUnreadBytes: Bool { start < buffer.count }

    mutating func append(_ bytes: some Collection<UInt8>) {
        buffer.append(contentsOf: bytes)
    }

    mutating func next() -> Event {
        do throws(Refusal) {
            while true {
                if let event = try step() { return event }
            }
        } catch {
            state = .refused(status: error.status, text: error.text)
            return .refused(status: error.status, text: error.text)
        }
    }

    // MARK: Steps

    /// Performs one step; `nil` if the state changed without an event.
    private mutating func step() throws(Refusal) -> Event? {
        switch state {
        case .head: return try readHead()
        case .body(let count): return take(count) ? finish() : .needsBytes
        case .chunkSize: return try readChunkSize()
        case .chunk(let count):
            guard take(count) else { return .needsBytes }
            state = .chunkEnd
            return nil
        case .chunkEnd:
            guard let line = try line() else { return .needsBytes }
            guard line.isEmpty else { throw Refusal(status: 400, text: "no line end after a chunk") }
            lineBytes = 0
            state = .chunkSize
            return nil
        case .trailers:
            guard let line = try line() else { return .needsBytes }
            guard line.isEmpty else {
                lines.append(line)
                return nil
            }
            request?.trailers = try Self.fields(lines[...])
            return finish()
        case .refused(let status, let text): return .refused(status: status, text: text)
        }
    }

    private mutating func readHead() throws(Refusal) -> Event? {
        guard let line = try line() else { return .needsBytes }
        guard line.isEmpty else {
            lines.append(line)
            return nil
        }
        // RFC 9112, section 2.2: an empty line before the request line is ignored.
        guard let first = lines.first else { return nil }
        let parts = first.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[0].isEmpty, !parts[1].isEmpty, parts[2].hasPrefix("HTTP/1.") else {
            throw Refusal(status: 400, text: "no request line: \(first.prefix(80))")
        }
        let head = ServerRequest(
            method: String(parts[0]), target: String(parts[1]), version: String(parts[2]),
            headers: try Self.fields(lines.dropFirst()))
        lines = []
        lineBytes = 0
        state = try framing(of: head)
        request = head
        let expects = head.header("Expect")?.lowercased() == "100-continue" && head.version == "HTTP/1.1"
        if case .body(0) = state { return .head(head, expectsContinue: false) }
        return .head(head, expectsContinue: expects && !hasUnreadBytes)
    }

    private func framing(of head: ServerRequest) throws(Refusal) -> State {
        let lengths = head.allHeaders("Content-Length")
        let codings = head.allHeaders("Transfer-Encoding")
        guard lengths.count + codings.count <= 1 else { throw Refusal(status: 400, text: "more than one body length") }
        if let coding = codings.first {
            guard coding.lowercased() == "chunked" else { throw Refusal(status: 501, text: "coding \(coding)") }
            return .chunkSize
        }
        guard let length = lengths.first else { return .body(0) }
        guard length.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int(length) else {
            throw Refusal(status: 400, text: "Content-Length \(length)")
        }
        guard count <= bodyMaximum else { throw Refusal(status: 413, text: "a body of \(count) bytes") }
        return .body(count)
    }

    private mutating func readChunkSize() throws(Refusal) -> Event? {
        guard let line = try line() else { return .needsBytes }
        let digits = line.prefix { $0 != ";" }
        guard !digits.isEmpty, digits.allSatisfy(\.isHexDigit), let count = Int(digits, radix: 16) else {
            throw Refusal(status: 400, text: "chunk size \(line.prefix(40))")
        }
        guard count <= bodyMaximum - (request?.body.count ?? 0) else {
            throw Refusal(status: 413, text: "a chunked body over \(bodyMaximum) bytes")
        }
        lineBytes = 0
        state = count == 0 ? .trailers : .chunk(count)
        return nil
    }

    private mutating func finish() -> Event {
        defer {
            request = nil
            lines = []
            lineBytes = 0
            state = .head
        }
        return request.map { .request($0) } ?? .needsBytes
    }

    // MARK: Bytes

    /// Moves the available part of the body's next `count` bytes, and returns whether all of them were available.
    private mutating func take(_ count: Int) -> Bool {
        let taken = min(count, buffer.count - start)
        request?.body.append(contentsOf: buffer[start..<start + taken])
        consume(taken)
        if taken == count { return true }
        if case .chunk = state { state = .chunk(count - taken) } else { state = .body(count - taken) }
        return false
    }

    /// The next line without its CRLF; `nil` if it is incomplete.
    private mutating func line() throws(Refusal) -> String? {
        guard let end = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) else {
            if lineBytes + buffer.count - start > headMaximum { throw tooLong }
            return nil
        }
        guard end > start, buffer[end - 1] == UInt8(ascii: "\r") else {
            throw Refusal(status: 400, text: "a line that ends without a carriage return")
        }
        let text = String(decoding: buffer[start..<end - 1], as: UTF8.self)
        lineBytes += end + 1 - start
        if lineBytes > headMaximum { throw tooLong }
        consume(end + 1 - start)
        return text
    }

    private var tooLong: Refusal { Refusal(status: 431, text: "header fields over \(headMaximum) bytes") }

    private mutating func consume(_ count: Int) {
        start += count
        guard start == buffer.count || start > 65_536 else { return }
        buffer.removeFirst(start)
        start = 0
    }

    private static func fields(_ lines: ArraySlice<String>) throws(Refusal) -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        for line in lines {
            guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else {
                throw Refusal(status: 400, text: "no header field: \(line.prefix(80))")
            }
            let name = line[..<colon]
            guard name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
                throw Refusal(status: 400, text: "field name “\(name.prefix(80))”")
            }
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            let end = value.lastIndex { $0 != " " && $0 != "\t" }.map { value.index(after: $0) } ?? value.startIndex
            fields.append((String(name), String(value[..<end])))
        }
        return fields
    }
}

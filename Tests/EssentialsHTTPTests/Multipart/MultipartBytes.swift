import EssentialsHTTP
import FoundationEssentials
import Glibc

/// Parses the bytes of a multipart body by RFC 2046, independently of the encoder.
struct MultipartBytes: Equatable {
    struct Part: Equatable {
        var headers: [String]
        var content: Data
    }

    struct Malformed: Error {
        let offset: Int
    }

    var parts: [Part] = []

    /// Parses bytes that end with the closing delimiter.
    init(_ bytes: Data, boundary: String) throws {
        let delimiter = Data("\r\n--\(boundary)".utf8)
        // No line precedes the first delimiter.
        let text = Data("\r\n".utf8) + bytes
        guard text.starts(with: delimiter) else { throw Malformed(offset: 0) }
        var offset = delimiter.count
        while text[offset...].starts(with: "\r\n".utf8) {
            offset += 2
            var headers: [String] = []
            while !text[offset...].starts(with: "\r\n".utf8) {
                let end = try Self.find(Data("\r\n".utf8), in: text, from: offset)
                headers.append(String(decoding: text[offset..<end], as: UTF8.self))
                offset = end + 2
            }
            offset += 2
            let end = try Self.find(delimiter, in: text, from: offset)
            parts.append(Part(headers: headers, content: text.subdata(in: offset..<end)))
            offset = end + delimiter.count
        }
        guard text[offset...].elementsEqual("--".utf8) else { throw Malformed(offset: offset) }
    }

    private static func find(_ needle: Data, in text: Data, from offset: Int) throws -> Int {
        let found: Int? = text.withUnsafeBytes { text in
            guard let base = text.baseAddress, let first = needle.first else { return nil }
            var start = offset
            while start < text.count, let hit = memchr(base + start, Int32(first), text.count - start) {
                start = UnsafeRawPointer(hit) - base
                if text[start...].starts(with: needle) { return start }
                start += 1
            }
            return nil
        }
        guard let found else { throw Malformed(offset: offset) }
        return found
    }
}

extension RequestBody {
    /// The source of one attempt.
    func opened() throws -> Source {
        guard case .stream(_, _, let open) = content else { throw MultipartBytes.Malformed(offset: 0) }
        return open()
    }

    /// All chunks of one attempt.
    func pieces() async throws -> [Data] {
        let next = try opened()
        var pieces: [Data] = []
        while let piece = try await next() { pieces.append(piece) }
        return pieces
    }
}

extension MultipartBody {
    /// All bytes of one attempt.
    func bytes() async throws -> Data {
        try await RequestBody.multipart(self).pieces().reduce(into: Data()) { $0 += $1 }
    }

    /// All bytes of one attempt as text.
    func text() async throws -> String { String(decoding: try await bytes(), as: UTF8.self) }
}

/// A stream that yields these chunks and ends.
func stream(_ pieces: [Data]) -> AsyncStream<Data> {
    AsyncStream { continuation in
        for piece in pieces { continuation.yield(piece) }
        continuation.finish()
    }
}

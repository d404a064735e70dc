import EssentialsHTTP
import FoundationEssentials
import Glibc
import TestTools
import Testing

@Suite struct MultipartPartTests {
    private func headers(
        of part: MultipartPart, in subtype: MultipartBody.Subtype = .formData
    ) async throws -> [String] {
        var body = try MultipartBody(subtype: subtype)
        try body.append(part)
        let parts = try MultipartBytes(await body.bytes(), boundary: body.boundary).parts
        #expect(parts.count == 1)
        return parts.first?.headers ?? []
    }

    @Test(
        "In names and file names only quotation marks and line breaks are escaped",
        arguments: [
            ("a", "a"), ("", ""), ("a\"b", "a%22b"), ("a\r\nX-Evil: 1", "a%0D%0AX-Evil: 1"), ("\r", "%0D"),
            ("\n\r", "%0A%0D"), ("100%", "100%"), ("a\\\"b", "a\\%22b"), ("Grüße 🎬", "Grüße 🎬"), ("a;b=c", "a;b=c"),
            ("e\u{301}\"\u{301}", "e\u{301}%22\u{301}"),
        ])
    func escaping(name: String, written: String) async throws {
        let part = try MultipartPart.data(Data(), name: name, fileName: name, type: "a/b")
        let disposition = "Content-Disposition: form-data; name=\"\(written)\"; filename=\"\(written)\""
        #expect(try await headers(of: part) == [disposition, "Content-Type: a/b"])
    }

    @Test(
        "If requested, the file name is also written as an extended value (RFC 8187)",
        arguments: [
            ("plain.txt", "UTF-8''plain.txt"), ("€ rates.txt", "UTF-8''%E2%82%AC%20rates.txt"),
            ("!#$&+-.^_`|~", "UTF-8''!#$&+-.^_`|~"), ("a'b(c)*%d", "UTF-8''a%27b%28c%29%2A%25d"),
            ("\u{1}\"", "UTF-8''%01%22"),
        ])
    func extendedFileName(name: String, written: String) async throws {
        var part = try MultipartPart.data(Data(), name: nil, fileName: name, type: "a/b")
        part.addsExtendedFileName = true
        let first = try #require(try await headers(of: part, in: .mixed).first)
        #expect(first.hasSuffix("; filename*=\(written)"))
        #expect(first.hasPrefix("Content-Disposition: attachment; filename=\""))
    }

    @Test("Without a file name no extended value is written")
    func noExtendedFileName() async throws {
        var part = MultipartPart.field("a", "b")
        part.addsExtendedFileName = true
        #expect(try await headers(of: part).first == "Content-Disposition: form-data; name=\"a\"")
    }

    @Test("A field is text, data is an octet stream, and a model is JSON")
    func kinds() throws {
        let directory = try ScratchDirectory()
        try directory.write("ä", "a.txt")
        let field = MultipartPart.field("n", "ä")
        #expect(field.type == "text/plain; charset=utf-8")
        #expect(field.length == 2)
        let data = try MultipartPart.data(Data([1]), name: "n")
        #expect((data.type, data.length, data.fileName) == ("application/octet-stream", 1, nil))
        let json = try MultipartPart.json(["ä"], name: "n", fileName: "m.json")
        #expect((json.type, json.length, json.fileName) == ("application/json", 6, "m.json"))
        let file = try MultipartPart.file(directory("a.txt"), name: "n")
        #expect((file.type, file.length, file.fileName) == ("text/plain", 2, "a.txt"))
        let live = try MultipartPart.stream(stream([]), length: nil, name: "n", fileName: "a.png")
        #expect((live.type, live.length, live.name) == ("image/png", nil, "n"))
        #expect([field, data, json, file, live].map(\.isReplayable) == [true, true, true, true, false])
    }

    @Test("A given type overrides that of the file name, and a given file name that of the path")
    func overrides() throws {
        let directory = try ScratchDirectory()
        try directory.write("", "a.txt")
        let file = try MultipartPart.file(directory("a.txt"), name: "n", fileName: "b.png")
        #expect((file.type, file.fileName) == ("image/png", "b.png"))
        let typed = try MultipartPart.file(directory("a.txt"), name: "n", type: "x/y; z=1")
        #expect((typed.type, typed.fileName) == ("x/y; z=1", "a.txt"))
    }

    @Test("An empty type and an invalid header value are refused", arguments: ["", " a/b", "a/b\r\nX: 1", "a/b\u{0}"])
    func badType(type: String) throws {
        let directory = try ScratchDirectory()
        try directory.write("", "a.txt")
        let makers: [() throws -> MultipartPart] = [
            { try .data(Data(), name: "n", type: type) },
            { try .file(directory("a.txt"), name: "n", type: type) },
            { try .stream(stream([]), length: 0, name: "n", type: type) },
        ]
        for make in makers {
            let failure = #expect(throws: RequestFailure.self) { try make() }
            #expect(failure?.reason == .invalidRequest)
        }
    }

    @Test("Extra fields keep their order and their bytes")
    func extras() async throws {
        var part = MultipartPart.field("a", "b")
        for (name, value) in [("Z-Last", "1"), ("Content-ID", "<a@b>"), ("Z-Last", "ü")] {
            part.headerFields.append(try .checked(name: name, value: value))
        }
        #expect(try await headers(of: part).dropFirst(2) == ["Z-Last: 1", "Content-ID: <a@b>", "Z-Last: ü"])
    }

    @Test("A model is encoded by the given encoder")
    func encoder() async throws {
        struct Film: Encodable {
            let title = "A/B"
            let year = 1999
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var form = try MultipartBody(boundary: "B")
        try form.append(.json(Film(), name: "film", encoder: encoder))
        #expect(try await form.text().contains("\r\n\r\n{\"title\":\"A/B\",\"year\":1999}\r\n--B--"))
    }

    @Test("Without an encoder, a model is encoded as JSON bodies are: sorted keys, dates as ISO 8601")
    func standardEncoder() async throws {
        var form = try MultipartBody(boundary: "B")
        let dates = ["b": Date(timeIntervalSince1970: 1_451_606_399), "a": Date(timeIntervalSince1970: 0)]
        try form.append(.json(dates, name: "dates"))
        let json = #"{"a":"1970-01-01T00:00:00Z","b":"2015-12-31T23:59:59Z"}"#
        #expect(try await form.text().contains("\r\n\r\n\(json)\r\n--B--"))
    }

    @Test("A model that cannot be encoded fails with encoding")
    func notEncodable() {
        let failure = #expect(throws: RequestFailure.self) { try MultipartPart.json([Double.nan], name: "a") }
        #expect(failure?.reason == .encoding)
        #expect(failure?.underlying is EncodingError)
        #expect(failure?.message == "The model Array<Double> could not be encoded as JSON.")
    }

    @Test("A directory is refused with a message that says so")
    func directory() throws {
        let directory = try ScratchDirectory()
        for path in [directory.path, directory.path + "/"] {
            let failure = #expect(throws: RequestFailure.self) { try MultipartPart.file(path, name: "a") }
            #expect(failure?.reason == .file)
            #expect(failure?.message == "“\(path)” is a directory, and only a file can be sent.")
        }
    }

    @Test("A missing file is refused with its name and the system's reason")
    func missing() {
        let failure = #expect(throws: RequestFailure.self) { try MultipartPart.file("/nowhere/film", name: "a") }
        #expect(failure?.reason == .file)
        #expect(failure?.message.contains("/nowhere/film") == true)
        #expect(failure?.underlying as? SystemError == SystemError(code: ENOENT))
    }

    @Test("A path that is not a regular file is refused", arguments: ["/dev/null", "", "a\u{0}b"])
    func noFile(path: String) {
        let failure = #expect(throws: RequestFailure.self) { try MultipartPart.file(path, name: "a") }
        #expect(failure?.reason == .file)
    }

    @Test("A negative length is refused")
    func negative() {
        let failure = #expect(throws: RequestFailure.self) {
            try MultipartPart.stream(stream([]), length: -1, name: "a")
        }
        #expect(failure?.reason == .invalidRequest)
    }

    @Test("A part can be a JSON literal or a stream of byte collections of any kind")
    func literalsAndStreams() async throws {
        let chunk = BodyChunk(Array(repeating: UInt8(ascii: "x"), count: 40_000))
        let chunks = AsyncStream<BodyChunk> { continuation in
            for _ in 0..<3 { continuation.yield(chunk) }
            continuation.finish()
        }
        let arrays = AsyncStream<[UInt8]> { continuation in
            continuation.yield([0x61])
            continuation.finish()
        }
        var body = try MultipartBody()
        try body.append(.json(["year": 1927, "title": "M", "tags": [nil, true]], name: "meta"))
        try body.append(.json(["a": 1], name: "dictionary"))
        try body.append(.stream(arrays, length: nil, name: "arrays"))
        try body.append(.stream(chunks, length: 120_000, name: "chunks"))
        try body.append(.json([], name: "empty"))
        let parts = try MultipartBytes(await body.bytes(), boundary: body.boundary).parts
        #expect(
            parts.map { String(decoding: $0.content, as: UTF8.self) } == [
                #"{"tags":[null,true],"title":"M","year":1927}"#, #"{"a":1}"#, "a",
                String(repeating: "x", count: 120_000), "[]",
            ])
    }
}

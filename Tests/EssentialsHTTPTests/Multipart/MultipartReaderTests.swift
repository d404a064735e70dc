import EssentialsHTTP
import FoundationEssentials
import TestTools
import Testing

@Suite(.timeLimit(.minutes(5))) struct MultipartReaderTests {
    private static let bounds = [0, 1, 65_535, 65_536, 65_537, 524_287, 524_288, 524_289]

    enum Kind: CaseIterable { case data, slice, file, stream }

    private func part(
        _ kind: Kind, _ content: Data, _ name: String, in directory: ScratchDirectory
    ) throws -> MultipartPart {
        switch kind {
        case .data: return try .data(content, name: name)
        case .slice: return try .data((Data([1, 2, 3]) + content).dropFirst(3), name: name)
        case .file:
            try content.write(to: URL(filePath: directory(name)))
            return try .file(directory(name), name: name)
        case .stream:
            let middle = content.count / 2
            let pieces = [content.prefix(middle), Data(), content.dropFirst(middle)]
            return try .stream(EssentialsHTTPTests.stream(pieces), length: content.count, name: name)
        }
    }

    @Test("A part of any size is sent completely in any position", arguments: bounds, Kind.allCases)
    func sizes(size: Int, kind: Kind) async throws {
        let directory = try ScratchDirectory()
        let content = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 / 251 ^ $0) })
        let contents = [content, Data("between".utf8), content, Data(), content]
        var form = try MultipartBody()
        for (index, content) in contents.enumerated() {
            let kind = index % 2 == 0 ? kind : .data
            try form.append(part(kind, content, "p\(index)", in: directory))
        }
        for sending in 0..<(form.isReplayable ? 2 : 1) {
            let pieces = try await RequestBody.multipart(form).pieces()
            let bytes = pieces.reduce(into: Data()) { $0 += $1 }
            #expect(bytes.count == form.contentLength)
            let parts = try MultipartBytes(bytes, boundary: form.boundary).parts
            #expect(parts.map(\.content) == contents, "sending \(sending)")
            #expect(pieces.allSatisfy { !$0.isEmpty && $0.count <= 524_288 })
            // A caller's chunks are passed on unchanged.
            if kind != .stream { #expect(pieces.allSatisfy { $0.startIndex == 0 }) }
        }
    }

    @Test("Empty parts do not end a body early", arguments: Kind.allCases)
    func emptyParts(kind: Kind) async throws {
        let directory = try ScratchDirectory()
        var form = try MultipartBody()
        for index in 0..<5 { try form.append(part(kind, Data(), "p\(index)", in: directory)) }
        let bytes = try await form.bytes()
        #expect(bytes.count == form.contentLength)
        #expect(
            try MultipartBytes(bytes, boundary: form.boundary).parts.map(\.content)
                == [Data](repeating: Data(), count: 5))
    }

    @Test("Small parts are combined, and the chunks of a file or stream are passed on unchanged")
    func gathers() async throws {
        let directory = try ScratchDirectory()
        var fields = try MultipartBody()
        for index in 0..<1000 { try fields.append(.field("name \(index)", "value")) }
        let pieces = try await RequestBody.multipart(fields).pieces()
        #expect(pieces.dropLast().allSatisfy { (60_000...65_536).contains($0.count) })
        var mixed = try MultipartBody()
        try mixed.append(part(.file, Data(count: 600_000), "a", in: directory))
        try mixed.append(part(.stream, Data(count: 80_000), "b", in: directory))
        let counts = try await RequestBody.multipart(mixed).pieces().map(\.count)
        try #require(counts.count == 7)
        #expect(counts[1] == 524_288)
        #expect(counts[2] == 600_000 - 524_288)
        #expect(counts[4...5] == [40_000, 40_000])
    }

    @Test("Nothing is held back while a stream is awaited")
    func live() async throws {
        let (pieces, continuation) = AsyncStream<Data>.makeStream()
        var body = try MultipartBody(subtype: .mixed, boundary: "B")
        try body.append(.data(Data("x".utf8), name: nil, type: "a/b"))
        try body.append(.stream(pieces, length: nil, name: nil, type: "c/d"))
        try body.append(.data(Data("y".utf8), name: nil, type: "e/f"))
        let next = try RequestBody.multipart(body).opened()
        let head = "--B\r\nContent-Type: a/b\r\n\r\nx\r\n--B\r\nContent-Type: c/d\r\n\r\n"
        #expect(try await next() == Data(head.utf8))
        for text in ["1", "22"] {
            continuation.yield(Data(text.utf8))
            #expect(try await next() == Data(text.utf8))
        }
        continuation.finish()
        #expect(try await next() == Data("\r\n--B\r\nContent-Type: e/f\r\n\r\ny\r\n--B--".utf8))
        #expect(try await next() == nil)
        #expect(try await next() == nil)
    }
}

import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("Bodies and fields over HTTP/2", .timeLimit(.minutes(5)))
struct BodyTests {
    /// The ways to deliver a body.
    private static let deliveries: [TransportOptions.Delivery] = [.collected(upTo: 64 << 20), .streamed]

    /// Bytes whose period divides no buffer's size. They are copied in blocks, because a loop over bytes takes
    /// seconds in a sanitized build.
    private static func pattern(_ count: Int) -> [UInt8] {
        let block = (0..<251 * 64).map { UInt8($0 % 251) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + block.count)
        while bytes.count < count { bytes += block }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    /// A stream of the data in pieces of 100,000 bytes.
    private static func pieces(of data: Data) -> AsyncStream<Data> {
        AsyncStream { continuation in
            for start in stride(from: 0, to: data.count, by: 100_000) {
                continuation.yield(data[start..<min(start + 100_000, data.count)])
            }
            continuation.finish()
        }
    }

    @Test("A large response arrives whole", arguments: deliveries)
    func download(_ delivery: TransportOptions.Delivery) async throws {
        let expected = Self.pattern(5 << 20)
        try await TestBench.secure(handler: { _ in .bytes(StreamBody(expected)) }) { bench in
            let response = try await bench.transport.send(bench.request { $0.delivery = delivery })
            let body = try await response.body.collect(upTo: 64 << 20)
            #expect(body == Data(expected))
        }
    }

    @Test("A large body in memory is sent whole", arguments: [HTTPRequest.Method.post, .put, .patch])
    func upload(_ method: HTTPRequest.Method) async throws {
        let sent = Self.pattern(5 << 20)
        try await TestBench.secure(handler: { request in
            .text("\(request.method) \(request.body == Data(sent))")
        }) { bench in
            let answer = try await bench.text("/", method: method, body: .bytes(Data(sent)))
            #expect(answer == "\(method.rawValue) true")
        }
    }

    @Test("A streamed body is sent whole, with and without a length", arguments: [true, false])
    func streamedUpload(_ hasLength: Bool) async throws {
        let sent = Self.pattern(3 << 20)
        let length = String(sent.count)
        try await TestBench.secure(handler: { request in
            let named = request.headers.first(name: "content-length")
            return .text("\(request.body == Data(sent)) \(named ?? "none")")
        }) { bench in
            let data = Data(sent)
            let body = RequestBody.stream(Self.pieces(of: data), length: hasLength ? data.count : nil)
            let answer = try await bench.text("/", method: .post, body: body)
            #expect(answer == "true \(hasLength ? length : "none")")
        }
    }

    @Test("Large bodies go both ways on one connection at the same time")
    func bothWays() async throws {
        try await TestBench.secure(handler: { .bytes(StreamBody(fillerCount: $0.body.count)) }) { bench in
            try await bench.text("/")
            let body = RequestBody.bytes(Data(count: 2 << 20))
            let requests = try (0..<4).map { try bench.request("/\($0)", method: .post, body: body) }
            let answers = try await bench.bodies(of: requests)
            #expect(answers.map(\.utf8.count) == Array(repeating: 2 << 20, count: 4))
            #expect(bench.server.record.connectionCount == 1)
        }
    }

    @Test("Trailers follow a body, collected or streamed")
    func trailers() async throws {
        let reply = StreamReply.text(
            "body", headers: ["x-kind": "head"], trailers: ["x-digest": "abc", "x-count": "4"])
        try await TestBench.secure(handler: { _ in reply }) { bench in
            let response = try await bench.transport.send(bench.request())
            #expect(response.body.data == Data("body".utf8))
            #expect(response.headerFields.value("X-Kind") == "head")
            #expect(response.headerFields.value("X-Digest") == nil)
            #expect(response.trailerFields.value("X-Digest") == "abc")
            #expect(response.trailerFields.value("X-Count") == "4")
            var sent = try bench.request()
            sent.options.delivery = .streamed
            let stream = try await bench.transport.send(sent)
            #expect(try await stream.body.collect(upTo: 100) == Data("body".utf8))
            #expect(stream.body.ending?.trailerFields.value("X-Digest") == "abc")
            #expect(stream.body.ending?.trailerFields.value("X-Count") == "4")
        }
    }

    @Test("A response to HEAD and one with status 204 or 304 have no body", arguments: [200, 204, 304])
    func empty(_ status: Int) async throws {
        var reply = StreamReply(headers: status == 200 ? ["content-length": "10"] : [:])
        reply.status = status
        try await TestBench.secure(handler: { [reply] _ in reply }) { bench in
            let method: HTTPRequest.Method = status == 200 ? .head : .get
            let response = try await bench.transport.send(bench.request(method: method))
            #expect(response.status.code == status)
            #expect(response.body.data?.isEmpty == true)
        }
    }

    @Test("Request fields arrive, with their names in lower case")
    func requestFields() async throws {
        try await TestBench.secure(handler: { request in
            let named = request.headers.filter { $0.name == "x-token" || $0.name == "host" }
            return .text(named.map { "\($0.name)=\($0.value)" }.sorted().joined(separator: ";"))
        }) { bench in
            var request = try bench.request()
            request.headerFields.append(try HTTPField.checked(name: "X-Token", value: "a b"))
            let response = try await bench.transport.send(request)
            let body = response.body.data.map { String(decoding: $0, as: UTF8.self) }
            #expect(body == "host=127.0.0.1:\(bench.server.port);x-token=a b")
        }
    }

    @Test("A body over its limit is refused, and its connection serves the next request", arguments: [true, false])
    func bodyLimit(_ namesLength: Bool) async throws {
        let headers: HeaderList = namesLength ? ["content-length": "200000"] : [:]
        try await TestBench.secure(handler: { request in
            guard request.path == "/large" else { return .text("small") }
            return StreamReply(headers: headers, body: StreamBody(fillerCount: 200_000))
        }) { bench in
            try await bench.text("/small")
            let failure = try await bench.failure(
                of: bench.request("/large") { $0.delivery = .collected(upTo: 100_000) })
            #expect(failure?.reason == .tooLarge)
            #expect(failure?.phase == .receiving)
            #expect(try await bench.text("/small") == "small")
            #expect(bench.server.record.connectionCount == 1)
        }
    }

    @Test("A head over its limit is refused, and a shorter one is accepted", arguments: [(4_000, true), (400, false)])
    func headLimit(_ limit: Int, _ isEnough: Bool) async throws {
        let reply = StreamReply.text("body", headers: ["x-long": String(repeating: "l", count: 1_000)])
        try await TestBench.secure(handler: { _ in reply }) { bench in
            let request = try bench.request { $0.maximumHeadSize = limit }
            if isEnough {
                #expect(try await bench.transport.send(request).headerFields.value("X-Long")?.count == 1_000)
            } else {
                #expect(await bench.failure(of: request)?.reason == .tooLarge)
            }
        }
    }

    @Test("Trailers count towards the limit of the head")
    func trailerLimit() async throws {
        let reply = StreamReply.text("body", trailers: ["x-long": String(repeating: "l", count: 1_000)])
        try await TestBench.secure(handler: { _ in reply }) { bench in
            let failure = try await bench.failure(of: bench.request { $0.maximumHeadSize = 600 })
            #expect(failure?.reason == .tooLarge)
        }
    }
}

extension HTTPFields {
    /// The first value of a field.
    fileprivate func value(_ name: String) -> String? { HTTPField.Name(name).flatMap { self[$0] } }
}

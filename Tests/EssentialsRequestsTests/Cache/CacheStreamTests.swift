import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsRequests

@Suite("Response cache: streamed bodies", .timeLimit(.minutes(5)))
struct CacheStreamTests {
    private static let fields: HTTPFields = [.cacheControl: "max-age=60"]

    private func request(_ path: String = "a") -> DataRequest {
        var request = DataRequest(.get, path)
        request.options.delivery = .streamed
        return request
    }

    private func stream(_ pieces: [String], _ fields: HTTPFields = Self.fields) -> CacheOrigin {
        CacheOrigin { _ in .init(fields: fields, stream: PiecesSource(pieces)) }
    }

    /// Reads a body to its end.
    private func text(_ response: DataResponse) async throws -> String {
        String(decoding: try await response.body.collect(upTo: 1 << 30), as: UTF8.self)
    }

    @Test("A streamed body is stored when it was read to its end, and served to streams and others")
    func stored() async throws {
        let origin = stream(["one ", "two ", "three"])
        let cache = ResponseCache()
        let service = try origin.service(cache)
        let first = try await service.send(request())
        #expect(first.cache?.outcome == .missed && first.cache?.isStored == false)
        #expect(first.cacheStatus?.contains("read to its end") == true)
        #expect(await cache.usage.responses == 0)
        #expect(try await text(first) == "one two three")
        let second = try await service.send(request())
        #expect(second.cache?.outcome == .hit && second.body.data == nil && service.requestsInFlight == 1)
        #expect(try await text(second) == "one two three" && second.identity == first.identity)
        #expect(second.body.ending != nil && service.requestsInFlight == 0)
        let third = try await service.response("a")
        #expect(third.text == "one two three" && third.cache?.outcome == .hit && origin.count == 1)
        #expect(first.headerFields == second.headerFields.filtered { $0 != .age })
    }

    @Test(
        "A stored body is delivered to a stream in pieces, as it came, whatever its size is",
        arguments: [0, 1, 65_535, 65_536, 65_537, 1 << 20])
    func sizes(size: Int) async throws {
        let whole = String(repeating: "0123456789abcdef", count: size / 16 + 1).prefix(size)
        let origin = CacheOrigin { _ in .init(fields: Self.fields, body: String(whole)) }
        let service = try origin.service(ResponseCache(memory: .bytes(64 << 20)))
        #expect(try await service.text("a") == whole)
        let hit = try await service.send(request())
        var (text, largest) = ("", 0)
        for try await piece in hit.body {
            text += String(decoding: piece.array, as: UTF8.self)
            largest = max(largest, piece.count)
        }
        #expect(text == whole && largest <= 65_536 && origin.count == 1)
    }

    @Test("Nothing is stored of a body that breaks off, has another length than announced, or is not read to its end")
    func incomplete() async throws {
        let failure = RequestFailure(.interrupted, "The connection was closed.")
        let cache = ResponseCache()
        let origin = CacheOrigin { _ in .init(fields: Self.fields, stream: PiecesSource(["one"], failure: failure)) }
        let service = try origin.service(cache)
        await #expect(throws: RequestFailure.self) { try await text(try await service.send(request())) }
        for length in ["2", "4", "x", "-3"] {
            let fields = Self.fields.adding(.contentLength, length)
            origin.answer { _ in .init(fields: fields, stream: PiecesSource(["one"])) }
            #expect(try await text(try await service.send(request())) == "one")
        }
        origin.answer { _ in .init(fields: Self.fields, stream: PiecesSource(["one", "two"])) }
        for try await _ in try await service.send(request()).body { break }
        #expect(await cache.usage == ResponseCache.Usage() && origin.count == 6)
    }

    @Test("If the reader leaves when little is missing, the rest is read and stored")
    func remainder() async throws {
        let cache = ResponseCache()
        let fields = Self.fields.adding(.contentLength, "6")
        let origin = CacheOrigin { _ in .init(fields: fields, stream: PiecesSource(["one", "two"])) }
        let service = try origin.service(cache)
        for try await _ in try await service.send(request()).body { break }
        while await cache.usage.responses == 0 { await Task.yield() }
        #expect(try await service.text("a") == "onetwo" && origin.count == 1)
    }

    @Test(
        "A body has one reader at a time, also if it is cancelled, read and released at once",
        arguments: [100, 100_000])
    func oneReader(size: Int) async throws {
        let fields = Self.fields.adding(.contentLength, "\(2 * size)")
        for _ in 0..<50 {
            let source = PiecesSource(Array(repeating: String(repeating: "x", count: size), count: 2))
            let origin = CacheOrigin { _ in .init(fields: fields, stream: source) }
            let service = try origin.service(ResponseCache())
            do {
                let body = try await service.send(request()).body
                guard case .stream(let stream) = body.content else { throw RequestFailure(.interrupted, "no stream") }
                async let read = try? stream.next()
                stream.cancel()
                stream.cancel()
                _ = await read
                await #expect(throws: RequestFailure.self) {
                    while try await stream.next() != nil {}
                }
            }
            await until { source.isCancelled || source.piecesLeft == 0 }
            #expect(!source.hadTwoReaders)
        }
    }

    @Test("If the reader leaves when much is missing, the transfer is cancelled and nothing is stored")
    func abandoned() async throws {
        let cache = ResponseCache()
        let fields = Self.fields.adding(.contentLength, "100000")
        let source = PiecesSource([String(repeating: "x", count: 10), String(repeating: "y", count: 99_990)])
        let origin = CacheOrigin { _ in .init(fields: fields, stream: source) }
        let service = try origin.service(cache)
        do {
            let response = try await service.send(request())
            for try await _ in response.body { break }
        }
        await until { source.isCancelled }
        #expect(await cache.usage == ResponseCache.Usage() && source.piecesLeft == 1)
    }

    @Test("A body that exceeds the largest size goes to the reader, and is not stored", arguments: [true, false])
    func tooLarge(isAnnounced: Bool) async throws {
        let cache = ResponseCache(memory: .bytes(160_000))
        let piece = String(repeating: "x", count: 4_000)
        let fields = isAnnounced ? Self.fields.adding(.contentLength, "16000") : Self.fields
        let origin = CacheOrigin { _ in
            .init(fields: fields, stream: PiecesSource(Array(repeating: piece, count: 4)))
        }
        let service = try origin.service(cache)
        #expect(try await text(try await service.send(request())).count == 16_000)
        #expect(await cache.usage == ResponseCache.Usage())
    }

    @Test("At most 64 streamed bodies are stored at the same time")
    func writers() async throws {
        let cache = ResponseCache()
        let origin = stream(["one"])
        let service = try origin.service(cache)
        var responses: [DataResponse] = []
        for number in 0..<65 { responses.append(try await service.send(request("p\(number)"))) }
        for response in responses { _ = try await text(response) }
        #expect(await cache.usage.responses == 64)
        responses = []
        _ = try await text(try await service.send(request("p64")))
        #expect(await cache.usage.responses == 65)
    }

    @Test("An invalidation or a logout while a body is read keeps it from being stored", arguments: [true, false])
    func removal(isLogout: Bool) async throws {
        let cache = ResponseCache()
        let origin = stream(["one", "two"])
        let service = try origin.service(cache)
        service.setAuthorization(try .bearer("ada"))
        let response = try await service.send(request())
        if isLogout {
            await service.clearAuthorization()
        } else {
            await cache.invalidate(try RequestURL("https://h/a"))
        }
        #expect(try await text(response) == "onetwo")
        #expect(await cache.usage == ResponseCache.Usage())
    }

    @Test("Credentials that are set while a body is read without any keep it from being stored")
    func login() async throws {
        let cache = ResponseCache()
        let service = try stream(["one", "two"]).service(cache)
        let response = try await service.send(request())
        service.setAuthorization(try .bearer("ada"))
        #expect(try await text(response) == "onetwo")
        #expect(await cache.usage == ResponseCache.Usage())
    }

    @Test("A stale streamed response is validated, and a shutdown ends the reading of a stored one")
    func validated() async throws {
        let fields = Self.fields.adding(.eTag, "\"1\"")
        let origin = CacheOrigin { request in
            request.headerFields[.ifNoneMatch] == nil
                ? .init(fields: fields, stream: PiecesSource(["one"])) : .init(status: .notModified, fields: fields)
        }
        let service = try origin.service(ResponseCache())
        _ = try await text(try await service.send(request()))
        origin.clock.advance(by: .seconds(100))
        let second = try await service.send(request())
        #expect(second.cache?.outcome == .validated && origin.count == 2)
        #expect(try await text(second) == "one")
        let third = try await service.send(request())
        await service.shutdown()
        await #expect(throws: RequestFailure.self) { try await text(third) }
    }
}

extension HTTPFields {
    fileprivate func adding(_ name: HTTPField.Name, _ value: String) -> HTTPFields {
        var fields = self
        fields[name] = value
        return fields
    }

    fileprivate func filtered(_ isKept: (HTTPField.Name) -> Bool) -> HTTPFields {
        HTTPFields(filter { isKept($0.name) })
    }
}

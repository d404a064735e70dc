import EssentialsHTTP
import EssentialsStorage
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Glibc
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite("Outbox: files", .timeLimit(.minutes(5)))
struct OutboxStoringTests {
    let fixture: OutboxFixture
    private var transport: ScriptedTransport { fixture.transport }

    init() throws { fixture = try OutboxFixture() }

    /// Adds a request, closes the outbox, and returns the request that the next outbox sends.
    private func sent(_ request: DataRequest) async throws -> RecordedRequest {
        transport.on(.post, "/v1/**").answer(.ok)
        var outbox = try fixture.outbox()
        outbox.pause()
        try await outbox.add(request)
        await outbox.close()
        outbox = try fixture.outbox()
        try await outbox.drain()
        #expect(fixture.names == ["lock"])
        await outbox.close()
        return try #require(transport.requests.last)
    }

    @Test("A request is sent after a restart as it would have been sent at once")
    func same() async throws {
        transport.on(.post, "/v1/**").answer(.ok)
        let model = Item(name: "Ada")
        var fields = HTTPFields()
        fields[.accept] = "text/csv"
        fields.append(HTTPField(name: .cacheControl, value: "a"))
        fields.append(HTTPField(name: .cacheControl, value: "b"))
        let nested: FormParameters = [
            "n": -7, "u": .init(UInt64.max), "d": 0.5, "t": "ä", "no": false, "yes": true, "null": nil,
            "at": Date(timeIntervalSinceReferenceDate: 1.5), "bytes": Data([0, 255]), "list": [1, "x"] as FormValue,
            "set": FormValue.set(["a"]), "in": ["deep": ["er": 1] as FormValue] as FormValue,
        ]
        let requests: [DataRequest] = [
            DataRequest(.post, "a b/ü?x=1", query: ["q": "a&b", "empty": "", "bare": nil, "q": "2"]),
            DataRequest(.post, "p", parameters: nested),
            DataRequest(.post, "p", headerFields: fields, body: .model(model)),
            DataRequest(.post, "p", body: .json(["a": [1, nil]])),
            DataRequest(.post, "p", body: .parameters(nested, as: .form)),
            DataRequest(.post, "p", body: .data(Data([1, 0, 255]))),
            DataRequest(.post, "p", body: .data(Data(count: 300_000), type: try MediaType("image/png"))),
            DataRequest(.post, "p", body: .text("ä", type: try MediaType("text/plain; charset=iso-8859-1"))),
            DataRequest(.post, "p"),
            .post("p", body: .parameters(["a": 1], as: .form)),
        ]
        for request in requests {
            try await fixture.requests.send(request)
            let direct = try #require(transport.requests.last)
            let stored = try await sent(request)
            #expect(stored.method == direct.method && stored.url == direct.url && stored.body == direct.body)
            var names = stored.headerFields
            #expect(stored.key != nil)
            names[try #require(HTTPField.Name("Idempotency-Key"))] = nil
            #expect(names == direct.headerFields)
        }
    }

    @Test("Parameters are encoded with the codecs of the request or its caller, as they are without an outbox")
    func codecs() async throws {
        transport.on(.post, "/v1/**").answer(.ok)
        let codecs = CodecRegistry.standard.registering(
            FormCodec(encoding: FormEncoding(arrays: .indexed)), for: MediaPattern(.form))
        let list: FormParameters = ["list": ["a", "b"] as FormValue]
        for var request in [
            DataRequest(.post, "p", body: .parameters(list, as: .form)),
            DataRequest(.post, "p", parameters: list, headerFields: [.contentType: "\(MediaType.form)"]),
        ] {
            request.codecs = codecs
            try await fixture.requests.send(request)
            let direct = try #require(transport.requests.last)
            #expect(direct.bodyText.contains("1"))
            let stored = try await sent(request)
            #expect(stored.body == direct.body)
            #expect(stored.headerFields[.contentType] == direct.headerFields[.contentType])
            request.codecs = nil
            let outbox = try fixture.outbox()
            try await outbox.add(request, codecs: codecs)
            try await outbox.drain()
            await outbox.close()
            #expect(transport.requests.last?.body == direct.body)
        }
    }

    private enum Views: Endpoint {
        typealias Parent = EnvironmentAPI
        static let path: RequestPath = "views"

        static func add(_ item: Item) -> APIRequest<Item> { request(.post, "new") { RequestContent(item) } }
    }

    @Test("A definition's request and one to another base keep their URL")
    func bases() async throws {
        transport.on(.post, "/**").answer(.ok)
        var foreign = DataRequest(.post, "x")
        foreign.base = "https://other.example.com/v2/"
        let url = try RequestURL("https://h/v1/whole?x=1")
        let whole = DataRequest(.post, "").pinned(to: fixture.environment.snapshot, at: url)
        let outbox = try fixture.outbox()
        try await outbox.add(foreign)
        try await outbox.add(whole)
        try await outbox.add(Views.add(Item(name: "Ada")))
        try await outbox.drain()
        let definition = "https://h/v1/views/new"
        #expect(
            Set(transport.requests.map(\.url.description))
                == ["https://other.example.com/v2/x", url.description, definition])
        #expect(
            transport.requests.first { $0.url.description == definition }?.bodyText == #"{"name":"Ada"}"#)
    }

    @Test("The expected statuses are stored", arguments: [201, 404, 503])
    func statuses(status: Int) async throws {
        transport.on(.post, "/v1/views").answer(ScriptedAnswer(HTTPResponse.Status(code: status)))
        let outbox = try fixture.outbox()
        var request = fixture.view(1)
        let expectations: [StatusExpectation] = [
            .any, .codes([status]), [200...201, 404...404, 500...599], .matching { $0 == status },
        ]
        for expectation in expectations {
            request.expectedStatus = expectation
            try await outbox.add(request)
        }
        try await outbox.drain()
        #expect(try await outbox.entries == [])
        request.expectedStatus = 200
        let id = try await outbox.add(request)
        await outbox.core.idle()
        #expect(try await outbox.entries.map(\.id) == [id])
    }

    @Test("A file is copied, so it can be changed and removed afterwards")
    func file() async throws {
        let path = fixture.directory + "-film"
        defer { unlink(path) }
        let film = Data((0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        #expect(FileManager.default.createFile(atPath: path, contents: film))
        transport.on(.put, "/v1/films/1").fail(.connection).thenAnswer(.ok)
        let outbox = try fixture.outbox()
        try await outbox.add(DataRequest(.put, "films/1", body: .file(path, type: try MediaType("video/mp4"))))
        #expect(FileManager.default.createFile(atPath: path, contents: Data("other".utf8)))
        unlink(path)
        await outbox.core.idle()
        #expect(fixture.kinds == ["body", "request"])
        #expect(try await outbox.entries.first.map { $0.byteCount > 2_000_000 } == true)
        try await outbox.drain()
        #expect(transport.requests.last?.body == film)
        #expect(transport.requests.last?.headerFields[.contentType] == "video/mp4")
        #expect(fixture.names == ["lock"])
    }

    @Test("A multipart body is copied with its boundary")
    func multipart() async throws {
        var body = try MultipartBody(boundary: "b")
        try body.append(.field("name", "Ada"))
        let sent = try await sent(DataRequest(.post, "p", body: .multipart(body)))
        #expect(sent.headerFields[.contentType] == "multipart/form-data; boundary=b")
        #expect(sent.bodyText.contains("Ada") && sent.bodyText.contains("--b--"))
    }

    @Test("Requests that cannot be sent twice or stored are refused with a remedy")
    func refused() async throws {
        let outbox = try fixture.outbox()
        let stream = AsyncStream<Data> { $0.finish() }
        var requests = [DataRequest(.post, "p", body: .stream(stream, length: nil))]
        for _ in 0..<5 { requests.append(fixture.view(1)) }
        requests[1].isIdempotent = false
        requests[2].redirects = .refused
        requests[3].options.trust = TrustPolicy()
        requests[4].base = RequestBase(EnvironmentSnapshot(baseURL: try RequestURL("https://o/")))
        requests[5].body = .text("x")
        var reasons: [RequestFailure.Reason] = []
        for request in requests {
            let failure = await #expect(throws: RequestFailure.self) { try await outbox.add(request) }
            #expect(failure?.remedy?.isEmpty == false)
            if let failure { reasons.append(failure.reason) }
        }
        #expect(reasons == [.notReplayable] + Array(repeating: .invalidRequest, count: 5))
        #expect(try await outbox.entries == [])
        #expect(fixture.names == ["lock"])
    }

    @Test("A full outbox refuses by count and by bytes, and takes requests again when there is space")
    func limits() async throws {
        transport.on(.post, "/v1/**").answer(.ok)
        let outbox = try fixture.outbox {
            $0.maximumCount = 3
            $0.maximumBytes = 10_000
        }
        outbox.pause()
        for number in 0..<3 { try await outbox.add(fixture.view(number)) }
        let count = await #expect(throws: RequestFailure.self) { try await outbox.add(fixture.view(3)) }
        #expect(count?.reason == .queueFull && count?.message.contains("3 entries") == true)
        let ids = try await outbox.entries.map(\.id)
        for id in ids { #expect(try await outbox.drop(id)) }
        let large = DataRequest(.post, "p", body: .data(Data(count: 9_900)))
        let pieces = DataRequest(.post, "p", body: .raw(.unknownLength(Data(count: 12_000))))
        for request in [large, pieces] {
            let bytes = await #expect(throws: RequestFailure.self) { try await outbox.add(request) }
            #expect(bytes?.reason == .queueFull && bytes?.message.contains("10000 bytes") == true)
        }
        #expect(fixture.names == ["lock"])
        try await outbox.add(DataRequest(.post, "p", body: .data(Data(count: 9_000))))
        await #expect(throws: RequestFailure(.queueFull, "")) {
            try await outbox.add(DataRequest(.post, "p", body: .data(Data(count: 2_000))))
        }
        outbox.resume()
        try await outbox.drain()
        #expect(outbox.core.reading(\.bytes) == 0)
        try await outbox.add(DataRequest(.post, "p", body: .data(Data(count: 9_000))))
    }

    @Test("An entry that is too old is given up, and one that is retried is sent")
    func age() async throws {
        transport.on(.post, "/v1/views").fail(.connection)
        let outbox = try fixture.outbox { $0.maximumAge = .seconds(3_600) }
        let id = try await outbox.add(fixture.view(1))
        await outbox.core.idle()
        fixture.clock.advance(by: .seconds(3_600))
        while !fixture.kinds.contains("failed") { await Task.yield() }
        await outbox.core.idle()
        guard case .failed(let failure) = try await outbox.entries.first?.state else {
            Issue.record("The entry was not given up.")
            return
        }
        #expect(failure.reason == .timeout && failure.message.contains("3600 seconds"))
        transport.on(.post, "/v1/views").answer(.ok)
        #expect(try await outbox.retry(id))
        try await outbox.drain()
        #expect(try await outbox.entries == [])
    }

    @Test("On a full disk adding fails with the error, leaves nothing, and works again later", arguments: 0...5)
    func fullDisk(failing call: Int) async throws {
        transport.on(.post, "/v1/**").answer(.ok)
        let calls = Mutex((isFailing: false, count: 0))
        var system = FileCalls.system
        let (write, sync) = (system.write, system.sync)
        @Sendable func fails() -> Bool {
            calls.withLock { calls in
                defer { calls.count += 1 }
                return calls.isFailing && calls.count >= call
            }
        }
        system.write = { fails() ? -Int(ENOSPC) : write($0, $1) }
        system.sync = { fails() ? ENOSPC : sync($0) }
        let outbox = try fixture.outbox(calls: system)
        try await outbox.open()
        calls.withLock { $0.isFailing = true }
        // A separate body, and then an entry.
        let request = DataRequest(.post, "p", body: .data(Data(count: 100_000)))
        let failure = await #expect(throws: RequestFailure.self) { try await outbox.add(request) }
        #expect(failure?.reason == .file)
        #expect((failure?.underlying as? SystemError)?.code == ENOSPC)
        #expect(fixture.names == ["lock"])
        #expect(outbox.core.reading(\.bytes) == 0)
        calls.withLock { $0.isFailing = false }
        try await outbox.add(request)
        try await outbox.drain()
        #expect(transport.requestCount == 1)
    }

    @Test(
        "Another file in the place of the lock is refused and not overwritten",
        arguments: ["second name", "link", "pipe", "directory", "other writers"])
    func plantedLock(kind: String) async throws {
        try FileManager.default.createDirectory(atPath: fixture.directory, withIntermediateDirectories: false)
        let (lock, precious) = (fixture.directory + "/lock", fixture.directory + "/precious")
        try Data("precious".utf8).write(to: URL(filePath: precious))
        switch kind {
        case "second name": #expect(link(precious, lock) == 0)
        case "link": #expect(symlink(precious, lock) == 0)
        case "pipe": #expect(mkfifo(lock, 0o600) == 0)
        case "directory": #expect(mkdir(lock, 0o700) == 0)
        default: #expect(rename(precious, lock) == 0 && chmod(lock, 0o666) == 0)
        }
        let outbox = try fixture.outbox()
        let failure = await #expect(throws: RequestFailure.self) { try await outbox.add(fixture.view(1)) }
        #expect(failure?.reason == .file)
        let kept = kind == "other writers" ? lock : precious
        #expect(FileManager.default.contents(atPath: kept) == Data("precious".utf8))
        await outbox.close()
    }

    @Test("A damaged entry is set aside and reported, and holds back no other one")
    func damaged() async throws {
        transport.on(.post, "/v1/views").answer(.ok)
        var outbox = try fixture.outbox()
        outbox.pause()
        var ids: [OutboxEntry.ID] = []
        for number in 0..<5 { ids.append(try await outbox.add(fixture.view(number))) }
        let large = try await outbox.add(DataRequest(.post, "views", body: .data(Data(count: 70_000))))
        await outbox.close()
        let whole = try #require(FileManager.default.contents(atPath: fixture.path(ids[0], .request)))
        var flipped = whole
        flipped[whole.count - 1] ^= 1
        var version = whole
        version[8] = 9
        let contents = [flipped, whole.dropLast(), Data(), version]
        for (id, bytes) in zip(ids, contents) {
            #expect(FileManager.default.createFile(atPath: fixture.path(id, .request), contents: bytes))
        }
        #expect(FileManager.default.createFile(atPath: fixture.path(large, .body), contents: Data(count: 3)))
        outbox = try fixture.outbox()
        try await outbox.drain()
        #expect(transport.requests.map(\.bodyText) == [#"{"id":4}"#])
        let names = [ids[0], ids[1], ids[2], large].map { "\($0).damaged" } + ["\(ids[3]).request"]
        #expect(try await outbox.damagedFiles.sorted() == names.sorted())
        // They are reported by every outbox until they are removed.
        await outbox.close()
        outbox = try fixture.outbox()
        #expect(try await outbox.damagedFiles.sorted() == names.sorted())
        try await outbox.removeDamagedFiles()
        #expect(try await outbox.damagedFiles == [])
        #expect(fixture.names == ["lock"])
    }

    @Test("An entry that is damaged while the outbox is open is set aside when its turn comes")
    func damagedLater() async throws {
        transport.on(.post, "/v1/views").answer(.ok)
        let outbox = try fixture.outbox()
        outbox.pause()
        let id = try await outbox.add(fixture.view(1))
        try await outbox.add(fixture.view(2))
        truncate(fixture.path(id, .request), 10)
        outbox.resume()
        try await outbox.drain()
        #expect(transport.requests.map(\.bodyText) == [#"{"id":2}"#])
        #expect(try await outbox.damagedFiles == ["\(id).damaged"])
    }

    @Test("A file that a killed process leaves is an entry if it is complete, and is removed otherwise")
    func leftovers() async throws {
        transport.on(.post, "/v1/views").answer(.ok)
        var outbox = try fixture.outbox()
        outbox.pause()
        let (first, second) = (try await outbox.add(fixture.view(1)), try await outbox.add(fixture.view(2)))
        await outbox.close()
        let (gone, other) = (OutboxEntry.ID(number: 7), OutboxEntry.ID(number: 8))
        rename(fixture.path(first, .request), fixture.path(gone, .spare))
        rename(fixture.path(second, .request), fixture.path(other, .spare))
        truncate(fixture.path(other, .spare), 30)
        for kind in [OutboxFiles.Kind.body, .failed] {
            #expect(FileManager.default.createFile(atPath: fixture.path(gone, kind), contents: Data("x".utf8)))
        }
        outbox = try fixture.outbox()
        try await outbox.drain()
        #expect(transport.requests.map(\.bodyText) == [#"{"id":1}"#])
        #expect(fixture.names == ["lock"])
        #expect(fixture.spareCount == 0)
        #expect(try await outbox.damagedFiles == [])
    }

    @Test("Sixteen entries share one flush of their names, and a closed outbox leaves no empty files")
    func spares() async throws {
        let syncs = Mutex(0)
        var calls = FileCalls.system
        let sync = calls.sync
        calls.sync = { descriptor in
            syncs.withLock { $0 += 1 }
            return sync(descriptor)
        }
        let outbox = try fixture.outbox(calls: calls)
        outbox.pause()
        for number in 0..<32 { try await outbox.add(fixture.view(number)) }
        #expect(syncs.withLock { $0 } == 34)
        try await outbox.add(fixture.view(32))
        #expect(fixture.spareCount == 15)
        await outbox.close()
        #expect(fixture.spareCount == 0)
        #expect(fixture.names.count == 34)
    }

    @Test("A large body with a changed byte is not sent, and its entry is set aside")
    func damagedBody() async throws {
        transport.on(.post, "/v1/views").answer(.ok)
        let outbox = try fixture.outbox()
        outbox.pause()
        let body = DataRequest(.post, "views", body: .data(Data(count: 70_000)))
        let ids = [try await outbox.add(body), try await outbox.add(body)]
        let path = fixture.path(ids[0], .body)
        var bytes = try #require(FileManager.default.contents(atPath: path))
        bytes[69_999] ^= 1
        try bytes.write(to: URL(filePath: path))
        outbox.resume()
        try await outbox.drain()
        #expect(transport.requests.map(\.body) == [Data(count: 70_000)])
        #expect(try await outbox.damagedFiles == [OutboxFiles.Name(ids[0], .damaged).text])
        try await outbox.removeDamagedFiles()
        #expect(fixture.names == ["lock"])
    }

    @Test("Files and directory are readable for their user only")
    func modes() async throws {
        let outbox = try fixture.outbox()
        outbox.pause()
        try await outbox.add(DataRequest(.post, "views", body: .data(Data(count: 70_000))))
        func mode(_ path: String) -> Int? {
            (try? FileManager.default.attributesOfItem(atPath: path))?[.posixPermissions] as? Int
        }
        #expect(mode(fixture.directory) == 0o700)
        for name in fixture.names { #expect(mode(fixture.directory + "/" + name) == 0o600) }
        #expect(fixture.names.count == 3)
    }
}

extension RequestBody {
    /// A body of pieces with unknown length that can be read again.
    fileprivate static func unknownLength(_ bytes: Data) -> RequestBody {
        RequestBody(
            content: .stream(length: nil, isReplayable: true) {
                let box = Box(bytes)
                return { box.next() }
            })
    }

    private final class Box: Sendable {
        private let rest: Mutex<Data>

        init(_ bytes: Data) { rest = Mutex(bytes) }

        func next() -> Data? {
            rest.withLock { rest in
                guard !rest.isEmpty else { return nil }
                defer { rest = Data(rest.dropFirst(1_000)) }
                return Data(rest.prefix(1_000))
            }
        }
    }
}

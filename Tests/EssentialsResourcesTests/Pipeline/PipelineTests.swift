import EssentialsHTTP
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Glibc
import Logging
import TestTools
import Testing

/// Writes the resource and the stages of each message into a journal.
private struct JournalHandler: LogHandler {
    let journal: Journal
    var logLevel = Logger.Level.debug
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        journal.add("\(event.metadata?["resource"] ?? "") \(event.metadata?["stages"] ?? "")")
    }
}

@Suite("Resource: pipeline", .leavesNothing)
struct PipelineTests {
    private struct Broken: Error {}

    /// A type that no codec reads.
    private struct Parsed: Sendable, Equatable {
        var words: [String]
    }

    @Sendable
    private static func adding(_ mark: String) -> Transformer {
        Transformer { (data: Data) in data + Data(mark.utf8) }
    }

    private func text(_ data: Data) -> String { String(decoding: data, as: UTF8.self) }

    @Test("Content goes through the stages in their order, and the last value is shown")
    func stages() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/words").answer(text: "b a")
        try fixture.service.configure("/words") {
            $0.pipeline.transform(at: .cleanup) { (parsed: Parsed) in Parsed(words: parsed.words.sorted()) }
            $0.pipeline.transform(at: .model) { (text: String) in
                Parsed(words: text.split(separator: " ").map { String($0) })
            }
            $0.pipeline.transform(at: .parsing) { (data: Data) in String(decoding: data, as: UTF8.self) }
            $0.pipeline.transform(at: .raw) { (data: Data) in data + Data(" c".utf8) }
        }
        let words: Resource<Parsed> = fixture.service.resource("words")
        #expect(try await words.load() == Parsed(words: ["a", "b", "c"]))
        #expect(words.content == Parsed(words: ["a", "b", "c"]))
    }

    @Test("Views of other types read the last bytes")
    func views() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/words").answer(text: "a")
        try fixture.service.configure("/words") {
            $0.pipeline.transform(at: .decoding) { (data: Data) in data + data }
            $0.pipeline.transform(at: .model) { (data: Data) in Parsed(words: ["\(data.count)"]) }
        }
        let words: Resource<Parsed> = fixture.service.resource("words")
        let string: Resource<String> = words.resource()
        #expect(try await words.load() == Parsed(words: ["2"]))
        #expect(string.content == "aa")
        #expect(words.resource(as: Data.self).content == Data("aa".utf8))
    }

    @Test("The pipeline runs once for each response, for any number of views and waiting tasks")
    func runsOnce() async throws {
        let fixture = try ResourceFixture()
        let journal = Journal()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "a"), headerFields: [.eTag: "\"1\""])
            .thenAnswer(.notModified)
        try fixture.service.configure("/item") {
            $0.pipeline.transform(at: .raw) { (data: Data) in
                journal.add("run")
                return data
            }
        }
        let item: Resource<Item> = fixture.service.resource("item")
        _ = item.resource(as: String.self).content
        _ = item.resource(as: Data.self).content
        async let first = item.loadIfNeeded()
        async let second = item.loadIfNeeded()
        _ = try await (first, second)
        #expect(journal.all == ["run"])
        try await item.load()
        #expect(fixture.transport.requestCount == 2)
        #expect(journal.all == ["run"])
    }

    @Test("A new transformer replaces those of its stage unless it is appended, and stages can be cleared")
    func replacing() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(text: "")
        let item: Resource<Data> = fixture.service.resource("item")
        try fixture.service.configure("/item") {
            $0.pipeline.add(Self.adding("a"), at: .raw)
            $0.pipeline.add(.content(1, forStatus: 404), at: .raw)
            $0.pipeline.add(Self.adding("b"), at: .raw)
            $0.pipeline.add(Self.adding("c"), at: .raw, appends: true)
            $0.pipeline.add(Self.adding("d"), at: .model)
        }
        #expect(text(try await item.load()) == "bcd")
        try fixture.service.configure("/item") { $0.pipeline.removeAll(at: .raw) }
        #expect(text(try await item.load()) == "d")
        try fixture.service.configure("/item") { $0.pipeline.removeAll() }
        #expect(text(try await item.load()) == "")
    }

    @Test("Stages that are skipped are logged once for each configuration, without the query of the resource")
    func logging() throws {
        let journal = Journal()
        let fixture = try ResourceFixture {
            $0.logger = Logger(label: "test") { _ in JournalHandler(journal: journal) }
        }
        try fixture.service.configure("/item") {
            $0.pipeline.order = [.raw]
            $0.pipeline.add(Self.adding("m"), at: .model)
            $0.pipeline.add(Self.adding("c"), at: .cleanup)
        }
        let item: Resource<Data> = fixture.service.resource("item").withParam("key", "secret")
        _ = item.configuration()
        _ = item.configuration()
        #expect(journal.all == [#"https://h/v1/item?… ["cleanup", "model"]"#])
    }

    @Test("The order can have own stages, skips stages that are not listed, and refuses a stage that occurs twice")
    func order() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(text: "")
        try fixture.service.configure("/item") {
            $0.pipeline.order = [.model, "own", .raw]
            $0.pipeline.add(Self.adding("r"), at: .raw)
            $0.pipeline.add(Self.adding("o"), at: "own")
            $0.pipeline.add(Self.adding("m"), at: .model)
            $0.pipeline.add(Self.adding("c"), at: .cleanup)
        }
        let item: Resource<Data> = fixture.service.resource("item")
        #expect(text(try await item.load()) == "mor")
        #expect(item.configuration().pipeline.skippedStages == [.cleanup])
        let failure = #expect(throws: RequestFailure.self) {
            try fixture.service.configure("/item") { $0.pipeline.order = [.raw, .model, .raw] }
        }
        #expect(failure?.reason == .invalidRequest)
    }

    @Test(
        "Transformers are selected by media type, regardless of case, and a missing type counts as binary data",
        arguments: [
            ("application/json", "json"), ("APPLICATION/JSON; charset=utf-8", "json"), ("application/jsonx", "none"),
            (nil, "binary"),
        ])
    func mediaTypes(contentType: String?, expected: String) async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(
            data: Data("none".utf8), headerFields: contentType.map { [.contentType: $0] } ?? [:])
        try fixture.service.configure("/item") {
            $0.pipeline.transform(at: .raw, for: [MediaPattern(.json)]) { (_: Data) in Data("json".utf8) }
            $0.pipeline.transform(at: .raw, for: [MediaPattern(.octetStream)], appends: true) { (_: Data) in
                Data("binary".utf8)
            }
        }
        let item: Resource<Data> = fixture.service.resource("item")
        #expect(text(try await item.load()) == expected)
    }

    @Test("A transformer for another type fails, is skipped, or is skipped if its work is done")
    func wrongInput() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(text: "x")
        func configure(_ wrongInput: Transformer.WrongInput, _ early: Bool) throws {
            try fixture.service.configure("/item") {
                $0.pipeline.removeAll()
                if early { $0.pipeline.transform(at: .raw) { (_: Data) in Parsed(words: ["early"]) } }
                $0.pipeline.transform(at: .model, wrongInput: wrongInput) { (_: String) in Parsed(words: ["late"]) }
            }
        }
        let item: Resource<Parsed> = fixture.service.resource("item")
        try configure(.fails, true)
        let failure = await #expect(throws: RequestFailure.self) { try await item.load() }
        #expect(failure?.reason == .decoding)
        try configure(.skipsOutput, true)
        #expect(try await item.load().words == ["early"])
        try configure(.skipsOutput, false)
        await #expect(throws: RequestFailure(.decoding, "")) { try await item.load() }
        // A model decides whether a response can be read, so the text is requested where there is no model.
        try fixture.service.configure("/text") {
            $0.pipeline.transform(at: .model, wrongInput: .skips) { (_: Int) in 1 }
        }
        fixture.transport.on(.get, "/v1/text").answer(text: "x")
        #expect(try await fixture.service.resource("text", as: String.self).load() == "x")
    }

    @Test("A thrown request failure stays, other errors and nil become decoding failures")
    func errors() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(text: "x")
        let item: Resource<Data> = fixture.service.resource("item")
        func reason(_ transform: @escaping @Sendable (Data) async throws -> Data?) async throws -> RequestFailure? {
            try fixture.service.configure("/item") { $0.pipeline.transform(at: .raw, transform) }
            return await #expect(throws: RequestFailure.self) { try await item.load() }
        }
        #expect(try await reason { _ in throw RequestFailure(.timeout, "own") }?.reason == .timeout)
        #expect(item.state.failure?.reason == .timeout)
        let wrapped = try await reason { _ in throw Broken() }
        #expect(wrapped?.reason == .decoding)
        #expect(wrapped?.underlying is Broken)
        #expect(try await reason { _ in nil }?.reason == .decoding)
        #expect(try await reason { _ in throw CancellationError() }?.reason == .cancelled)
        #expect(item.state.failure?.reason == .decoding)
    }

    @Test("A transformer can change header fields and the media type")
    func fields() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(
            data: Data("{\"name\":\"a\"}".utf8), headerFields: [.contentType: "application/x-sealed"])
        try fixture.service.configure("/item") {
            $0.pipeline.transformEntity(at: .decoding) { (entity: PipelineEntity<Data>) in
                var entity = entity
                entity.mediaType = .json
                entity.headerFields[.eTag] = "\"own\""
                return entity
            }
        }
        let item: Resource<Item> = fixture.service.resource("item")
        #expect(try await item.load().name == "a")
        #expect(item.state.entity?.mediaType == .json)
        #expect(item.state.entity?.entityTag == "\"own\"")
    }

    @Test("An empty success enters the pipeline as no bytes")
    func empty() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(.noContent)
        try fixture.service.configure("/item") {
            $0.pipeline.transform(at: .model) { (data: Data) in Parsed(words: data.isEmpty ? ["empty"] : []) }
        }
        let item: Resource<Parsed> = fixture.service.resource("item")
        #expect(try await item.load().words == ["empty"])
    }

    @Test("A model is read at its stage, by the codec of the media type")
    func model() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "a"))
        try fixture.service.configure("/item") {
            $0.pipeline.add(.model(Item.self), at: .model)
            $0.pipeline.transform(at: .cleanup) { (item: Item) in Item(name: item.name + "!") }
        }
        let item: Resource<Item> = fixture.service.resource("item")
        #expect(try await item.load().name == "a!")
    }

    @Test("Failures reach only transformers for failures, which give a message or turn a failure into content")
    func failures() async throws {
        let fixture = try ResourceFixture()
        let journal = Journal()
        fixture.transport.on(.get, "/v1/member").answer(.notFound, headerFields: [.eTag: "\"404\""])
            .thenAnswer(.internalServerError, text: "raw").thenAnswer(json: true)
        try fixture.service.configure("/member") {
            $0.pipeline.transform(at: .raw) { (data: Data) in
                journal.add("content")
                return data
            }
            $0.pipeline.add(.content(false, forStatus: 404), at: .model)
            $0.pipeline.add(FailureTransformer { _ in throw Broken() }, at: .cleanup)
            $0.pipeline.add(.message { _ in "Please try again later." }, at: .cleanup, appends: true)
        }
        let isMember: Resource<Bool> = fixture.service.resource("member")
        #expect(try await isMember.load() == false)
        #expect(isMember.content == false)
        #expect(journal.all.isEmpty)
        let failure = await #expect(throws: RequestFailure.self) { try await isMember.load() }
        #expect(fixture.transport.requests.last?.headerFields[.ifNoneMatch] == nil)
        #expect(failure?.message == "Please try again later.")
        #expect(failure?.response.map { text($0.body) } == "raw")
        #expect(isMember.content == false)
        #expect(try await isMember.load() == true)
        #expect(journal.all == ["content"])
    }

    @Test("Transformers run outside the caller's actor, and are cancelled with their load")
    @MainActor
    func isolation() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(text: "x")
        let begun = Latch()
        let cancelled = Latch()
        let isOff = Mutex(false)
        try fixture.service.configure("/item") {
            $0.pipeline.transform(at: .raw) { (data: Data) in
                isOff.withLock { $0 = #isolation == nil }
                begun.open()
                await withTaskCancellationHandler {
                    await cancelled.wait()
                } onCancel: {
                    cancelled.open()
                }
                return data
            }
            $0.pipeline.transform(at: .model) { (data: Data) in
                Issue.record("A stage after the cancellation was run.")
                return data
            }
        }
        let item: Resource<Data> = fixture.service.resource("item")
        let task = Task { try await item.load() }
        await begun.wait()
        task.cancel()
        await #expect(throws: RequestFailure(.cancelled, "")) { try await task.value }
        await cancelled.wait()
        #expect(isOff.withLock { $0 })
        #expect(item.state.failure == nil)
    }

    @Test("At most as many transformers compute at a time as there are processors")
    func processors() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/items/*").answer(text: "x")
        let running = Mutex((present: 0, most: 0))
        try fixture.service.configure("/items/*") {
            $0.pipeline.transform(at: .raw) { (data: Data) in
                running.withLock { running in
                    running.present += 1
                    running.most = max(running.most, running.present)
                }
                // Other transformers would run at this time.
                for _ in 0..<200 { sched_yield() }
                running.withLock { $0.present -= 1 }
                return data
            }
        }
        let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
        let service = fixture.service
        try await withThrowingTaskGroup { group in
            for number in 0..<(processors * 8) {
                group.addTask { _ = try await service.resource("items", "\(number)", as: Data.self).load() }
            }
            try await group.waitForAll()
        }
        #expect((1...processors).contains(running.withLock { $0.most }))
    }

    @Test("Requests of other methods have the pipeline of their method")
    func otherMethods() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(nil, "/v1/item").answer(text: "x")
        try fixture.service.configure("/item", methods: [.post]) {
            $0.pipeline.transform(at: .model) { (_: Data) in Parsed(words: ["post"]) }
        }
        let item: Resource<String> = fixture.service.resource("item")
        #expect(try await item.request(.post, as: Parsed.self).content.words == ["post"])
        #expect(try await item.load() == "x")
    }
}

import EssentialsHTTP
import EssentialsStorage
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Glibc
import TestTools
import Testing

@testable import EssentialsRequests

/// A cache in files: what is found after a restart and by other processes, and what damage does.
@Suite("Response cache in files", .timeLimit(.minutes(5)))
struct CacheDiskTests {
    private let scratch: ScratchDirectory
    private let origin = CacheOrigin([.cacheControl: "max-age=60", .eTag: "\"1\""])

    init() throws { scratch = try ScratchDirectory() }

    private var path: String { scratch("cache") }

    /// A service of a new process.
    private func start(
        _ kind: CacheKind = .memoryAndFiles, over transport: (any Transport)? = nil,
        _ change: (inout HTTPDataRequestService.Configuration) -> Void = { _ in }
    ) throws -> (service: HTTPDataRequestService, cache: ResponseCache) {
        let cache = try kind.cache(path)
        return (try origin.service(cache, over: transport ?? TrustedStub(origin.transport()), change), cache)
    }

    private var files: [String] {
        ((try? FileDirectory(path))?.names ?? []).filter { $0.hasSuffix(".record") || $0.hasSuffix(".body") }
    }

    // MARK: Restart

    @Test("A response is found after a restart, with its age and its numbers")
    func restart() async throws {
        let (first, cache) = try start()
        let stored = try await first.response("a")
        await cache.flush()
        let usage = await cache.usage
        #expect(usage.externalResponses == 1 && usage.responses == 1)
        origin.clock.advance(by: .seconds(10))
        let (second, _) = try start()
        let found = try await second.response("a")
        #expect(found.text == "1" && found.cache?.outcome == .hit && found.cache?.age == .seconds(10))
        #expect(found.identity == stored.identity)
        origin.clock.advance(by: .seconds(60))
        let newer = try await second.response("a", .reload)
        #expect((newer.identity?.load ?? 0) > (stored.identity?.load ?? 0) && origin.count == 2)
    }

    @Test("A validation after a restart confirms what is in the files for all later ones")
    func validation() async throws {
        let (first, cache) = try start()
        _ = try await first.text("a")
        await cache.flush()
        origin.clock.advance(by: .seconds(100))
        origin.answer { CacheOrigin.reply(to: $0, tag: "\"1\"", [.cacheControl: "max-age=60"], body: "new") }
        let (second, other) = try start()
        let confirmed = try await second.response("a")
        #expect(confirmed.text == "1" && confirmed.cache?.outcome == .validated)
        await other.flush()
        let (third, _) = try start(.files)
        let found = try await third.response("a")
        #expect(found.text == "1" && found.cache?.outcome == .hit && origin.count == 2)
    }

    @Test("Variants, an empty body and a redirect are found after a restart")
    func kinds() async throws {
        origin.answer { request in
            let (path, language) = (request.url.path.description, request.headerFields[.acceptLanguage] ?? "-")
            let fields: HTTPFields = [.cacheControl: "max-age=60", .vary: "Accept-Language"]
            switch path {
            case "/moved":
                return .init(status: .movedPermanently, fields: [.location: "/a", .cacheControl: "max-age=60"])
            case "/empty": return .init(status: .noContent, fields: fields)
            default: return .init(fields: fields, body: language)
            }
        }
        let (first, cache) = try start()
        for language in ["de", "en"] { _ = try await first.text("a", fields: [.acceptLanguage: language]) }
        _ = try await first.text("moved")
        _ = try await first.text("empty")
        await cache.flush()
        let count = origin.count
        let (second, _) = try start()
        for language in ["de", "en", "de", "en"] {
            #expect(try await second.text("a", fields: [.acceptLanguage: language]) == language)
        }
        #expect(try await second.text("moved", fields: [.acceptLanguage: "en"]) == "en")
        #expect(try await second.response("empty").status == .noContent)
        #expect(origin.count == count)
    }

    // MARK: Accounts

    @Test("What belongs to nobody that another process can name stays in memory")
    func memoryOnly() async throws {
        struct Passing: RequestInterceptor {}
        let starts: [(HTTPDataRequestService, ResponseCache)] = [
            try start(over: origin.transport()), try start { $0.cookies = CookieJar() },
            try start { $0.interceptors = [Passing()] }, try start(),
        ]
        starts[3].0.setAuthorization(try .bearer("t"))
        for (number, (service, cache)) in starts.enumerated() {
            let text = try await service.text("a\(number)")
            #expect(try await service.text("a\(number)") == text)
            await cache.flush()
            #expect(files.isEmpty && cache.problems.count == 0, "\(number)")
        }
        #expect(origin.count == 4)
    }

    private func logIn(_ service: HTTPDataRequestService, _ account: String) throws {
        var credentials = try Credentials.bearer(account)
        credentials.account = EntityPartition(account)
        service.setAuthorization(credentials)
    }

    @Test("A named account finds its responses after a restart, and no other account does")
    func accounts() async throws {
        let (first, cache) = try start()
        try logIn(first, "ada")
        #expect(try await first.text("a") == "1")
        await cache.flush()
        let (second, _) = try start()
        #expect(try await second.text("a") == "2")
        try logIn(second, "bob")
        #expect(try await second.text("a") == "3")
        try logIn(second, "ada")
        #expect(try await second.text("a") == "1")
    }

    @Test("A logout removes the responses of the account from the files, and those of others stay")
    func logout() async throws {
        let (first, cache) = try start()
        for account in ["ada", "bob"] {
            try logIn(first, account)
            _ = try await first.text("a")
        }
        await cache.flush()
        #expect(files.count == 2)
        await first.clearAuthorization()
        #expect(files.count == 1)
        let (second, _) = try start()
        try logIn(second, "bob")
        #expect(try await second.text("a") == "3")
        try logIn(second, "ada")
        #expect(try await second.text("a") == "1")
    }

    @Test("A change by one process removes the responses of all accounts for another one")
    func invalidation() async throws {
        let (first, cache) = try start(.files)
        let (other, _) = try start(.files)
        for account in ["ada", "bob"] {
            try logIn(first, account)
            _ = try await first.text("a")
        }
        _ = try await first.text("b")
        await cache.flush()
        _ = try await other.send(.post("a", body: ["x": 1]))
        let count = origin.count
        for account in ["ada", "bob"] {
            try logIn(first, account)
            #expect(try await first.text("a") == "\(origin.count)")
        }
        #expect(origin.count == count + 2)
        #expect(try await first.response("b").cache?.outcome == .hit)
    }

    @Test("While one process validates, another one waits for the result and asks nobody")
    func lease() async throws {
        let (first, cache) = try start(.files)
        let (other, _) = try start(.files)
        _ = try await first.text("a")
        origin.clock.advance(by: .seconds(100))
        let gate = LoopbackGate()
        origin.answer { request in
            await gate.opened()
            return CacheOrigin.reply(to: request, tag: "\"2\"", [.cacheControl: "max-age=60"], body: "new")
        }
        let leading = Task { try await first.text("a") }
        await until { origin.count == 2 }
        let waiting = Task { try await other.text("a") }
        await origin.clock.waitForSleepers(count: 1)
        gate.open()
        #expect(try await leading.value == "new")
        await cache.flush()
        origin.clock.advance(by: .milliseconds(25))
        #expect(try await waiting.value == "new")
        #expect(origin.count == 2)
    }

    @Test("A validation does not wait for the one of another variant in its own process")
    func ownLease() async throws {
        let fields: HTTPFields = [.cacheControl: "max-age=60", .vary: "Accept-Language"]
        let gate = LoopbackGate()
        let isHeld = Mutex(false)
        origin.answer { request in
            let language = request.headerFields[.acceptLanguage] ?? ""
            if language == "en", isHeld.withLock({ $0 }) { await gate.opened() }
            return CacheOrigin.reply(to: request, tag: "\"\(language)\"", fields, body: language)
        }
        let (service, cache) = try start(.files)
        for language in ["en", "de"] { _ = try await service.text("a", fields: [.acceptLanguage: language]) }
        await cache.flush()
        origin.clock.advance(by: .seconds(100))
        isHeld.withLock { $0 = true }
        let leading = Task { try await service.text("a", fields: [.acceptLanguage: "en"]) }
        await until { origin.count == 3 }
        // The clock stands still, so a wait would not end.
        #expect(try await service.text("a", fields: [.acceptLanguage: "de"]) == "de")
        gate.open()
        #expect(try await leading.value == "en")
        #expect(origin.count == 4)
    }

    // MARK: Bodies

    @Test("Bodies of all sizes come back byte for byte, collected and streamed")
    func bodies() async throws {
        let sizes = [0, 1, (64 << 10) - 1, 64 << 10, (64 << 10) + 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 1_900_000]
        origin.answer { request in
            let size = Int(request.url.path.description.dropFirst()) ?? 0
            return .init(fields: [.cacheControl: "max-age=60"], body: Self.text(size))
        }
        let (first, cache) = try start()
        for (number, size) in sizes.enumerated() {
            _ = try await first.send(Self.request("\(size)", isStreamed: number % 2 == 0)).body.collect(upTo: 1 << 24)
        }
        await cache.flush()
        for kind in [CacheKind.files, .memoryAndFiles] {
            let (second, _) = try start(kind)
            for size in sizes {
                for isStreamed in [false, true, false] {
                    let response = try await second.send(Self.request("\(size)", isStreamed: isStreamed))
                    #expect(response.cache?.outcome == .hit, "\(size)")
                    let data = try await response.body.collect(upTo: 1 << 24)
                    #expect(data == Data(Self.text(size).utf8), "\(size)")
                }
            }
        }
        #expect(origin.count == sizes.count)
    }

    private static func text(_ size: Int) -> String {
        var bytes: [UInt8] = []
        for index in 0..<size {
            let letter: Int = (index * 7 + index / 1_000) % 90
            bytes.append(UInt8(letter + 33))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func request(_ path: String, isStreamed: Bool) -> DataRequest {
        var request = DataRequest(.get, path)
        request.expectedStatus = .any
        request.options.delivery = isStreamed ? .streamed : .collected(upTo: 1 << 24)
        return request
    }

    @Test("A range is read from the file of a body")
    func range() async throws {
        let text = Self.text(1_500_000)
        origin.answer { _ in .init(fields: [.cacheControl: "max-age=60"], body: text) }
        let (first, cache) = try start(.files)
        _ = try await first.send(Self.request("a", isStreamed: false))
        await cache.flush()
        let bytes = Array(text.utf8)
        for (field, expected) in [
            ("bytes=5-9", bytes[5...9]), ("bytes=1048570-1048580", bytes[1_048_570...1_048_580]),
            ("bytes=-3", bytes.suffix(3)),
        ] {
            let part = try await first.response("a", fields: [.range: field])
            #expect(part.status == .partialContent && Array(part.body.data ?? Data()) == Array(expected))
        }
        #expect(origin.count == 1)
    }

    // MARK: Damage

    /// Changes a byte of the only file whose name has an ending.
    private func damage(_ suffix: String, at position: Int) throws {
        let name = try #require(files.first { $0.hasSuffix(suffix) })
        let file = open(path + "/" + name, O_RDWR)
        defer { close(file) }
        var byte: UInt8 = 0
        #expect(pread(file, &byte, 1, off_t(position)) == 1)
        byte ^= 0x55
        #expect(pwrite(file, &byte, 1, off_t(position)) == 1)
    }

    @Test("A damaged response is fetched anew, whatever byte is damaged")
    func damagedHead() async throws {
        let (first, cache) = try start(.files)
        _ = try await first.text("a")
        await cache.flush()
        let size = try #require(try files.first.map { try FileStatus(of: path + "/" + $0).size })
        var count = origin.count
        for position in stride(from: 0, to: Int(size), by: 3) {
            try damage(".record", at: position)
            count += 1
            #expect(try await first.text("a") == "\(count)", "byte \(position)")
            await cache.flush()
        }
        #expect(cache.problems.count == 0 && origin.count == count)
    }

    @Test("A large body that is damaged in the middle is never served as a whole")
    func damagedBody() async throws {
        let text = Self.text(1_900_000)
        origin.answer { _ in .init(fields: [.cacheControl: "max-age=60"], body: text) }
        let (first, cache) = try start(.files)
        for isStreamed in [false, true] {
            _ = try await first.send(Self.request("a", isStreamed: false))
            await cache.flush()
            try damage(".body", at: 1_500_000)
            let count = origin.count
            let response = try await first.send(Self.request("a", isStreamed: isStreamed))
            if isStreamed {
                await #expect(throws: RequestFailure.self) { _ = try await response.body.collect(upTo: 1 << 24) }
                #expect(origin.count == count)
                #expect(try await first.send(Self.request("a", isStreamed: false)).text == text)
            } else {
                #expect(response.text == text)
            }
            #expect(origin.count == count + 1)
        }
    }

    @Test("A stored body that is removed while it is read is read to its end")
    func removedWhileRead() async throws {
        let text = Self.text(1_900_000)
        origin.answer { _ in .init(fields: [.cacheControl: "max-age=60"], body: text) }
        let (first, cache) = try start(.files)
        _ = try await first.send(Self.request("a", isStreamed: false))
        await cache.flush()
        let response = try await first.send(Self.request("a", isStreamed: true))
        await cache.removeAll()
        #expect(files.isEmpty)
        #expect(try await response.body.collect(upTo: 1 << 24) == Data(text.utf8))
    }

    // MARK: Trouble

    @Test("A directory that cannot be used is a failure when the cache is made")
    func unusable() throws {
        mkdir(scratch("open"), 0o777)
        chmod(scratch("open"), 0o777)
        mkdir(scratch("other"), 0o700)
        symlink(scratch("other"), scratch("link"))
        close(open(scratch("file"), O_CREAT | O_WRONLY, 0o600))
        for path in [scratch("open"), scratch("link"), scratch("file"), scratch("file") + "/x", "", "a\u{0}b"] {
            let failure = #expect(throws: RequestFailure.self) { _ = try ResponseCache(disk: .directory(path)) }
            #expect(failure?.reason == .file, "\(path)")
        }
        _ = try ResponseCache(disk: .directory(scratch("new/deep")))
        #expect(try FileStatus(of: scratch("new/deep")).permissions == 0o700)
    }

    @Test("A full disk stores nothing more and fails no request")
    func fullDisk() async throws {
        let isFull = Atomic<Bool>(false)
        var calls = FileCalls.system
        calls.fault = { kind, path in
            isFull.load(ordering: .relaxed) && kind == .write && !path.hasSuffix(".invalidations") ? ENOSPC : nil
        }
        let store = try DiskResponseStore(FileDirectory(absolute: path, calls: calls), bytes: 16 << 20)
        let cache = ResponseCache(memory: .bytes(0), external: store, limit: .seconds(30))
        let service = try origin.service(cache, over: TrustedStub(origin.transport()))
        for number in 0..<20 { _ = try await service.text("\(number)") }
        #expect(files.count == 20)
        isFull.store(true, ordering: .relaxed)
        #expect(try await service.text("x") == "21")
        #expect(files.count < 20 && cache.problems.count > 0)
        isFull.store(false, ordering: .relaxed)
        // Nothing is stored for a minute, and what is stored is found.
        #expect(try await service.text("x") == "22")
        #expect(try await service.text("x") == "23")
        #expect(files.allSatisfy { !$0.hasSuffix(".tmp") })
    }

    @Test("The files stay within the budget")
    func budget() async throws {
        let store = try DiskResponseStore(FileDirectory(path), bytes: 400_000)
        let cache = ResponseCache(memory: .bytes(0), external: store, limit: .seconds(30))
        let service = try origin.service(cache, over: TrustedStub(origin.transport()))
        origin.answer { _ in .init(fields: [.cacheControl: "max-age=60"], body: Self.text(9_000)) }
        for number in 0..<100 { _ = try await service.text("\(number)") }
        _ = try await service.send(Self.request("stream", isStreamed: true)).body.collect(upTo: 1 << 20)
        var bytes = 0
        for name in files { bytes += (Int(try FileStatus(of: path + "/" + name).size) + 4_095) / 4_096 * 4_096 }
        #expect(bytes <= 400_000 && files.count > 20)
        let usage = await cache.usage
        #expect(usage.externalBytes <= 400_000 && usage.externalResponses == files.count)
        origin.answer { _ in .init(fields: [.cacheControl: "max-age=60"], body: Self.text(60_000)) }
        _ = try await service.text("large")
        #expect(try await service.response("large").cache?.outcome == .missed)
    }

    @Test("The names of the files say nothing, and the secrets of requests are not in them")
    func secrets() async throws {
        let (service, cache) = try start(.files)
        let key = try #require(HTTPField.Name("X-Api-Key"))
        _ = try await service.text("path", fields: [key: "s3cret-value"])
        await cache.flush()
        for name in files {
            #expect(!name.contains("path"))
            let bytes = try FileDirectory(path).read(name, upTo: 1 << 20)
            guard case .bytes(let content) = bytes else {
                Issue.record("\(name) cannot be read.")
                continue
            }
            #expect(!String(decoding: content, as: UTF8.self).contains("s3cret-value"))
        }
        // Also if they select the response.
        origin.answer { _ in .init(fields: [.cacheControl: "max-age=60", .vary: "X-Api-Key, X-Other"], body: "1") }
        let second = try #require(HTTPField.Name("X-Other"))
        for _ in 0..<2 { _ = try await service.text("vary", fields: [key: "s3cret-value", second: "shown"]) }
        await cache.flush()
        var isShown = false
        for name in files {
            guard case .bytes(let content) = try FileDirectory(path).read(name, upTo: 1 << 20) else { continue }
            let text = String(decoding: content, as: UTF8.self)
            #expect(!text.contains("s3cret-value"))
            isShown = isShown || text.contains("shown")
        }
        #expect(isShown && origin.count == 2)
        origin.answer { _ in .init(fields: [.cacheControl: "max-age=60"], body: "2") }
        // Another key is another partition, also after a restart.
        let (other, _) = try start(.files)
        #expect(try await other.text("path", fields: [key: "other"]) == "2")
        #expect(try await other.text("path", fields: [key: "s3cret-value"]) == "1")
    }
}

extension FileDirectory {
    fileprivate var names: [String] { (try? names(upTo: .max)) ?? [] }
}

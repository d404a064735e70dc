import EssentialsHTTP
import EssentialsStorage
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsRequests

/// The suite for stores, with each store of the package.
@Suite("Stores for responses", .timeLimit(.minutes(5)))
struct ResponseStoreTests {
    private let scratch: ScratchDirectory

    init() throws { scratch = try ScratchDirectory() }

    @Test("The memory conforms", arguments: [false, true])
    func memory(keepsAll: Bool) async {
        let violations = await ResponseStoreConformance.check {
            MemoryResponseStore(bytes: 64 << 20, keepsAll: keepsAll)
        }
        #expect(violations == [])
    }

    @Test("Files conform, also after a restart")
    func files() async throws {
        let scratch = scratch
        let violations = await ResponseStoreConformance.check {
            let path = scratch(.randomAlphanumeric(16))
            return try DiskResponseStore(FileDirectory(path), bytes: 16 << 20)
        }
        #expect(violations == [])
        let restart = await ResponseStoreConformance.checkRestart {
            try DiskResponseStore(FileDirectory(scratch("restart")), bytes: 16 << 20)
        }
        #expect(restart == [])
    }

    @Test("Memory and files together conform, also after a restart", arguments: [0, 64 << 10, 64 << 20])
    func tiers(memory: Int) async throws {
        let scratch = scratch
        let make = { @Sendable (name: String) throws -> any ResponseStore in
            let files = try DiskResponseStore(FileDirectory(scratch(name)), bytes: 16 << 20)
            return ResponseCache(memory: .bytes(memory), external: files, limit: .seconds(30)).store
        }
        let violations = await ResponseStoreConformance.check {
            try make(.randomAlphanumeric(16))
        }
        #expect(violations == [])
        let restart = await ResponseStoreConformance.checkRestart { try make("restart") }
        #expect(restart == [])
    }

    @Test("A scripted store conforms as long as it works")
    func scripted() async {
        let violations = await ResponseStoreConformance.check { ScriptedStore() }
        #expect(violations == [])
        let limited = await ResponseStoreConformance.check {
            LimitedResponseStore(ScriptedStore(), limit: .seconds(30))
        }
        #expect(limited == [])
    }

    @Test("The suite finds what a store does wrong", arguments: ScriptedStore.Call.allCases)
    func violations(call: ScriptedStore.Call) async {
        // What these do cannot be told from outside.
        guard ![.usage, .close].contains(call) else { return }
        let violations = await ResponseStoreConformance.check {
            let store = ScriptedStore()
            store.behave(call == .lease ? .fails : .lies, in: call)
            return store
        }
        #expect(!violations.isEmpty)
    }

    @Test("A response that replaces an older and a newer one is not stored", arguments: CacheKind.allCases)
    func newer(kind: CacheKind) async throws {
        let store = try kind.cache(scratch("cache")).store
        let key = try key()
        let put = { (response: StoredResponse, replaced: UInt64?) in
            guard let ticket = await store.ticket(for: key) else { return false }
            return await store.store(response, Data("x".utf8), for: key, replacing: replaced, since: ticket)
        }
        #expect(await put(.sample(load: 1, body: 1, language: "en"), nil))
        #expect(await put(.sample(load: 10, body: 10, language: "de"), nil))
        // The response to the English request came late, and is German.
        #expect(await !put(.sample(load: 5, body: 5, language: "de"), 1))
        for _ in 0..<2 { #expect(await store.lookup(key).responses.map(\.load).sorted() == [1, 10]) }
    }

    // MARK: Bytes

    private func key(_ text: String = "https://h/a") throws -> ResponseKey {
        .sample(try RequestURL(text), account: "ada")
    }

    @Test("A stored head is read as it was written, and only for its key")
    func bytes() throws {
        let key = try key()
        let name = try #require(HTTPField.Name("X-Bytes"))
        let member = VarySelection.Member(name: .acceptLanguage, value: nil)
        let other = VarySelection.Member(name: .accept, value: "a, b")
        let boots: [BootTime?] = [nil, BootTime(boot: "b-1", elapsed: .nanoseconds(1_234_567_890_123))]
        for (boot, isOutdated) in zip(boots, [false, true]) {
            let head = StoredHead(
                status: .init(code: 299, reasonPhrase: ""),
                fields: [.cacheControl: "max-age=5", name: "ä", .setCookie: "a=b", .vary: "accept"],
                selection: VarySelection([member, other]), age: .milliseconds(2_500),
                moment: CacheMoment(date: Date(timeIntervalSinceReferenceDate: 8e8 + 0.25), boot: boot),
                isUnpacked: isOutdated, options: CacheOptions(), isOutdated: isOutdated)
            let response = StoredResponse(
                head: head, identity: .init(load: 7, body: 9), isPersonal: isOutdated)
            let bytes = response.bytes(for: key)
            let read = try #require(StoredResponse(bytes: bytes, for: key))
            #expect(read.head == head && read.head.selection == head.selection && read.head.fields == head.fields)
            #expect(read.identity == response.identity && read.isPersonal == isOutdated)
            #expect(read.head.isOutdated == isOutdated && read.bytes(for: key) == bytes)
            #expect(StoredResponse(bytes: bytes, for: try self.key("https://h/b")) == nil)
            #expect(StoredResponse(bytes: bytes, for: .sample(key.url)) == nil)
        }
    }

    @Test("Damaged heads are refused or read, and never end the program")
    func damagedBytes() throws {
        let key = try key()
        let bytes = StoredResponse.sample(load: 1, body: 2, language: "de").bytes(for: key)
        for count in 0..<bytes.count { #expect(StoredResponse(bytes: Array(bytes[..<count]), for: key) == nil) }
        #expect(StoredResponse(bytes: bytes + [0], for: key) == nil)
        for value in [UInt8(0x7f), 0x80, 0xff] {
            for index in bytes.indices {
                var changed = bytes
                changed[index] = value
                _ = StoredResponse(bytes: changed, for: key)?.head.timeLeft(at: RequestClock.system.moment)
            }
        }
        var numbers = SeededNumbers(state: 3)
        for index in bytes.indices {
            for _ in 0..<8 {
                var changed = bytes
                changed[index] = UInt8(truncatingIfNeeded: numbers.next())
                _ = StoredResponse(bytes: changed, for: key)?.head.timeLeft(at: RequestClock.system.moment)
            }
        }
    }

    @Test("The next number is greater than that of another process whose clock is ahead; one that cannot be is refused")
    func numbers() throws {
        let key = try key()
        let future = ResponseNumber.next() + 3_600_000_000_000
        let response = StoredResponse.sample(load: future, body: 1)
        let read = try #require(StoredResponse(bytes: response.bytes(for: key), for: key))
        #expect(read.load == future && ResponseNumber.next() > future)
        let damaged = StoredResponse.sample(load: .max, body: 1)
        #expect(StoredResponse(bytes: damaged.bytes(for: key), for: key) == nil)
        let some = (0..<1_000).map { _ in ResponseNumber.next() }
        #expect(some == some.sorted() && Set(some).count == 1_000)
    }
}

import EssentialsHTTP
import EssentialsStorage
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Glibc
import Testing

@testable import EssentialsRequests

@Suite("Token stores", .timeLimit(.minutes(5)))
struct TokenStoreTests {
    /// A directory that is removed with the value.
    private final class Directory {
        let path: String

        init() throws {
            path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        var file: String { path + "/tokens.json" }
        var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() } }

        func write(_ text: String, mode: mode_t = 0o600) throws {
            try Data(text.utf8).write(to: URL(filePath: file))
            #expect(chmod(file, mode) == 0)
        }
    }

    private static let tokens = StoredTokens(
        accessToken: "a", expiresAt: Date(timeIntervalSince1970: 1_700_000_000.25), refreshToken: "r")

    /// Runs many updates that each append a letter after suspending.
    private func contend(_ stores: [any TokenStore]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<40 {
                group.addTask {
                    try await stores[index % stores.count].update { old in
                        await Task.yield()
                        return StoredTokens(refreshToken: (old?.refreshToken ?? "") + "x")
                    }
                }
            }
            try await group.waitForAll()
        }
        let last = try await stores[0].update { $0 }
        #expect(last?.refreshToken == String(repeating: "x", count: 40))
    }

    // MARK: Memory

    @Test("Updates of a store in memory do not overlap")
    func memory() async throws {
        try await contend([MemoryTokenStore()])
        let store = MemoryTokenStore(Self.tokens)
        #expect(try await store.update { $0 } == Self.tokens)
        await #expect(throws: ProviderFault.self) { try await store.update { _ in throw ProviderFault() } }
        #expect(try await store.update { $0 } == Self.tokens)
        #expect(try await store.update { _ in nil } == nil)
        #expect(try await store.update { $0 } == nil)
    }

    @Test("An update that waits for another one can be cancelled")
    func cancelledWait() async throws {
        let (begun, gate) = (LoopbackGate(), LoopbackGate())
        let store = MemoryTokenStore()
        let first = Task {
            try await store.update { _ in
                begun.open()
                await gate.opened()
                return Self.tokens
            }
        }
        await begun.opened()
        let second = Task { try await store.update { _ in nil } }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        gate.open()
        _ = try await first.value
        #expect(try await store.update { $0 } == Self.tokens)
    }

    @Test("At most 1,000 updates wait")
    func full() async throws {
        let (begun, gate) = (LoopbackGate(), LoopbackGate())
        let queue = UpdateQueue()
        let first = Task {
            try await queue.run {
                begun.open()
                await gate.opened()
            }
        }
        await begun.opened()
        let others = (0..<1_001).map { _ in Task { try await queue.run {} } }
        let refused = await withTaskGroup(of: Bool.self) { group in
            for task in others {
                group.addTask {
                    guard case .failure(let error) = await task.result else { return false }
                    gate.open()
                    return (error as? RequestFailure)?.reason == .queueFull
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(refused == 1)
        try await first.value
    }

    // MARK: File

    @Test("Tokens are kept in a file that only its owner can read")
    func file() async throws {
        let directory = try Directory()
        let store = try FileTokenStore(directory.file)
        #expect(try await store.update { $0 } == nil)
        #expect(try directory.names == ["tokens.json.lock"])
        #expect(try await store.update { _ in Self.tokens } == Self.tokens)
        var facts = stat()
        for path in [directory.file, directory.file + ".lock"] {
            #expect(stat(path, &facts) == 0)
            #expect(facts.st_mode & 0o777 == 0o600)
        }
        #expect(try await FileTokenStore(directory.file).update { $0 } == Self.tokens)
        #expect(try directory.names == ["tokens.json", "tokens.json.lock"])
        try await store.update { _ in nil }
        #expect(try directory.names == ["tokens.json.lock"])
    }

    @Test("The temporary file of a killed process is removed by the next update that writes")
    func leftovers() async throws {
        let directory = try Directory()
        try Data("x".utf8).write(to: URL(filePath: directory.path + "/.tokens.json.12ab.part"))
        let store = try FileTokenStore(directory.file)
        try await store.update { _ in Self.tokens }
        #expect(try directory.names == ["tokens.json", "tokens.json.lock"])
    }

    @Test("An update that fails leaves the file as it was")
    func failing() async throws {
        let directory = try Directory()
        let store = try FileTokenStore(directory.file)
        try await store.update { _ in Self.tokens }
        await #expect(throws: ProviderFault.self) { try await store.update { _ in throw ProviderFault() } }
        #expect(try await store.update { $0 } == Self.tokens)
    }

    @Test("Updates of two stores with the same file do not overlap")
    func twoStores() async throws {
        let directory = try Directory()
        try await contend([try FileTokenStore(directory.file), try FileTokenStore(directory.file)])
        #expect(try directory.names == ["tokens.json", "tokens.json.lock"])
    }

    @Test("An update waits for the lock of another process, at most a minute")
    func locked() async throws {
        let directory = try Directory()
        let other = try OpenFile(directory.file + ".lock", O_RDWR | O_CREAT, mode: 0o600)
        #expect(try other.lock(withoutLocks: true))
        let clock = ManualClock()
        let store = try FileTokenStore(directory.file, clock: clock.requestClock)
        let task = Task { try await store.update { _ in Self.tokens } }
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(60))
        let failure = await #expect(throws: RequestFailure.self) { try await task.value }
        #expect(failure?.reason == .file)
        #expect(failure?.message.contains("was locked for 60.0 seconds") == true)
        let cancelled = Task { try await store.update { _ in Self.tokens } }
        await clock.waitForSleepers(count: 1)
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(try directory.names == ["tokens.json.lock"])
    }

    @Test("The tokens of the largest response fit into the file, also if each of their characters is escaped")
    func largest() async throws {
        let directory = try Directory()
        let tokens = StoredTokens(
            accessToken: String(repeating: "/", count: OAuth2Rules.maximumToken),
            refreshToken: String(repeating: "\u{1}", count: OAuth2Rules.maximumBody))
        try await FileTokenStore(directory.file).update { _ in tokens }
        #expect(try await FileTokenStore(directory.file).update { $0 } == tokens)
    }

    @Test("A file that others can read or write is refused", arguments: [0o644, 0o660, 0o602] as [mode_t])
    func readable(mode: mode_t) async throws {
        let directory = try Directory()
        try directory.write("{}", mode: mode)
        let failure = await #expect(throws: RequestFailure.self) {
            try await FileTokenStore(directory.file).update { _ in Self.tokens }
        }
        #expect(failure?.reason == .file)
        #expect(failure?.remedy?.contains("600") == true)
        #expect(try String(decoding: Data(contentsOf: URL(filePath: directory.file)), as: UTF8.self) == "{}")
    }

    @Test("A symbolic link, a second name and a directory are refused", arguments: 0..<5)
    func links(kind: Int) async throws {
        let directory = try Directory()
        let other = directory.path + "/other"
        try Data("{}".utf8).write(to: URL(filePath: other))
        #expect(chmod(other, 0o600) == 0)
        switch kind {
        case 0: #expect(symlink(other, directory.file) == 0)
        case 1: #expect(link(other, directory.file) == 0)
        case 2: #expect(mkdir(directory.file, 0o700) == 0)
        case 3: #expect(symlink(other, directory.file + ".lock") == 0)
        default: #expect(mkfifo(directory.file, 0o600) == 0)
        }
        let failure = await #expect(throws: RequestFailure.self) {
            try await FileTokenStore(directory.file).update { _ in Self.tokens }
        }
        #expect(failure?.reason == .file)
        #expect(try String(decoding: Data(contentsOf: URL(filePath: other)), as: UTF8.self) == "{}")
    }

    @Test(
        "A damaged file is refused without being shown",
        arguments: [
            "", "s3cret", "[]", #"{"access_token":7}"#, #"{"refresh_token":7,"expires_at":1}"#,
            String(repeating: " ", count: 140_000),
        ])
    func damaged(text: String) async throws {
        let directory = try Directory()
        try directory.write(text)
        let failure = await #expect(throws: RequestFailure.self) {
            try await FileTokenStore(directory.file).update { $0 }
        }
        #expect(failure?.reason == .file)
        #expect(failure?.description.contains("s3cret") == false)
    }

    @Test(
        "A field of the file that cannot be read costs only itself",
        arguments: [
            (#"{"access_token":7,"expires_at":1,"refresh_token":"r"}"#, nil, 1, "r"),
            (#"{"access_token":"a","expires_at":"soon","refresh_token":"r"}"#, "a", nil, "r"),
            (#"{"access_token":"a","expires_at":1e999,"refresh_token":"r"}"#, "a", nil, "r"),
            (#"{"access_token":"a","expires_at":1,"refresh_token":{}}"#, "a", 1, nil),
            (#"{"access_token":"a","expires_at":null,"other":[7]}"#, "a", nil, nil),
        ] as [(String, String?, Double?, String?)])
    func oneBadField(text: String, access: String?, seconds: Double?, refresh: String?) async throws {
        let directory = try Directory()
        try directory.write(text)
        let tokens = try await FileTokenStore(directory.file).update { $0 }
        let date = seconds.map { Date(timeIntervalSince1970: $0) }
        #expect(tokens == StoredTokens(accessToken: access, expiresAt: date, refreshToken: refresh))
    }

    @Test("Tokens of the greatest length fit the file, also if each character is escaped")
    func longTokens() async throws {
        let directory = try Directory()
        let tokens = StoredTokens(
            accessToken: String(repeating: "/", count: OAuth2Rules.maximumToken), expiresAt: nil,
            refreshToken: String(repeating: "\u{1}", count: OAuth2Rules.maximumToken))
        try await FileTokenStore(directory.file).update { _ in tokens }
        #expect(try await FileTokenStore(directory.file).update { $0 } == tokens)
    }

    @Test("An expiry date outside all calendars does no harm")
    func date() async throws {
        let directory = try Directory()
        try directory.write(#"{"access_token":"a","expires_at":1e300}"#)
        let tokens = try await FileTokenStore(directory.file).update { $0 }
        #expect(tokens?.accessToken == "a")
        let provider = OAuth2Tokens(
            try OAuth2Tokens.Configuration(endpoint: "https://a.example/", clientID: "a", clientSecret: "b"),
            transport: StubTransport(), store: MemoryTokenStore(tokens))
        #expect(try await provider.token(replacing: nil).expiresIn == .seconds(1e9))
    }

    @Test("A missing directory and an empty path are explained")
    func missing() async throws {
        let directory = try Directory()
        let failure = await #expect(throws: RequestFailure.self) {
            try await FileTokenStore(directory.path + "/none/tokens").update { $0 }
        }
        #expect(failure?.reason == .file)
        #expect(failure?.remedy == "Create the directory of the file.")
        #expect(throws: RequestFailure.self) { try FileTokenStore("") }
    }
}

import EssentialsCurl
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import EssentialsTransport
import FoundationEssentials
import Glibc
import TestTools
import Testing

@testable import EssentialsRedis

@Suite("A Redis client", .timeLimit(.minutes(5)))
struct RedisClientTests {
    private static func client(
        _ url: String, application: String = "films", configure: (inout RedisClient.Configuration) -> Void = { _ in }
    ) throws(RequestFailure) -> RedisClient {
        var configuration = RedisClient.Configuration()
        configure(&configuration)
        return try RedisClient(url, application: application, over: ScriptedServer(), configuration: configuration)
    }

    @Test(
        "An address that is malformed is refused",
        arguments: [
            "", "localhost", "http://localhost", "redis://", "redis://a b", "redis://localhost:x",
            "redis://localhost/1",
            "redis://pw@localhost", "redis://a:%zz@localhost", "redis://localhost:0", "redis://[::1",
            "redis://localhost?db=1", "redis://localhost:1#x",
        ])
    func address(url: String) throws {
        let failure = #expect(throws: RequestFailure.self) { try Self.client(url) }
        #expect(failure?.reason == .invalidRequest)
        #expect(failure?.remedy?.contains("rediss://") == true)
    }

    @Test("An address has a port and credentials, or not")
    func parts() throws {
        #expect(try RedisAddress("redis://localhost").origin.port == 6_379)
        #expect(try RedisAddress("REDISS://cache.example/0").origin.description == "https://cache.example:6379")
        let whole = try RedisAddress("redis://ada:p%40ss:word@[::1]:7000/")
        #expect(whole.origin.description == "http://[::1]:7000")
        #expect(whole.credentials == RedisCredentials(user: "ada", password: "p@ss:word"))
        #expect(try RedisAddress("redis://:x@[::1]").credentials == RedisCredentials(password: "x"))
        #expect("\(whole.credentials!)".contains("word") == false)
    }

    @Test("A connection to another machine is not made without encryption, unless it is allowed")
    func plaintext() throws {
        let failure = #expect(throws: RequestFailure.self) { try Self.client("redis://cache.example") }
        #expect(failure?.reason == .plaintextRefused)
        for url in ["redis://127.0.0.1", "redis://[::1]", "redis://localhost", "rediss://cache.example"] {
            _ = try Self.client(url)
        }
        _ = try Self.client("redis://cache.example") { $0.allowsPlaintext = true }
    }

    @Test("A name that would make keys unclear is refused", arguments: ["", "a:b", "{a}", "a*", "ä", "a b"])
    func application(name: String) {
        var failure = #expect(throws: RequestFailure.self) { try Self.client("redis://localhost", application: name) }
        #expect(failure?.reason == .invalidRequest)
        failure = #expect(throws: RequestFailure.self) { try RedisClient.accessRules(application: name) }
        #expect(failure?.reason == .invalidRequest)
        failure = #expect(throws: RequestFailure.self) { try Self.client("redis://localhost") { $0.name = name } }
        #expect(failure?.reason == .invalidRequest)
    }

    @Test("A client that cannot connect says why", .enabled(if: RedisServer.isThere))
    func connect() async throws {
        let server = try await RedisServer(["--requirepass", "secret"])
        let wrong = try server.client()
        var failure = await #expect(throws: RequestFailure.self) { try await wrong.connect() }
        #expect(failure?.reason == .authorization, "\(String(describing: failure))")
        let asked = Atomic<Int>(0)
        let right = try server.client {
            $0.credentials = {
                asked.add(1, ordering: .relaxed)
                return RedisCredentials(password: "secret")
            }
        }
        try await right.connect()
        #expect(right.health.isConnected)
        #expect(asked.load(ordering: .relaxed) == 2)
        try await server.client("test", "redis://:secret@127.0.0.1:\(server.port)").connect()
        let failing = try server.client { $0.credentials = { throw RequestFailure(.file, "no file") } }
        failure = await #expect(throws: RequestFailure.self) { try await failing.connect() }
        #expect(failure?.reason == .authorization)
        right.close()
        failure = await #expect(throws: RequestFailure.self) { try await right.connect() }
        #expect(failure?.reason == .closed)
        server.stop()
        failure = await #expect(throws: RequestFailure.self) { try await server.client().connect() }
        #expect(failure?.reason == .connection)
    }

    @Test("A server that does not speak RESP3 is refused")
    func oldServer() async throws {
        let server = ScriptedServer { _ in "-ERR unknown command `HELLO`, with args beginning with: `3`\r\n" }
        let client = try RedisClient("redis://localhost", application: "films", over: server)
        let failure = await #expect(throws: RequestFailure.self) { try await client.connect() }
        #expect(failure?.reason == .protocolViolation)
        #expect(failure?.remedy == "Use Redis 6.2 or later, or Valkey.")
    }

    @Test("A server that says something, but does not accept the client, is given up")
    func trickle() async throws {
        let server = ScriptedServer { _ in ">1\r\n+message\r\n" }
        var configuration = RedisClient.Configuration()
        configuration.connectTimeout = .milliseconds(100)
        let client = try RedisClient(
            "redis://localhost", application: "films", over: server, configuration: configuration)
        let failure = await #expect(throws: RequestFailure.self) { try await client.connect() }
        #expect(failure?.message.contains("has not accepted the client") == true)
    }

    @Test("A change that is sent again has another number, so that it undoes nothing")
    func repeatedChange() async throws {
        let commands = Mutex<[String]>([])
        let server = ScriptedServer { command in
            guard command.contains(":e\r\n") else { return "+OK\r\n" }
            return commands.withLock { commands in
                commands.append(command)
                return commands.count < 3 ? "-LOADING\r\n" : "+OK\r\n"
            }
        }
        let client = try RedisClient("redis://localhost", application: "films", over: server)
        await RedisResponseStore(client).invalidate(try RequestURL("https://one.example/a"))
        #expect(Set(commands.withLock { $0 }).count == 3)
    }

    @Test("A server that would refuse most commands is refused", .enabled(if: RedisServer.isThere))
    func unusable() async throws {
        let node = try await RedisServer(["--cluster-enabled", "yes"])
        var failure = await #expect(throws: RequestFailure.self) { try await node.client().connect() }
        #expect(failure?.message.contains("is part of a cluster") == true)
        let primary = try await RedisServer()
        let replica = try await RedisServer(["--replicaof", "127.0.0.1", "\(primary.port)"])
        failure = await #expect(throws: RequestFailure.self) { try await replica.client().connect() }
        #expect(failure?.message.contains("is a replica") == true)
    }

    @Test("A report says what the server is, and what it refuses", .enabled(if: RedisServer.isThere))
    func report() async throws {
        let server = try await RedisServer()
        let redis = try server.client("films")
        let report = try await redis.report()
        print(report.software, report.roundTrip, report.refusedCommands)
        #expect(report.software.hasPrefix("redis "))
        #expect(report.roundTrip > .zero)
        #expect(report.refusedCommands == [])
        #expect(report.trackedKeys != nil)
        #expect(try await server.run("KEYS", "*check*") == .array([]))
        let rules = try RedisClient.accessRules(application: "films").split(separator: " ").map(String.init)
        try await server.run(["ACL", "SETUSER", "some", "on", ">secret"] + rules + ["-scan", "-evalsha"])
        let some = try server.client("films") {
            $0.credentials = { RedisCredentials(user: "some", password: "secret") }
        }
        let restricted = try await some.report()
        #expect(restricted.refusedCommands == ["scan", "evalsha"])
        #expect(restricted.trackedKeys != nil)
        redis.close()
        let failure = await #expect(throws: RequestFailure.self) { try await redis.report() }
        #expect(failure?.reason == .closed)
    }

    // MARK: A server that goes away

    private static func key(_ path: String = "a") throws -> ResponseKey {
        ResponseKey.sample(try RequestURL("https://one.example/\(path)"))
    }

    private static func put(_ key: ResponseKey, load: UInt64 = 1, in store: RedisResponseStore) async -> Bool {
        guard let ticket = await store.ticket(for: key) else { return false }
        return await store.store(.sample(load: load, body: load), Data(), for: key, replacing: nil, since: ticket)
    }

    @Test(
        "After each kind of lost connection the memory is empty, and the client connects again",
        .enabled(if: RedisServer.isThere), arguments: ["killed", "restarted", "silent", "forgotten"])
    func lost(kind: String) async throws {
        let server = try await RedisServer()
        let client = try server.client()
        let store = RedisResponseStore(client)
        let key = try Self.key()
        #expect(await Self.put(key, in: store))
        #expect(await store.lookup(key).responses.count == 1)
        #expect(client.health.memory.values > 0)
        switch kind {
        case "killed": try await server.run("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        case "restarted":
            server.stop()
            try await server.start()
        case "silent": server.send(signal: SIGSTOP)
        default: try await server.run("FLUSHALL")
        }
        #expect(try await eventually { client.health.memory.values == 0 })
        server.send(signal: SIGCONT)
        #expect(try await eventually { await Self.put(key, load: 2, in: store) })
        #expect(try await eventually { await store.lookup(key).responses.map(\.load) == [2] })
    }

    @Test(
        "A server that has lost an invalidation gives back nothing that was invalidated",
        .enabled(if: RedisServer.isThere))
    func snapshot() async throws {
        let server = try await RedisServer()
        let client = try server.client()
        let store = RedisResponseStore(client)
        let (key, other) = (try Self.key(), try Self.key("b"))
        #expect(await Self.put(key, in: store))
        #expect(await Self.put(other, in: store))
        try await server.run("SAVE")
        await store.invalidate(key.url)
        await store.remove(in: ResponseScope(origin: other.url.origin))
        server.stop()
        try await server.start()
        let names = try await server.run("KEYS", "es:test:c:*")
        guard case .array(let found) = names, found.count == 4 else { return _ = Issue.record("\(names)") }
        #expect(try await eventually { client.health.isConnected })
        for key in [key, other] { #expect(await store.lookup(key).responses.isEmpty) }
        #expect(await Self.put(key, load: 2, in: store))
        #expect(await store.lookup(key).responses.map(\.load) == [2])
    }

    @Test("A server that becomes a replica is not used any longer", .enabled(if: RedisServer.isThere))
    func demotion() async throws {
        let (server, primary) = (try await RedisServer(), try await RedisServer())
        let client = try server.client()
        let store = RedisResponseStore(client)
        let key = try Self.key()
        #expect(await Self.put(key, in: store))
        #expect(await store.lookup(key).responses.count == 1)
        try await server.run("REPLICAOF", "127.0.0.1", "\(primary.port)")
        #expect(try await eventually { client.health.failure?.message.contains("replica") == true })
        #expect(try await eventually { await store.lookup(key).responses.isEmpty })
        #expect(client.health.memory.values == 0)
    }

    @Test(
        "An invalidation is kept while the server is away, and written when it is back",
        .enabled(if: RedisServer.isThere))
    func keptInvalidation() async throws {
        let server = try await RedisServer()
        let client = try server.client()
        let store = RedisResponseStore(client)
        let key = try Self.key()
        #expect(await Self.put(key, in: store))
        server.stop()
        let invalidation = Task { await store.invalidate(key.url) }
        #expect(try await eventually { client.health.waitingChanges == 1 })
        try await Task.sleep(for: .milliseconds(200))
        #expect(client.health.waitingChanges == 1)
        #expect(await store.lookup(key).responses.isEmpty)
        try await server.start()
        await invalidation.value
        #expect(client.health.waitingChanges == 0)
        client.close()
        // A client that is closed has nothing to wait for.
        await store.invalidate(key.url)
        #expect(await store.lookup(key).responses.isEmpty)
        #expect(!(await Self.put(key, load: 2, in: store)))
    }

    @Test(
        "Requests succeed while the server hangs, and none waits longer than for one look",
        .enabled(if: RedisServer.isThere))
    func hanging() async throws {
        let server = try await RedisServer()
        let client = try server.client { $0.timeLimit = .milliseconds(2) }
        let cache = ResponseCache(store: RedisResponseStore(client))
        let origin = try LoopbackServer { _ in .response(headers: [("Cache-Control", "max-age=60")], body: "M") }
        var configuration = HTTPDataRequestService.Configuration()
        configuration.cache = cache
        let requests = HTTPDataRequestService(
            environment: try ConstantEnvironment(origin.url), transport: try CurlTransport(trust: .system),
            configuration: configuration)
        try await client.connect()
        _ = try await requests.send(DataRequest(.get, "films"))
        server.send(signal: SIGSTOP)
        var times: [Duration] = []
        for _ in 0..<200 {
            let start = ContinuousClock.now
            _ = try await requests.send(DataRequest(.get, "films"))
            times.append(.now - start)
        }
        times.sort()
        print("with a server that hangs: median \(times[100]), 99 % \(times[198]), longest \(times[199])")
        // The wait of a request is limited, not that of this machine for a processor.
        #expect(times[100] < .milliseconds(100))
        server.send(signal: SIGCONT)
        #expect(origin.requestCount >= 200)
        #expect(
            try await eventually {
                let before = origin.requestCount
                _ = try await requests.send(DataRequest(.get, "films"))
                return origin.requestCount == before
            })
    }
}

import EssentialsCurl
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import EssentialsTransport
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsRedis

@Suite("The store for responses in Redis", .timeLimit(.minutes(5)), .enabled(if: RedisServer.isThere))
struct RedisResponseStoreTests {
    @Test("It keeps what a response cache expects of a store")
    func conformance() async throws {
        let server = try await RedisServer()
        let number = Atomic<Int>(0)
        let violations = await ResponseStoreConformance.check {
            let name = "app\(number.add(1, ordering: .relaxed).newValue)"
            return RedisResponseStore(try server.client(name))
        }
        #expect(violations == [])
    }

    @Test("A user with the documented rules of access may do all that a store does")
    func access() async throws {
        let server = try await RedisServer()
        let number = Atomic<Int>(0)
        let violations = await ResponseStoreConformance.check {
            let name = "app\(number.add(1, ordering: .relaxed).newValue)"
            let rules = try RedisClient.accessRules(application: name).split(separator: " ").map(String.init)
            try await server.run(["ACL", "SETUSER", name, "on", ">secret"] + rules)
            return RedisResponseStore(
                try server.client(name) { $0.credentials = { RedisCredentials(user: name, password: "secret") } })
        }
        #expect(violations == [])
        // The keys of another application are refused.
        let thief = try server.client("app2") {
            $0.credentials = { RedisCredentials(user: "app1", password: "secret") }
        }
        let failure = await #expect(throws: RequestFailure.self) { try await thief.connect() }
        #expect(failure?.reason == .authorization)
        #expect(failure?.message.contains("NOPERM") == true)
    }

    @Test("Over TLS, the pins of the policy decide whether the server is used", arguments: ["right", "wrong", "none"])
    func pins(kind: String) async throws {
        let port = RedisServer.freePort()
        func file(_ name: String) -> String { "\(Self.certificates)/\(name)" }
        let server = try await RedisServer([
            "--tls-port", "\(port)", "--tls-cert-file", file("leaf.chain.pem"), "--tls-key-file", file("leaf.key"),
            "--tls-ca-cert-file", file("root.pem"), "--tls-auth-clients", "no",
        ])
        let pinned = try Data(contentsOf: URL(filePath: file(kind == "wrong" ? "rogue-leaf.pem" : "leaf.pem")))
        let certificate = try TestCertificate(
            certificatePEM: String(decoding: pinned, as: UTF8.self), privateKeyPEM: "")
        let pins = try PinSet([.publicKey(certificate.publicKeyPin)], acceptsSinglePin: true)
        let policy = try TrustPolicy(
            hosts: kind == "none" ? [] : [HostRule("pin.test", pins: pins)],
            anchors: .only([PEM(contentsOfFile: file("root.pem"))]))
        var configuration = CurlTransport.Configuration()
        configuration.addressOverrides = [
            try .init(host: HostName("pin.test"), port: port, address: HostName("127.0.0.1"))
        ]
        let client = try server.client(
            "test", "rediss://pin.test:\(port)",
            over: CurlTransport(trust: policy, configuration: configuration))
        if kind == "wrong" {
            let failure = await #expect(throws: RequestFailure.self) { try await client.connect() }
            #expect(failure?.reason == .pinMismatch)
            return
        }
        try await client.connect()
        let store = RedisResponseStore(client)
        let key = ResponseKey.sample(try RequestURL("https://one.example/a"))
        let ticket = try #require(await store.ticket(for: key))
        let body = Data(count: 900_000)
        #expect(await store.store(.sample(load: 1, body: 1), body, for: key, replacing: nil, since: ticket))
        let found = try #require(await store.lookup(key).responses.first)
        #expect(await store.body(of: found, for: key)?.all() == body)
    }

    @Test("A Unix-domain socket of the transport leads to the server")
    func socket() async throws {
        let server = try await RedisServer()
        var configuration = CurlTransport.Configuration()
        configuration.unixSocket = server.scratch("redis.sock")
        let transport = try CurlTransport(trust: .system, configuration: configuration)
        let client = try server.client("test", "redis://localhost", over: transport)
        try await client.connect()
        let store = RedisResponseStore(client)
        let key = ResponseKey.sample(try RequestURL("https://one.example/a"))
        let ticket = try #require(await store.ticket(for: key))
        #expect(await store.store(.sample(load: 1, body: 1), Data(), for: key, replacing: nil, since: ticket))
        #expect(await store.lookup(key).responses.count == 1)
    }

    private static let certificates =
        "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/Fixtures/certificates"

    @Test("A new client finds what an earlier one has stored, and nothing that was removed")
    func restart() async throws {
        let server = try await RedisServer()
        let violations = await ResponseStoreConformance.checkRestart { RedisResponseStore(try server.client()) }
        #expect(violations == [])
    }

    @Test("The hashes of the scripts are those of their texts")
    func scripts() async throws {
        let server = try await RedisServer()
        for script in RedisScript.all {
            let hash = try await server.run("SCRIPT", "LOAD", script.text)
            #expect(hash == .bytes(Array(script.hash.utf8)))
        }
    }
}

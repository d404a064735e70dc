import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Glibc
import Testing

@Suite("Attacks: anchors", .serialized)
struct AnchorAttacks {
    @Test("A private authority as the only anchor accepts only its own server")
    func privateAuthority() async throws {
        let ours = try AttackBench.server("private-leaf")
        let others = try ["leaf", "rogue-leaf", "self-signed"].map { try AttackBench.server($0) }
        let policy = try AttackBench.trusting(Fixture.anchors("private-root"))
        try await AttackBench.expectSuccess(of: ours, under: policy)
        for other in others {
            try await AttackBench.expectRefusal(.trustChain, of: other, under: policy)
        }
        // The system's anchors are those of the public servers, and the private authority is not among them.
        try await AttackBench.expectRefusal(.trustChain, of: ours, under: AttackBench.trusting(.system))
    }

    @Test("Anchors in addition to the system's are accepted, and no others are")
    func besideSystem() async throws {
        let policy = try AttackBench.trusting(.systemAnd([Fixture.pem("private-root.pem")]))
        try await AttackBench.expectSuccess(of: AttackBench.server("private-leaf"), under: policy)
        try await AttackBench.expectRefusal(.trustChain, of: AttackBench.server("leaf"), under: policy)
        try await AttackBench.expectRefusal(.trustChain, of: AttackBench.server("self-signed"), under: policy)
    }

    @Test("The environment changes the system's anchors and no others")
    func environment() async throws {
        // The test runs in its own process, because it changes the environment.
        await #expect(processExitsWith: .success) {
            setenv("SSL_CERT_FILE", Fixture.path("private-root.pem"), 1)
            setenv("SSL_CERT_DIR", Fixture.directory, 1)
            let (ours, theirs) = try (AttackBench.server("leaf"), AttackBench.server("private-leaf"))
            try await AttackBench.expectSuccess(of: theirs, under: AttackBench.trusting(.system))
            try await AttackBench.expectRefusal(.trustChain, of: ours, under: AttackBench.trusting(.system))
            let explicit = try AttackBench.trusting(Fixture.anchors("root"))
            try await AttackBench.expectSuccess(of: ours, under: explicit)
            try await AttackBench.expectRefusal(.trustChain, of: theirs, under: explicit)
            // A policy that ignores the environment uses the installed anchors, which vouch for neither server.
            let installed = TrustAnchors.system.ignoringEnvironment
            for server in [ours, theirs] {
                try await AttackBench.expectRefusal(.trustChain, of: server, under: AttackBench.trusting(installed))
            }
            let besideInstalled = try TrustAnchors.systemAnd([Fixture.pem("root.pem")]).ignoringEnvironment
            try await AttackBench.expectSuccess(of: ours, under: AttackBench.trusting(besideInstalled))
            try await AttackBench.expectRefusal(.trustChain, of: theirs, under: AttackBench.trusting(besideInstalled))
            // An intermediate among the system's anchors ends no path.
            setenv("SSL_CERT_FILE", Fixture.path("intermediate.pem"), 1)
            let beside = try AttackBench.trusting(.systemAnd([Fixture.pem("rogue-root.pem")]))
            for policy in try [AttackBench.trusting(.system), beside] {
                try await AttackBench.expectRefusal(.trustChain, of: ours, under: policy)
            }
            setenv("SSL_CERT_FILE", Fixture.path("nonexistent.pem"), 1)
            let missing = #expect(throws: RequestFailure.self) { try CompiledTrust(.system) }
            #expect(missing?.reason == .file)
            #expect(missing?.message.contains("nonexistent.pem") == true)
            #expect(throws: Never.self) { try CompiledTrust(TrustPolicy(anchors: installed)) }
        }
    }

    @Test("The system's bundle is read by the first handshake that needs it, and only once in a process")
    func bundle() async throws {
        // The test runs in its own process, because it changes the environment.
        await #expect(processExitsWith: .success) {
            let path = "/tmp/essentials-bundle-\(getpid()).pem"
            defer { unlink(path) }
            let anchors = try String(contentsOfFile: Fixture.path("private-root.pem"), encoding: .utf8)
            let nothing = String(repeating: "#", count: anchors.utf8.count)
            /// Writes a file that looks the same as the previous one from outside.
            func write(_ text: String) {
                let file = open(path, O_CREAT | O_WRONLY, 0o600)
                _ = Array(text.utf8).withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
                let moment = [timespec(tv_sec: 1_000_000_000, tv_nsec: 0), timespec(tv_sec: 1_000_000_000, tv_nsec: 0)]
                futimens(file, moment)
                close(file)
            }
            setenv("SSL_CERT_FILE", path, 1)
            write(nothing)
            let server = try AttackBench.server("private-leaf")
            let plain = try LoopbackServer { _ in .response(body: "plain") }
            let faulty = try CurlTransport(trust: .system)
            #expect(try await faulty.send(request(plain)).text == "plain")
            let pinned = try AttackBench.transport(AttackBench.trusting(.system), to: server)
            let refused = await failure { try await pinned.send(AttackBench.request(server)) }
            #expect(refused?.reason == .file, "\(String(describing: refused))")
            write(anchors)
            try await AttackBench.expectSuccess(of: server, under: AttackBench.trusting(.system))
            write(nothing)
            try await AttackBench.expectSuccess(of: server, under: AttackBench.trusting(.system))
            // A pipe must not block.
            unlink(path)
            #expect(mkfifo(path, 0o600) == 0)
            let piped = try AttackBench.transport(AttackBench.trusting(.system), to: server)
            let unread = await failure { try await piped.send(AttackBench.request(server)) }
            #expect(unread?.reason == .file, "\(String(describing: unread))")
            await piped.shutdown()
            await faulty.shutdown()
            await pinned.shutdown()
        }
    }

    @Test("A self-signed server is its own anchor, only for its own host")
    func selfSigned() async throws {
        let server = try AttackBench.server("self-signed")
        let policy = try AttackBench.trusting(Fixture.anchors("self-signed"))
        try await AttackBench.expectSuccess(of: server, under: policy)
        try await AttackBench.expectRefusal(
            .trustHost, "hostname mismatch", of: server, host: "other.test", under: policy)
        for chain in ["leaf", "private-leaf"] {
            try await AttackBench.expectRefusal(.trustChain, of: AttackBench.server(chain), under: policy)
        }
        // A certificate with the same subject belongs to another server.
        let double = try TestCertificate.selfSigned(.init(commonName: "self-signed", dnsNames: ["pin.test"]))
        try await AttackBench.expectRefusal(.trustChain, of: AttackBench.server([double]), under: policy)
    }

    @Test("A self-signed anchor that is not an authority cannot vouch for a certificate that it has signed")
    func selfSignedIssuer() async throws {
        let anchor = try Fixture.certificate("self-signed")
        let leaf = try anchor.issue(.init(commonName: "pin.test", dnsNames: ["pin.test"]))
        let policy = try AttackBench.trusting(Fixture.anchors("self-signed"))
        try await AttackBench.expectRefusal(.trustChain, of: AttackBench.server([leaf, anchor]), under: policy)
    }

    @Test("A path ends below a root only at a certificate that is an anchor itself")
    func partialChain() async throws {
        let intermediate = try AttackBench.trusting(Fixture.anchors("intermediate"))
        try await AttackBench.expectSuccess(of: AttackBench.server("leaf"), under: intermediate)
        try await AttackBench.expectSuccess(of: AttackBench.server("missing-intermediate"), under: intermediate)
        for chain in ["rogue-with-pinned-issuers", "private-leaf", "self-signed", "signed-by-leaf", "leaf-too-deep"] {
            try await AttackBench.expectRefusal(.trustChain, of: AttackBench.server(chain), under: intermediate)
        }
        let leaf = try AttackBench.trusting(Fixture.anchors("leaf"))
        try await AttackBench.expectSuccess(of: AttackBench.server("leaf"), under: leaf)
        for chain in ["leaf-renewed", "leaf-backup", "signed-by-leaf"] {
            try await AttackBench.expectRefusal(.trustChain, of: AttackBench.server(chain), under: leaf)
        }
        // If only whole roots are anchors, no intermediate that a server presents ends a path.
        let root = try AttackBench.trusting(Fixture.anchors("cross-root"))
        try await AttackBench.expectRefusal(
            .trustChain, "X.509 error 20", of: AttackBench.server("leaf"), under: root)
    }

    @Test("Two transports with different anchors never accept each other's server", arguments: [false, true])
    func twoServices(reversed: Bool) async throws {
        let mine = try (AttackBench.server("leaf"), Fixture.anchors("root"))
        let yours = try (AttackBench.server("private-leaf"), Fixture.anchors("private-root"))
        let (first, second) = reversed ? (yours, mine) : (mine, yours)
        let transports = try [first, second].map {
            try AttackBench.transport(AttackBench.trusting($0.1), to: first.0, second.0)
        }
        for _ in 0..<3 {
            try await AttackBench.expectSuccess(of: first.0, by: transports[0])
            try await AttackBench.expectRefusal(.trustChain, of: first.0, by: transports[1])
            try await AttackBench.expectSuccess(of: second.0, by: transports[1])
            try await AttackBench.expectRefusal(.trustChain, of: second.0, by: transports[0])
        }
        #expect(first.0.requestCount == 3)
        #expect(second.0.requestCount == 3)
        for transport in transports { await transport.shutdown() }
    }

    @Test("Two busy transports with different anchors never accept each other's server")
    func twoServicesAtOnce() async throws {
        let servers = try [AttackBench.server("leaf"), AttackBench.server("private-leaf")]
        let transports = try ["root", "private-root"].map {
            try AttackBench.transport(AttackBench.trusting(Fixture.anchors($0)), to: servers[0], servers[1])
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                let (client, server) = (number % 2, number / 2 % 2)
                let sent = try AttackBench.request(servers[server])
                let transport = transports[client]
                group.addTask {
                    let found = await failure { try await transport.send(sent) }
                    #expect(found?.reason == (client == server ? nil : .trustChain))
                }
            }
            try await group.waitForAll()
        }
        for transport in transports { await transport.shutdown() }
        for server in servers {
            try await AttackBench.closed(server)
            #expect(server.requestCount == 10)
            #expect(server.requests.allSatisfy { $0.bodyText == "secret" })
            #expect(server.handshakes.allSatisfy { $0.succeeded == ($0.clientCertificatePEM != nil) })
        }
    }

    @Test("A list without anchors is refused when the policy is created")
    func emptyList() throws {
        for files in [[], ["root.key"], ["root.pem", "root.crl.pem"]] {
            let list = try files.map { try Fixture.pem($0) }
            let only = #expect(throws: RequestFailure.self) { try TrustAnchors.only(list) }
            #expect(only?.reason == .invalidPolicy)
            let beside = #expect(throws: RequestFailure.self) { try TrustAnchors.systemAnd(list) }
            #expect(beside?.reason == .invalidPolicy)
        }
        let file = #expect(throws: RequestFailure.self) { try TrustPolicy(json: #"{"anchors": []}"#) }
        #expect(file?.reason == .invalidPolicy)
        let damaged = try Fixture.text("root.pem") + "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
        let half = #expect(throws: RequestFailure.self) {
            try CompiledTrust(TrustPolicy(anchors: .only([PEM(damaged)])))
        }
        #expect(half?.reason == .invalidPolicy)
    }
}

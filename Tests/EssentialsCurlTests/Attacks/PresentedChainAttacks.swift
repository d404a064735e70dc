import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import Testing

@Suite("Attacks: presented chains", .serialized)
struct PresentedChainAttacks {
    /// Expects that pins do not match certificates that a rogue server presents outside of its verified chain.
    private func expectMismatch(_ chain: String, pinned: [String]) async throws {
        let server = try AttackBench.server(chain)
        let pins = try pinned.flatMap { try [Fixture.key($0), Fixture.whole($0)] }
        let policy = try AttackBench.policy(
            pins, anchors: Fixture.anchors("root", "rogue-root"), identity: Fixture.identity("client-a"))
        let found = try await AttackBench.expectRefusal(.pinMismatch, of: server, under: policy)
        let path = try ["rogue-leaf", "rogue-root"].map { try Fixture.certificate($0).certificatePin }
        #expect(found?.chain.map(\.certificatePin.text) == path)
        let presented = try Fixture.chain(chain).map(\.certificatePin)
        #expect(try pinned.contains { try presented.contains(Fixture.certificate($0).certificatePin) })
        // The pins refuse it, because the chain itself is valid.
        let rogue = try AttackBench.policy([Fixture.key("rogue-leaf")], anchors: Fixture.anchors("root", "rogue-root"))
        try await AttackBench.expectSuccess(of: server, under: rogue)
    }

    @Test("A rogue leaf with the pinned leaf appended is a pin mismatch")
    func pinnedLeafAppended() async throws {
        try await expectMismatch("rogue-with-pinned-leaf", pinned: ["leaf", "intermediate", "root"])
    }

    @Test("A rogue leaf with the pinned leaf second is a pin mismatch")
    func pinnedLeafSecond() async throws {
        try await expectMismatch("rogue-pinned-second", pinned: ["leaf", "intermediate", "root"])
    }

    @Test("A rogue leaf with the pinned issuers appended is a pin mismatch")
    func pinnedIssuersAppended() async throws {
        try await expectMismatch("rogue-with-pinned-issuers", pinned: ["intermediate", "root"])
    }

    @Test("A leaf that an end-entity certificate has signed is refused even if the signer is pinned")
    func signedByLeaf() async throws {
        let server = try AttackBench.server("signed-by-leaf")
        for mode in [PinSet.Mode.enforce, .reportOnly] {
            let policy = try AttackBench.policy(
                [Fixture.key("leaf"), Fixture.key("signed-by-leaf"), Fixture.key("root")], mode: mode)
            try await AttackBench.expectRefusal(
                .trustChain, "invalid CA certificate (X.509 error 79 at depth 1)", of: server, under: policy)
        }
    }

    @Test("An authority below an authority that may not have any is refused")
    func pathLength() async throws {
        let server = try AttackBench.server("leaf-too-deep")
        let policy = try AttackBench.policy([Fixture.key("leaf-too-deep"), Fixture.key("intermediate")])
        try await AttackBench.expectRefusal(
            .trustChain, "path length constraint exceeded (X.509 error 25", of: server, under: policy)
    }

    @Test("A complete chain in another order is accepted")
    func shuffled() async throws {
        let server = try AttackBench.server("shuffled")
        for pin in try [
            Fixture.key("leaf", scope: .leaf), Fixture.key("intermediate", scope: .issuer),
            Fixture.key("root", scope: .issuer),
        ] {
            try await AttackBench.expectSuccess(of: server, under: AttackBench.policy([pin]))
        }
        let second = try AttackBench.policy([Fixture.key("root", scope: .leaf)])
        try await AttackBench.expectRefusal(.pinMismatch, of: server, under: second)
    }

    @Test("A chain without its intermediate is refused")
    func missingIntermediate() async throws {
        let server = try AttackBench.server("missing-intermediate")
        let policy = try AttackBench.policy([Fixture.key("leaf"), Fixture.whole("leaf")])
        try await AttackBench.expectRefusal(
            .trustChain, "unable to get local issuer certificate (X.509 error 20 at depth 0)", of: server, under: policy
        )
    }

    @Test("A certificate of an earlier chain does not complete a later one")
    func missingIntermediateAfterward() async throws {
        let whole = try AttackBench.server()
        let partial = try AttackBench.server("missing-intermediate")
        let transport = try AttackBench.transport(AttackBench.policy([Fixture.key("leaf")]), to: whole, partial)
        for _ in 0..<2 {
            try await AttackBench.expectSuccess(of: whole, by: transport)
            try await AttackBench.expectRefusal(.trustChain, "X.509 error 20", of: partial, by: transport)
        }
        await transport.shutdown()
    }

    @Test("A chain over a cross-signed intermediate holds the intermediate's key, and not the other root")
    func crossSigned() async throws {
        let server = try AttackBench.server("cross")
        let anchors = try Fixture.anchors("root", "cross-root")
        for pin in try [Fixture.key("intermediate"), Fixture.key("leaf"), Fixture.key("cross-root")] {
            try await AttackBench.expectSuccess(of: server, under: AttackBench.policy([pin], anchors: anchors))
        }
        let other = try [Fixture.key("root"), Fixture.whole("root"), Fixture.whole("intermediate")]
        let found = try await AttackBench.expectRefusal(
            .pinMismatch, of: server, under: AttackBench.policy(other, anchors: anchors))
        let path = try ["leaf", "intermediate-cross", "cross-root"].map { try Fixture.certificate($0).certificatePin }
        #expect(found?.chain.map(\.certificatePin.text) == path)
        // Without the other root as an anchor there is no path.
        try await AttackBench.expectRefusal(
            .trustChain, "X.509 error 20", of: server, under: AttackBench.policy([Fixture.key("intermediate")]))
    }

    @Test("A chain longer than the limit is refused")
    func tooLong() async throws {
        let server = try AttackBench.server("leaf-long")
        for mode in [PinSet.Mode.enforce, .reportOnly] {
            let policy = try AttackBench.policy([Fixture.key("leaf-long"), Fixture.key("root")], mode: mode)
            try await AttackBench.expectRefusal(.trustChain, "X.509 error 22", of: server, under: policy)
        }
    }

    @Test("A chain of twelve certificates is accepted with a pin of its root, and one of thirteen is refused")
    func longest() async throws {
        for (issuers, isAccepted) in [(10, true), (11, false)] {
            let names = (1...issuers).reversed().map { "long-\($0)" }
            let issuer = try Fixture.certificate(try #require(names.first))
            let leaf = try issuer.issue(.init(commonName: "pin.test", dnsNames: ["pin.test"]))
            let server = try AttackBench.server([leaf] + names.map { try Fixture.certificate($0) })
            let policy = try AttackBench.policy([Fixture.key("root", scope: .issuer)])
            if isAccepted {
                try await AttackBench.expectSuccess(of: server, under: policy)
            } else {
                try await AttackBench.expectRefusal(.trustChain, "X.509 error 22", of: server, under: policy)
            }
        }
    }

    @Test("Unrelated certificates do not make a chain too long")
    func padding() async throws {
        let server = try AttackBench.server(
            Fixture.chain("leaf") + (1...14).map { try Fixture.certificate("long-\($0)") })
        try await AttackBench.expectSuccess(
            of: server, under: AttackBench.policy([Fixture.key("root", scope: .issuer)]))
    }

    /// The outcome of a chain that is presented without a connection.
    struct Case: Sendable, CustomTestStringConvertible {
        let chain: String
        let reason: RequestFailure.Reason?
        var pinned = "root"
        var anchors = ["root"]
        var host = "pin.test"
        var testDescription: String { "\(chain) for \(host)" }
    }

    static let cases: [Case] = [
        Case(chain: "leaf", reason: nil),
        Case(chain: "leaf", reason: .pinMismatch, pinned: "rogue-root"),
        Case(chain: "leaf-other", reason: nil, host: "other.test"),
        Case(chain: "leaf", reason: .hostRefused, host: "other.test"),
        Case(
            chain: "rogue-with-pinned-leaf", reason: .pinMismatch, pinned: "leaf", anchors: ["root", "rogue-root"]),
        Case(chain: "rogue-pinned-second", reason: .pinMismatch, pinned: "leaf", anchors: ["root", "rogue-root"]),
        Case(
            chain: "rogue-with-pinned-issuers", reason: .pinMismatch, pinned: "root", anchors: ["root", "rogue-root"]),
        Case(chain: "signed-by-leaf", reason: .trustChain), Case(chain: "leaf-too-deep", reason: .trustChain),
        Case(chain: "shuffled", reason: nil), Case(chain: "missing-intermediate", reason: .trustChain),
        Case(chain: "cross", reason: .pinMismatch, anchors: ["root", "cross-root"]),
        Case(chain: "cross", reason: nil, pinned: "intermediate", anchors: ["root", "cross-root"]),
        Case(chain: "leaf-long", reason: .trustChain), Case(chain: "leaf-expired", reason: .trustChain),
        Case(chain: "leaf-future", reason: .trustChain), Case(chain: "leaf-wrong-host", reason: .trustHost),
        Case(chain: "leaf-cn-only", reason: .trustHost), Case(chain: "leaf-wild", reason: .trustHost),
        Case(chain: "leaf-ip", reason: nil, host: "127.0.0.1"),
        Case(chain: "leaf", reason: .trustHost, host: "127.0.0.1"),
        Case(chain: "leaf-client-eku", reason: .trustChain), Case(chain: "leaf-rsa1024", reason: .trustChain),
        Case(chain: "self-signed", reason: .trustChain, pinned: "self-signed"),
        Case(chain: "self-signed.chain-with-pinned", reason: .trustChain, pinned: "leaf"),
        Case(chain: "private-leaf", reason: .trustChain, pinned: "private-leaf"),
        Case(chain: "leaf-inside", reason: nil, pinned: "constrained-ca"),
        Case(chain: "leaf-outside", reason: .trustChain, host: "other.test"),
        Case(chain: "leaf-half-outside", reason: .trustChain), Case(chain: "leaf-sha1", reason: .trustChain),
        Case(chain: "leaf-nul", reason: .trustHost),
    ]

    @Test("A chain without a connection is judged as in a handshake", arguments: cases)
    func evaluated(_ example: Case) throws {
        let anchors = try TrustAnchors.only(example.anchors.map { try Fixture.pem("\($0).pem") })
        let host = example.reason == .hostRefused ? "pin.test" : example.host
        for mode in [PinSet.Mode.enforce, .reportOnly] {
            let policy = try AttackBench.policy([Fixture.key(example.pinned)], mode: mode, host: host, anchors: anchors)
            let trust = try CompiledTrust(policy)
            let isForgiven = mode == .reportOnly && example.reason == .pinMismatch
            do throws(RequestFailure) {
                let path = try trust.evaluate(chain: try Self.der(example.chain), host: HostName(example.host))
                #expect(example.reason == nil || isForgiven)
                #expect(path.count >= 2)
            } catch {
                #expect(error.reason == example.reason && !isForgiven, "\(error)")
            }
        }
    }

    private static func der(_ chain: String) throws(RequestFailure) -> [[UInt8]] {
        do { return try Fixture.chain(chain).map(\.der) } catch { throw RequestFailure(.file, "\(error)") }
    }

    @Test("Malformed chains are refused without a connection")
    func evaluatedGarbage() throws {
        let trust = try CompiledTrust(AttackBench.policy([Fixture.key("leaf")]))
        let host = try HostName("pin.test")
        let leaf = try Fixture.certificate("leaf").der
        let intermediate = try Fixture.certificate("intermediate").der
        let chains: [[[UInt8]]] = [
            [], [[]], [[0]], [leaf + [0], intermediate], [Array(leaf.dropLast()), intermediate], [leaf, []],
            [leaf, intermediate, Array(repeating: 0x30, count: 100)], [intermediate, leaf],
        ]
        for chain in chains {
            #expect(throws: RequestFailure.self) { try trust.evaluate(chain: chain, host: host) }
        }
        #expect(try trust.evaluate(chain: [leaf, intermediate], host: host).count == 3)
    }
}

import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import Testing

@Suite("Attacks: revocation", .serialized)
struct RevocationAttacks {
    static let versions = [ServerTLS.Version.tls12, .tls13]

    /// A server of one TLS version that staples a file of the fixtures, and requests the client's certificate.
    private func server(
        _ chain: String = "leaf", staple: [UInt8]?, version: ServerTLS.Version,
        handler: @escaping @Sendable (ServerRequest) -> ServerReply = { _ in .response(body: "ok") }
    ) throws -> LoopbackServer {
        try AttackBench.server(
            chain,
            adjust: {
                ($0.minimumVersion, $0.maximumVersion, $0.staple) = (version, version, staple)
                $0.clientAuthentication = .request
            }, handler: handler)
    }

    private func policy(
        _ revocation: Revocation, mode: PinSet.Mode = .enforce, anchors: TrustAnchors? = nil
    ) throws -> TrustPolicy {
        try AttackBench.policy(
            [Fixture.key("intermediate"), Fixture.key("self-signed")], mode: mode, anchors: anchors,
            revocation: revocation, identity: Fixture.identity("client-a"))
    }

    private func lists(_ files: String...) throws -> Revocation {
        .lists(try files.map { try Fixture.pem("\($0).crl.pem") })
    }

    // MARK: Staples

    @Test("A good staple is accepted, required or not", arguments: versions)
    func goodStaple(version: ServerTLS.Version) async throws {
        let server = try server(staple: Fixture.bytes("leaf.ocsp"), version: version)
        for isRequired in [false, true] {
            try await AttackBench.expectSuccess(of: server, under: policy(.stapled(isRequired: isRequired)))
        }
    }

    @Test("A server without a staple is refused only if a staple is required", arguments: versions)
    func noStaple(version: ServerTLS.Version) async throws {
        let server = try server(staple: nil, version: version)
        for mode in [PinSet.Mode.enforce, .reportOnly] {
            let found = try await AttackBench.expectRefusal(
                .trustChain, "stapled no OCSP response", of: server,
                under: policy(.stapled(isRequired: true), mode: mode))
            #expect(found?.phase == .handshake)
        }
        try await AttackBench.expectSuccess(of: server, under: policy(.stapled(isRequired: false)))
        try await AttackBench.expectSuccess(of: server, under: policy(.none))
    }

    @Test("A staple with the status revoked is refused, required or not", arguments: versions)
    func revokedStaple(version: ServerTLS.Version) async throws {
        let server = try server("leaf-revoked", staple: Fixture.bytes("leaf-revoked.ocsp"), version: version)
        for isRequired in [false, true] {
            for mode in [PinSet.Mode.enforce, .reportOnly] {
                try await AttackBench.expectRefusal(
                    .revoked, of: server, under: policy(.stapled(isRequired: isRequired), mode: mode))
            }
        }
        // A client that does not request a staple receives none.
        try await AttackBench.expectSuccess(of: server, under: policy(.none))
    }

    /// A staple without proof.
    struct Staple: Sendable, CustomTestStringConvertible {
        let name: String
        let text: String
        let bytes: @Sendable () throws -> [UInt8]
        var testDescription: String { name }
    }

    static let worthless: [Staple] = [
        Staple(name: "stale", text: "expired") { try Fixture.bytes("leaf-old.ocsp") },
        Staple(name: "of a wrong signer", text: "not signed by the certificate's issuer") {
            try Fixture.bytes("leaf-wrong-signer.ocsp")
        },
        Staple(name: "about another certificate", text: "about another certificate") {
            try Fixture.bytes("leaf-revoked.ocsp")
        },
        Staple(name: "changed after it was signed", text: "not signed by the certificate's issuer") {
            try changed(Fixture.bytes("leaf.ocsp"))
        },
        Staple(name: "cut short", text: "cannot be read") { Array(try Fixture.bytes("leaf.ocsp").dropLast(10)) },
        Staple(name: "of one byte", text: "cannot be read") { [0x30] },
        Staple(name: "that is no OCSP response", text: "cannot be read") { try Fixture.certificate("leaf").der },
        Staple(name: "that only says “try later”", text: "cannot be read") { [0x30, 0x03, 0x0a, 0x01, 0x03] },
        Staple(name: "of a server's key", text: "not signed by the certificate's issuer") {
            try Fixture.bytes("leaf-by-ocsp-server.ocsp")
        },
        Staple(name: "of a responder that the issuer's issuer made", text: "not signed by the certificate's issuer") {
            try Fixture.bytes("leaf-by-ocsp-above.ocsp")
        },
        Staple(name: "of a responder that has expired", text: "not signed by the certificate's issuer") {
            try Fixture.bytes("leaf-by-ocsp-expired.ocsp")
        },
        Staple(
            name: "of a responder whose certificate has a weak digest", text: "not signed by the certificate's issuer"
        ) { try Fixture.bytes("leaf-by-ocsp-sha1.ocsp") },
        Staple(name: "with a weak digest", text: "too weak") { try Fixture.bytes("leaf-digested-by-sha1.ocsp") },
    ]

    /// A response whose time differs by a second from the signed one.
    private static func changed(_ response: [UInt8]) throws -> [UInt8] {
        var copy = response
        // GeneralizedTime (tag 0x18) of 15 characters, "YYYYMMDDHHMMSSZ": the first one is producedAt.
        let tag = try #require(copy.indices.dropLast(16).first { copy[$0] == 0x18 && copy[$0 + 1] == 15 })
        copy[tag + 2 + 13] ^= 1
        return copy
    }

    @Test("A staple that proves nothing is refused, required or not", arguments: worthless, versions)
    func worthlessStaple(_ staple: Staple, version: ServerTLS.Version) async throws {
        let server = try server(staple: staple.bytes(), version: version)
        for isRequired in [false, true] {
            for mode in [PinSet.Mode.enforce, .reportOnly] {
                try await AttackBench.expectRefusal(
                    .trustChain, staple.text, of: server,
                    under: policy(.stapled(isRequired: isRequired), mode: mode))
            }
        }
    }

    @Test("A responder that the issuer has authorised is believed, good or bad", arguments: versions)
    func delegatedResponder(version: ServerTLS.Version) async throws {
        let good = try server(staple: Fixture.bytes("leaf-by-ocsp-delegated.ocsp"), version: version)
        let revoked = try server(
            "leaf-revoked", staple: Fixture.bytes("leaf-revoked-by-ocsp-delegated.ocsp"), version: version)
        for isRequired in [false, true] {
            let policy = try policy(.stapled(isRequired: isRequired))
            try await AttackBench.expectSuccess(of: good, under: policy)
            try await AttackBench.expectRefusal(.revoked, of: revoked, under: policy)
        }
    }

    @Test("A revoked server that signs its own staple is refused", arguments: versions)
    func vouchesForItself(version: ServerTLS.Version) async throws {
        let staple = try Fixture.bytes("leaf-revoked-by-itself.ocsp")
        let server = try server("leaf-revoked", staple: staple, version: version)
        for isRequired in [false, true] {
            try await AttackBench.expectRefusal(
                .trustChain, "not signed by the certificate's issuer", of: server,
                under: policy(.stapled(isRequired: isRequired)))
        }
    }

    @Test(
        "A wrong signer is refused even if the client trusts it or its issuer as an authority",
        arguments: ["leaf-wrong-signer", "leaf-by-ocsp-rogue"], versions)
    func trustedWrongSigner(staple: String, version: ServerTLS.Version) async throws {
        let server = try server(staple: Fixture.bytes("\(staple).ocsp"), version: version)
        let anchors = try Fixture.anchors("root", "rogue-root")
        try await AttackBench.expectRefusal(
            .trustChain, "not signed by the certificate's issuer", of: server,
            under: policy(.stapled(isRequired: true), anchors: anchors))
    }

    @Test("A resumed session needs no staple", arguments: versions)
    func resumption(version: ServerTLS.Version) async throws {
        let server = try server(staple: Fixture.bytes("leaf.ocsp"), version: version) { _ in
            .response(headers: [("Connection", "close")], body: "ok")
        }
        let transport = try AttackBench.transport(policy(.stapled(isRequired: true)), to: server)
        for _ in 0..<3 { try await AttackBench.expectSuccess(of: server, by: transport) }
        #expect(server.handshakes.map(\.resumed) == [false, true, true])
        await transport.shutdown()
    }

    @Test("A handshake whose staple was refused leaves no session", arguments: versions)
    func refusedSession(version: ServerTLS.Version) async throws {
        let server = try server("leaf-revoked", staple: Fixture.bytes("leaf-revoked.ocsp"), version: version)
        let transport = try AttackBench.transport(policy(.stapled(isRequired: false)), to: server)
        for _ in 0..<3 { try await AttackBench.expectRefusal(.revoked, of: server, by: transport) }
        #expect(server.handshakes.allSatisfy { !$0.resumed })
        await transport.shutdown()
    }

    @Test("A wrong pin is refused whatever the staple says", arguments: versions)
    func stapleAndPins(version: ServerTLS.Version) async throws {
        let server = try server(staple: Fixture.bytes("leaf.ocsp"), version: version)
        let policy = try AttackBench.policy([strangePin()], revocation: .stapled(isRequired: true))
        try await AttackBench.expectRefusal(.pinMismatch, of: server, under: policy)
    }

    // MARK: Lists

    @Test("With lists of every level a good certificate is accepted and a revoked one is refused", arguments: versions)
    func lists(version: ServerTLS.Version) async throws {
        let revocation = try lists("intermediate", "root")
        let good = try server(staple: nil, version: version)
        try await AttackBench.expectSuccess(of: good, under: policy(revocation))
        let revoked = try server("leaf-revoked", staple: nil, version: version)
        for mode in [PinSet.Mode.enforce, .reportOnly] {
            let found = try await AttackBench.expectRefusal(
                .revoked, "certificate revoked", of: revoked, under: policy(revocation, mode: mode))
            #expect(found?.chain.first?.certificatePin.text == (try Fixture.certificate("leaf-revoked").certificatePin))
        }
        try await AttackBench.expectSuccess(of: revoked, under: policy(.none))
    }

    @Test("A chain is refused if the list of one of its levels is missing")
    func oneLevel() async throws {
        let server = try AttackBench.server()
        for file in ["intermediate", "root"] {
            for mode in [PinSet.Mode.enforce, .reportOnly] {
                try await AttackBench.expectRefusal(
                    .trustChain, "unable to get certificate CRL (X.509 error 3", of: server,
                    under: policy(lists(file), mode: mode))
            }
        }
    }

    @Test("An expired list is refused")
    func expiredList() async throws {
        let server = try AttackBench.server()
        for mode in [PinSet.Mode.enforce, .reportOnly] {
            try await AttackBench.expectRefusal(
                .trustChain, "CRL has expired (X.509 error 12", of: server,
                under: policy(lists("intermediate-old", "root"), mode: mode))
        }
    }

    @Test("An expired list next to a valid one changes nothing")
    func expiredListBesideCurrent() async throws {
        let revocation = try lists("intermediate-old", "root", "intermediate")
        try await AttackBench.expectSuccess(of: AttackBench.server(), under: policy(revocation))
        let revoked = try AttackBench.server("leaf-revoked")
        try await AttackBench.expectRefusal(.revoked, of: revoked, under: policy(revocation))
    }

    @Test("A list that covers only servers is enough for the level of servers", arguments: versions)
    func listOfUsers(version: ServerTLS.Version) async throws {
        let revocation = try lists("intermediate-users", "root")
        try await AttackBench.expectSuccess(of: server(staple: nil, version: version), under: policy(revocation))
        let revoked = try server("leaf-revoked", staple: nil, version: version)
        try await AttackBench.expectRefusal(.revoked, of: revoked, under: policy(revocation))
    }

    /// Lists, one of which does not cover the certificates that need it.
    struct Partial: Sendable, CustomTestStringConvertible {
        let lists: [String]
        let depth: Int
        var testDescription: String { lists.joined(separator: " and ") }
    }

    static let partial = [
        Partial(lists: ["intermediate-authorities", "root"], depth: 0),
        Partial(lists: ["intermediate-point", "root"], depth: 0),
        Partial(lists: ["intermediate-authorities", "intermediate-point", "root"], depth: 0),
        Partial(lists: ["intermediate", "root-users"], depth: 1),
    ]

    @Test(
        "A chain is refused if a list covers only other certificates of its authority", arguments: partial,
        versions)
    func partialList(_ attack: Partial, version: ServerTLS.Version) async throws {
        let revocation = try Revocation.lists(attack.lists.map { try Fixture.pem("\($0).crl.pem") })
        for chain in ["leaf", "leaf-revoked"] where attack.depth == 0 || chain == "leaf" {
            let server = try server(chain, staple: nil, version: version)
            for mode in [PinSet.Mode.enforce, .reportOnly] {
                try await AttackBench.expectRefusal(
                    .trustChain, "different CRL scope (X.509 error 44 at depth \(attack.depth))", of: server,
                    under: policy(revocation, mode: mode))
            }
        }
        // Next to the lists of all certificates, the partial list changes nothing.
        let whole = try Revocation.lists(
            (attack.lists + ["intermediate", "root"]).map { try Fixture.pem("\($0).crl.pem") })
        let good = try server(staple: nil, version: version)
        try await AttackBench.expectSuccess(of: good, under: policy(whole))
        let revoked = try server("leaf-revoked", staple: nil, version: version)
        try await AttackBench.expectRefusal(.revoked, of: revoked, under: policy(whole))
    }

    @Test(
        "Delta lists, indirect lists and lists of some reasons are refused when the policy is compiled",
        arguments: ["delta", "reasons", "indirect"])
    func unusableList(kind: String) throws {
        for others in [["root"], ["intermediate", "root"]] {
            for files in [["intermediate-\(kind)"] + others, others + ["intermediate-\(kind)"]] {
                let found = try #require(throws: RequestFailure.self) {
                    _ = try CompiledTrust(policy(.lists(files.map { try Fixture.pem("\($0).crl.pem") })))
                }
                #expect(found.reason == .invalidPolicy)
                #expect(found.message.contains("revocation list"), "\(found)")
                #expect(found.remedy?.contains("complete") == true, "\(found)")
            }
        }
    }

    @Test("Lists are judged without a connection, too")
    func evaluated() throws {
        let trust = try CompiledTrust(policy(lists("intermediate", "root")))
        let host = try HostName("pin.test")
        let revoked = try Fixture.chain("leaf-revoked").map(\.der)
        let found = #expect(throws: RequestFailure.self) { try trust.evaluate(chain: revoked, host: host) }
        #expect(found?.reason == .revoked)
        #expect(try trust.evaluate(chain: Fixture.chain("leaf").map(\.der), host: host).count == 3)
    }

    @Test("A text that is not a revocation list is refused when the policy is compiled")
    func noLists() throws {
        let damaged = try PEM("-----BEGIN X509 CRL-----\nMIIB\n-----END X509 CRL-----\n")
        for lists in try [[], [Fixture.pem("root.pem")], [Fixture.pem("root.crl.pem"), damaged]] {
            let found = #expect(throws: RequestFailure.self) {
                _ = try CompiledTrust(policy(.lists(lists)))
            }
            #expect(found?.reason == .invalidPolicy)
        }
    }
}

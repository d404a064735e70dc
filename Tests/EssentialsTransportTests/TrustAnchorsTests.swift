import EssentialsTransport
import Testing

@Suite struct TrustAnchorsTests {
    private func pem(_ label: String) throws -> PEM {
        try PEM("-----BEGIN \(label)-----\nAAAA\n-----END \(label)-----\n")
    }

    private func anchors(_ list: [PEM], includesSystem: Bool) throws -> TrustAnchors {
        includesSystem ? try .systemAnd(list) : try .only(list)
    }

    @Test("The system's anchors are trusted alone, together with named ones, or not at all")
    func sources() throws {
        let anchor = try pem("CERTIFICATE")
        #expect(TrustAnchors.system.includesSystem)
        #expect(TrustAnchors.system.explicit.isEmpty)
        let only = try TrustAnchors.only([anchor])
        #expect(!only.includesSystem)
        #expect(only.explicit == [anchor])
        let both = try TrustAnchors.systemAnd([anchor])
        #expect(both.includesSystem)
        #expect(both.explicit == [anchor])
        #expect(both != only)
    }

    @Test("The environment is ignored on request and if the system's anchors are not trusted")
    func environment() throws {
        let list = [try pem("CERTIFICATE")]
        let (both, only) = (try TrustAnchors.systemAnd(list), try TrustAnchors.only(list))
        for anchors in [.system, both] {
            #expect(!anchors.ignoresEnvironment)
            let ignoring = anchors.ignoringEnvironment
            #expect(ignoring.ignoresEnvironment)
            #expect(ignoring.includesSystem)
            #expect(ignoring.explicit == anchors.explicit)
            #expect(ignoring != anchors, "Policies that differ in this share no connections.")
        }
        #expect(only.ignoresEnvironment)
        #expect(only.ignoringEnvironment == only)
    }

    @Test("An empty list of anchors is refused")
    func empty() throws {
        for includesSystem in [false, true] {
            let failure = try #require(throws: RequestFailure.self) { try anchors([], includesSystem: includesSystem) }
            #expect(failure.reason == .invalidPolicy)
            #expect(failure.message.contains("empty"))
        }
    }

    @Test("An anchor without a certificate is refused", arguments: ["PRIVATE KEY", "X509 CRL", "CERTIFICATE REQUEST"])
    func noCertificate(label: String) throws {
        let list = [try pem("CERTIFICATE"), try pem(label)]
        for includesSystem in [false, true] {
            let failure = try #require(throws: RequestFailure.self) {
                try anchors(list, includesSystem: includesSystem)
            }
            #expect(failure.reason == .invalidPolicy)
            #expect(failure.message.contains(label))
        }
    }

    @Test("Certificates with either label are accepted", arguments: ["CERTIFICATE", "TRUSTED CERTIFICATE"])
    func label(label: String) throws {
        #expect(try TrustAnchors.only([pem(label)]).explicit.count == 1)
    }
}

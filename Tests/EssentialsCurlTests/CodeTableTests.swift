import EssentialsHTTP
import Testing

@testable import EssentialsCurl

@Suite("The table of libcurl's codes")
struct CodeTableTests {
    /// Codes that libcurl's header marks as obsolete and never returns.
    static let unused: Set<Int32> = [20, 24, 29, 32, 40, 44, 46, 50, 51, 57, 62, 75, 76]

    @Test("The table of codes names every code that libcurl can return")
    func complete() {
        for code in 1...CurlCodes.last where !Self.unused.contains(code) {
            #expect(CurlCodes.knows(code), "code \(code)")
        }
    }

    @Test(
        "Each code of libcurl has its reason",
        arguments: [
            (6, "", "nameResolution"), (7, "", "connection"), (8, "", "protocolViolation"), (18, "", "interrupted"),
            (27, "", "resources"), (28, "", "timeout"),
            (35, "error:0A000102:SSL routines::unsupported protocol", "tlsTooOld"),
            (35, "handshake failure", "tls"), (52, "", "interrupted"),
            (56, "Recv failure: Connection reset", "interrupted"),
            (56, "error:0A00045C:SSL routines::tlsv13 alert certificate required", "tls"),
            (56, "Illegal or missing hexadecimal sequence in chunked-encoding", "protocolViolation"),
            (60, "", "trustChain"), (61, "", "protocolViolation"), (63, "", "tooLarge"), (90, "", "pinMismatch"),
            (91, "", "revoked"), (92, "", "interrupted"), (1000, "", "connection"),
        ])
    func reasons(code: Int32, detail: String, reason: String) {
        #expect(CurlCodes.reason(code, detail: detail).name == reason)
    }
}

@Suite("A refused chain")
struct ChainRemedyTests {
    @Test(
        "A refused chain comes with a remedy for its fault",
        arguments: [
            (3, "revocation list"), (9, "clock"), (10, "renewed"), (12, "revocation list"), (20, "intermediate"),
            (26, "for servers"), (44, "revocation list"), (66, "2048"), (68, "SHA-256"),
        ])
    func remedies(error: Int32, word: String) throws {
        #expect(try #require(GateReport.remedy(x509Error: error)).contains(word))
    }

    @Test("A chain with an unknown authority has the general remedy", arguments: [2, 18, 19])
    func others(error: Int32) { #expect(GateReport.remedy(x509Error: error) == nil) }
}

@Suite("The libraries")
struct LibraryRequirementsTests {
    private static let good = LibraryRequirements.Facts(
        curlVersion: "7.88.1", curlVersionNumber: 0x07_58_01, tlsVersion: "OpenSSL/3.0.22",
        openSSLVersionNumber: 0x3000_0160, hasHTTP2: true, resolvesAsynchronously: true)

    @Test("The libraries of this machine are accepted")
    func here() throws {
        let facts = LibraryRequirements.facts()
        try LibraryRequirements.check(facts)
        #expect(facts.hasHTTP2)
    }

    @Test(
        "Unsuitable libraries are refused by name",
        arguments: [
            ("7.87.0", 0x07_57_00, "OpenSSL/3.0.2", 0x3000_0020, "libcurl 7.87.0"),
            ("7.88.1", 0x07_58_01, "GnuTLS/3.7.9", 0x3000_0160, "GnuTLS/3.7.9"),
            ("7.88.1", 0x07_58_01, "(OpenSSL/3.0.22) GnuTLS/3.7.9", 0x3000_0160, "GnuTLS/3.7.9"),
            ("7.88.1", 0x07_58_01, "OpenSSL/1.1.1n", 0x1010_10e0, "OpenSSL/1.1.1n"),
            ("7.88.1", 0x07_58_01, "", 0x3000_0160, "OpenSSL 3 is needed"),
        ])
    func refused(version: String, number: UInt32, tls: String, openSSL: UInt, named: String) {
        var facts = Self.good
        facts.curlVersion = version
        facts.curlVersionNumber = number
        facts.tlsVersion = tls
        facts.openSSLVersionNumber = openSSL
        let error = #expect(throws: RequestFailure.self) { try LibraryRequirements.check(facts) }
        #expect(error?.reason == .tls)
        #expect(error?.message.contains(named) == true)
    }
}

@Suite("System anchors")
struct SystemAnchorsTests {
    @Test("The system's anchors are found on this machine")
    func here() throws {
        let found = try SystemAnchors.locate(.system)
        #expect(found.file != nil || found.directory != nil)
    }

    @Test("The system's anchors come from the environment, then from a hashed directory, then from a bundle")
    func order() throws {
        let everything = try SystemAnchors.locate(
            environment: { ["SSL_CERT_FILE": "/a.pem"][$0] }, isReadable: { _ in true }, isHashed: { _ in true })
        #expect(everything == SystemAnchors(file: "/a.pem"))
        let several = try SystemAnchors.locate(
            environment: { ["SSL_CERT_DIR": "/gone:/there"][$0] }, isReadable: { $0 == "/there" },
            isHashed: { _ in true })
        #expect(several == SystemAnchors(directory: "/gone:/there"))
        let directory = try SystemAnchors.locate(
            environment: { _ in nil }, isReadable: { _ in true }, isHashed: { $0 == "/etc/pki/tls/certs" })
        #expect(directory == SystemAnchors(directory: "/etc/pki/tls/certs"))
        let bundle = try SystemAnchors.locate(
            environment: { $0 == "SSL_CERT_DIR" ? "" : nil }, isReadable: { $0 == "/etc/ssl/cert.pem" },
            isHashed: { _ in false })
        #expect(bundle == SystemAnchors(file: "/etc/ssl/cert.pem"))
    }

    @Test("Missing anchors are an error that names the searched places")
    func missing() {
        let nowhere = #expect(throws: RequestFailure.self) {
            try SystemAnchors.locate(environment: { _ in nil }, isReadable: { _ in false }, isHashed: { _ in false })
        }
        #expect(nowhere?.reason == .invalidPolicy)
        #expect(nowhere?.message.contains("/etc/ssl/certs") == true)
        let unreadable = #expect(throws: RequestFailure.self) {
            try SystemAnchors.locate(
                environment: { ["SSL_CERT_FILE": "/nowhere.pem"][$0] }, isReadable: { _ in false },
                isHashed: { _ in true })
        }
        #expect(unreadable?.reason == .file)
        #expect(unreadable?.message.contains("/nowhere.pem") == true)
    }
}

@Suite("A failed handshake")
struct HandshakeFaultTests {
    private static func account(_ detail: String, minimum: Int32 = 0x0303) -> HandshakeFault.Account {
        HandshakeFault(peer: "https://a.example", detail: detail, minimumVersion: minimum).account
    }

    @Test(
        "An alert of the server is named without OpenSSL's numbers, and has a remedy for its cause",
        arguments: [
            ("error:0A000410:SSL routines::sslv3 alert handshake failure", "handshake failure", "Check which ciphers"),
            ("error:0A00045C:SSL routines::tlsv13 alert certificate required", "certificate required", "Give the"),
            (
                "OpenSSL SSL_read: error:0A000412:SSL routines::sslv3 alert bad certificate, errno 0",
                "bad certificate", "Give the policy a client identity"
            ),
            ("error:0A000418:SSL routines::tlsv1 alert unknown ca", "unknown ca", "another client identity"),
            ("error:0A000458:SSL routines::tlsv1 unrecognized name", nil, "whether it requires a client certificate"),
            ("error:0A000458:SSL routines::tlsv1 alert unrecognized name", "unrecognized name", "Check the host name"),
            ("error:0A000438:SSL routines::tlsv1 alert internal error", "internal error", "Check that the port"),
        ] as [(String, String?, String)])
    func alerts(detail: String, alert: String?, remedy: String) {
        let account = Self.account(detail)
        let message =
            alert.map { "ended the TLS handshake with the alert “\($0)”." } ?? "failed: tlsv1 unrecognized name."
        #expect(account.message.hasSuffix(message), "\(account)")
        #expect((account.remedy ?? RequestFailure.Reason.tls.remedy)?.contains(remedy) == true, "\(account)")
        #expect(account.reason == .tls)
    }

    @Test("A handshake failure under a policy that requires TLS 1.3 mentions that version")
    func handshakeFailure() {
        let account = Self.account("error:0A000410:SSL routines::sslv3 alert handshake failure", minimum: 0x0304)
        #expect(account.remedy?.contains("offers TLS 1.3, which the policy requires") == true)
    }

    @Test("A configuration of OpenSSL without an allowed version is named as the cause")
    func configuration() {
        let account = Self.account("error:0A0000BF:SSL routines::no protocols available", minimum: 0x0304)
        #expect(account.reason == .tlsTooOld)
        #expect(account.message.contains("OpenSSL's configuration on this machine"))
        #expect(account.remedy?.contains("MaxProtocol") == true)
    }
}

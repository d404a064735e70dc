import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import Testing

@Suite("Names in certificates")
struct CertificateNameTests {
    /// Names and their escaped form.
    static let hidden = [
        ("evil\u{202E}moc.elpmaxe", "CN=evil\\u{202E}moc.elpmaxe"), ("a\u{202A}b\u{202B}c\u{202C}d\u{202D}e", nil),
        ("a\u{2066}b\u{2067}c\u{2068}d\u{2069}e", nil),
        ("a\u{200E}b\u{200F}c\u{61C}d", "CN=a\\u{200E}b\\u{200F}c\\u{61C}d"),
        ("a\nb\rc\td\u{1}e\u{1B}[31mf\u{7F}g", nil), ("a\u{85}b\u{9B}31mc\u{9F}", "CN=a\\u{85}b\\u{9B}31mc\\u{9F}"),
        ("a\u{200B}b\u{200C}c\u{200D}d\u{2060}e\u{FEFF}f\u{AD}g", nil), ("a\u{2028}b\u{2029}c", nil),
        ("a\u{115F}b\u{3164}c\u{FE0F}d\u{E0041}e", nil), ("a\u{E000}b\u{FFFE}c", nil),
    ]

    private static func isVisible(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            let hidden: [Unicode.GeneralCategory] = [.control, .format, .lineSeparator, .paragraphSeparator]
            return !hidden.contains(scalar.properties.generalCategory)
                && !scalar.properties.isDefaultIgnorableCodePoint
        }
    }

    @Test(
        "Control, bidirectional and invisible characters of a subject are escaped wherever it is shown",
        arguments: hidden)
    func escaped(name: String, shown: String?) async throws {
        let leaf = try TestCertificate.selfSigned(.init(commonName: name, dnsNames: ["localhost"]))
        let subject = try #require(CertificateChain(PEM(leaf.certificatePEM)).certificates.first?.subject)
        #expect(Self.isVisible(subject), "\(subject.debugDescription)")
        #expect(subject.hasPrefix("CN="))
        if let shown { #expect(subject == shown) }

        // These are a refusal and its report.
        let server = try LoopbackServer(tls: ServerTLS(certificate: leaf)) { _ in .response() }
        let trust = try CompiledTrust(TrustPolicy(anchors: Fixture.anchors("root")))
        let reports = trust.reports()
        let transport = try CurlTransport(trust: trust, configuration: AttackBench.configuration(to: [server]))
        let sent = try TransportRequest(.get, RequestURL("https://localhost:\(server.port)/"))
        let found = await failure { try await transport.send(sent) }
        #expect(found?.reason == .trustChain)
        #expect(found?.message.contains("(\(subject))") == true)
        #expect(found.map { Self.isVisible($0.description) } == true)
        #expect(found?.chain.first?.subject == subject)
        var reader = reports.makeAsyncIterator()
        let report = await reader.next()
        #expect(report?.chain.first?.subject == subject)
        #expect(report.map { Self.isVisible($0.message) } == true)
        await transport.shutdown()
    }

    @Test(
        "International names stay readable",
        arguments: [
            "Bücher GmbH", "株式会社テスト", "الشركة", "Компания", "חברה", "ห้างหุ้นส่วน", "कंपनी", "e\u{301}t\u{E9}", "🔒", "a b",
        ])
    func readable(name: String) throws {
        let leaf = try TestCertificate.selfSigned(.init(commonName: name))
        #expect(try CertificateChain(PEM(leaf.certificatePEM)).certificates.first?.subject == "CN=\(name)")
    }

    @Test("A name that spells an escape differs from one that has the character")
    func spelled() throws {
        let leaf = try TestCertificate.selfSigned(.init(commonName: "a\\u{202E}b"))
        #expect(try CertificateChain(PEM(leaf.certificatePEM)).certificates.first?.subject == "CN=a\\\\u{202E}b")
    }
}

import EssentialsTransport
import FoundationEssentials
import Testing

@Suite struct PEMTests {
    private static func block(_ label: String) -> String { "-----BEGIN \(label)-----\nAAAA\n-----END \(label)-----\n" }

    @Test(
        "The labels have the order of their blocks",
        arguments: [
            (block("CERTIFICATE"), ["CERTIFICATE"]),
            (block("CERTIFICATE") + block("PRIVATE KEY"), ["CERTIFICATE", "PRIVATE KEY"]),
            (
                "text before\n" + block("EC PRIVATE KEY") + "\nbetween\n" + block("X509 CRL"),
                ["EC PRIVATE KEY", "X509 CRL"]
            ),
            (block("CERTIFICATE").replacing("\n", with: "\r\n"), ["CERTIFICATE"]),
            ("  -----BEGIN CERTIFICATE-----  \nAAAA\n\t-----END CERTIFICATE-----", ["CERTIFICATE"]),
            (block("CERTIFICATE") + block("CERTIFICATE"), ["CERTIFICATE", "CERTIFICATE"]),
        ])
    func labels(text: String, labels: [String]) throws {
        let pem = try PEM(text)
        #expect(pem.labels == labels)
        #expect(pem.text == text)
    }

    @Test(
        "A text without a block is refused",
        arguments: [
            "", "\n\n", "hello", "AAAA", "BEGIN CERTIFICATE", "-----BEGIN -----", "----BEGIN A----\n----END A----",
        ])
    func noBlock(text: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try PEM(text) }
        #expect(failure.reason == .invalidPolicy)
        #expect(failure.message == "The PEM text contains no PEM block.")
        #expect(failure.remedy?.contains("-----BEGIN CERTIFICATE-----") == true)
    }

    @Test(
        "A block without its matching end is refused",
        arguments: [
            "-----BEGIN CERTIFICATE-----\nAAAA\n", "-----BEGIN CERTIFICATE-----",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END PRIVATE KEY-----\n", "-----END CERTIFICATE-----\n",
            "-----BEGIN CERTIFICATE-----\nAAAA\n" + block("CERTIFICATE"),
            "-----BEGIN PRIVATE KEY-----\nAAAA\n" + block("CERTIFICATE"),
            block("CERTIFICATE") + "-----BEGIN CERTIFICATE-----\nAAAA\n",
            block("CERTIFICATE") + "-----END CERTIFICATE-----",
        ])
    func damaged(text: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try PEM(text) }
        #expect(failure.reason == .invalidPolicy)
        #expect(failure.message.hasPrefix("The PEM text is damaged"))
    }

    @Test("A file is parsed like a text")
    func file() throws {
        let path = FileManager.default.temporaryDirectory.path + "/pem-\(UUID()).pem"
        try Data(Self.block("CERTIFICATE").utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(try PEM(contentsOfFile: path) == PEM(Self.block("CERTIFICATE")))
        try Data("nothing".utf8).write(to: URL(filePath: path))
        let failure = try #require(throws: RequestFailure.self) { try PEM(contentsOfFile: path) }
        #expect(failure.reason == .invalidPolicy)
        #expect(failure.message.contains(path))
    }

    @Test("A file that is too large is refused before it is read")
    func hugeFile() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "pem-\(UInt64.random(in: 0 ... .max))").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(count: (16 << 20) + 1).write(to: URL(filePath: path))
        let failure = try #require(throws: RequestFailure.self) { try PEM(contentsOfFile: path) }
        #expect(failure.reason == .invalidPolicy)
        #expect(failure.message.contains("16777217 bytes"))
    }

    @Test("The failure for an unreadable file names the file", arguments: ["/nonexistent/ca.pem", "/", ""])
    func missingFile(path: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try PEM(contentsOfFile: path) }
        #expect(failure.reason == .file)
        #expect(failure.message.contains("“\(path)”"))
        #expect(failure.underlying != nil)
    }
}

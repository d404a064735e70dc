import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("The article MovingFromOtherClients", .timeLimit(.minutes(5)))
struct MovingFromOtherClientsTests {
    private struct Fixed: AccessTokenProvider {
        func token(replacing old: AccessToken?) async throws -> AccessToken { try AccessToken("t1") }
    }

    @Test("The article on other clients sets retries, cookies, limits, redirects and tokens of a service")
    func configuration() async throws {
        let transport = ScriptedTransport()
        let environment = try ConstantEnvironment("https://api.test/v1/")
        let provider = Fixed()
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        transport.on(.get, "/v1/me", headerFields: [.authorization: "Bearer t1"]).answer(.noContent)

        // Article begins
        var configuration = HTTPDataRequestService.Configuration()
        configuration.retry = .standard
        configuration.cookies = try CookieJar(file: CookieFile(path))
        configuration.limits = OriginLimits(concurrency: 5)
        configuration.redirects = .limit(3)
        let requests = HTTPDataRequestService(
            environment: environment, transport: transport,
            configuration: configuration)
        requests.setAuthorization(.tokens(provider))
        // Article ends
        #expect(try await requests.send(DataRequest(.get, "me")).status == .noContent)
        try transport.verify()
    }

    @Test(
        "The article names only symbols that the sources contain",
        arguments: ["Alamofire", "OkHttp", "reqwest", "URLSession"])
    func names(client: String) throws {
        let rows = try ArticleText("MovingFromOtherClients", of: "ServiceEssentials")
            .table(under: "| for | \(client) | here |")
        #expect(rows.count >= 14)
        let known = try Self.wordsOfSources.get()
        for row in rows {
            try #require(row.count == 3, "\(row)")
            // Names with a hyphen are those of header fields.
            for code in Self.code(in: row[2]) where !code.contains("-") {
                let unknown = Self.words(of: Array(code.utf8)).subtracting(known)
                #expect(unknown == [], "\(row[0]): `\(code)`")
            }
        }
    }

    @Test("Every table of the article compares the same subjects")
    func subjects() throws {
        let article = try ArticleText("MovingFromOtherClients", of: "ServiceEssentials")
        let common: Set = [
            "retries", "token refresh", "cookies", "limits", "interceptors", "pins", "redirects", "progress",
            "a download that continues", "multipart", "caching", "cancel", "timeouts", "status",
        ]
        for client in ["Alamofire", "OkHttp", "reqwest", "URLSession"] {
            let named = article.table(under: "| for | \(client) | here |").map { $0[0] }
            #expect(common.isSubset(of: named), "\(client)")
        }
    }

    /// The parts of a cell between backticks.
    private static func code(in cell: String) -> [Substring] {
        cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
    }

    /// The identifiers in a text.
    private static func words(of text: [UInt8]) -> Set<String> {
        let isInWord = { (byte: UInt8) in
            (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte)
        }
        return Set(text.split { !isInWord($0) }.lazy.map { String(decoding: $0, as: UTF8.self) })
    }

    /// The identifiers of the code that a reader of the article uses, without comments.
    private static let wordsOfSources = Result { () throws -> Set<String> in
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Sources")
        var words: Set<String> = []
        for module in ["EssentialsTransport", "EssentialsHTTP", "EssentialsCurl", "EssentialsRequests"] {
            let folder = root.appending(path: module).path
            for name in try FileManager.default.subpathsOfDirectory(atPath: folder) where name.hasSuffix(".swift") {
                let text = [UInt8](try Data(contentsOf: URL(filePath: "\(folder)/\(name)")))
                for line in text.split(separator: UInt8(ascii: "\n")) {
                    let code = line.drop { $0 == 0x20 }
                    if !code.starts(with: "//".utf8) { words.formUnion(Self.words(of: Array(code))) }
                }
            }
        }
        return words
    }
}

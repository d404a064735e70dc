import FoundationEssentials
import Testing

@Suite("Articles")
struct ArticleTests {
    /// Swift code in articles that is not compiled here, by its first line, with the reason.
    private static let exceptions = [
        "// swift-tools-version: 6.2": "a manifest is compiled by the package manager alone",
        "import Configuration": "this package does not depend on swift-configuration",
        "upload.body = .stream(buffers.map(\\.readableBytesView), length: nil)": "this package has no ByteBuffer",
    ]

    /// The articles in the catalog of the umbrella module.
    private static let umbrellaArticles: Set = ["ComingFrom"]
    private let umbrella = "ServiceEssentials"

    /// The languages of other code blocks.
    private static let otherLanguages: Set<Substring> = ["sh", "json", "objc"]

    @Test(
        "An article contains exactly the tested code and has a limited length",
        arguments: [
            "FirstRequest", "HandlingFailures", "Environments", "BuildingRequests", "Authenticating",
            "DownloadsAndUploads", "ListsInPages", "TestDoubles", "MovingFromServiceEssentials", "ComingFrom",
            "InterceptingRequests", "LoggingRequests",
        ])
    func sameText(name: String) throws {
        let article = try ArticleText(name, of: Self.umbrellaArticles.contains(name) ? umbrella : "EssentialsRequests")
        let shown = article.blocks("swift").filter { block in
            Self.exceptions[String(block.first ?? "")] == nil
        }
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        var tested = try ArticleText.tested(in: folder.appending(path: "\(name)Tests.swift").path)
        // The order may differ: in an article a block stands where it is explained, in a file where it compiles.
        for block in shown {
            let place = tested.firstIndex(of: block)
            #expect(place != nil, "No test holds: \(block.joined(separator: "\n"))")
            if let place { tested.remove(at: place) }
        }
        #expect(tested == [], "The article lacks what is tested.")
        #expect(Set(article.languages).subtracting(["swift"]).isSubset(of: Self.otherLanguages))
        #expect(article.lines.count <= 151)
    }

    @Test("The list of exceptions names each once, with its reason")
    func exceptions() throws {
        let articles = try ["FirstRequest", "Environments", "DownloadsAndUploads"].map { try ArticleText($0) }
        let blocks = articles.flatMap { $0.blocks("swift") }
        for (line, reason) in Self.exceptions {
            #expect(blocks.filter { $0.first == Substring(line) }.count == 1, "\(line): \(reason)")
        }
    }
}

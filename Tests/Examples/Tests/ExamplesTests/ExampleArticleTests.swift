import Foundation
import Testing

@Suite("Articles with code of the examples")
struct ExampleArticleTests {
    private static let package = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let sources = package.deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Sources")

    private static func lines(_ url: URL) throws -> [String] {
        try String(contentsOf: url, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// The text of all Swift files of the examples, without indentation.
    private static func examples() throws -> [String] {
        let folder = package.appending(path: "Sources")
        let names = try #require(FileManager.default.enumerator(atPath: folder.path))
        return try names.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
            .map { try lines(folder.appending(path: $0)).joined(separator: "\n") }
    }

    @Test(
        "The code of an article is part of an example, and the article has a limited length",
        arguments: [
            "EssentialsRequests/EssentialsRequests.docc/EndingAProgram.md",
            "EssentialsRequests/EssentialsRequests.docc/EndingOnSignals.md",
            "ServiceEssentials/ServiceEssentials.docc/NamesBesideOtherPackages.md",
        ])
    func sameText(path: String) throws {
        let article = try Self.lines(Self.sources.appending(path: path))
        let examples = try Self.examples()
        var rest = article[...]
        var count = 0
        while let begin = rest.firstIndex(of: "```swift") {
            let block = rest[(begin + 1)...].prefix { $0 != "```" }
            let text = block.joined(separator: "\n")
            #expect(examples.contains { $0.contains(text) }, "No example contains:\n\(text)")
            rest = rest[block.endIndex...].dropFirst()
            count += 1
        }
        #expect(count > 0)
        #expect(article.filter { $0.hasPrefix("```") }.count == count * 2, "Every block is Swift.")
        #expect(article.count <= 151)
    }
}

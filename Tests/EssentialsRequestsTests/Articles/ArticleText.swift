import FoundationEssentials

/// The text of an article, for tests that compare it with code.
struct ArticleText {
    let lines: [Substring]

    /// Reads an article from a module's catalog.
    init(_ name: String, of module: String = "EssentialsRequests") throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let root = tests.deletingLastPathComponent().deletingLastPathComponent()
        lines = try Self.lines(of: root.appending(path: "Sources/\(module)/\(module).docc/\(name).md").path)
    }

    /// The code blocks in a language, without the indentation of a surrounding list.
    func blocks(_ language: String) -> [[Substring]] {
        Self.blocks(in: lines, after: { $0 == "```\(language)" }, until: { $0 == "```" })
    }

    /// The languages of all code blocks.
    var languages: [Substring] {
        let fences = lines.filter { $0.hasPrefix("```") }
        return stride(from: 0, to: fences.count, by: 2).map { fences[$0].dropFirst(3) }
    }

    /// The cells of the rows of the first table with this head, below the heading if one is given.
    func table(under head: String, of heading: String? = nil) -> [[String]] {
        let section = heading.map { heading in lines.drop { $0 != heading } } ?? lines[...]
        guard let start = section.firstIndex(where: { $0 == head }) else { return [] }
        return lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map { row in
            row.split(separator: "|").map { cell in
                let blank = cell.drop { $0 == " " }
                return String(
                    blank[..<(blank.lastIndex { $0 != " " }.map { blank.index(after: $0) } ?? blank.startIndex)])
            }
        }
    }

    /// The lines between the marks in a test file, without the marks' indentation.
    static func tested(in file: String, as mark: String = "Article") throws -> [[Substring]] {
        let lines = try Self.lines(of: file)
        let begins: (Substring) -> Bool = { $0.drop { $0 == " " } == "// \(mark) begins" }
        let indents = lines.filter(begins).map { $0.prefix { $0 == " " }.count }
        let blocks = Self.blocks(in: lines, after: begins) { $0.drop { $0 == " " } == "// \(mark) ends" }
        return zip(blocks, indents).map { block, indent in block.map { $0.dropFirst(indent) } }
    }

    private static func blocks(
        in lines: [Substring], after isBegin: (Substring) -> Bool, until isEnd: (Substring) -> Bool
    ) -> [[Substring]] {
        var rest = lines[...]
        var blocks: [[Substring]] = []
        while let begin = rest.firstIndex(where: isBegin) {
            let block = rest[(begin + 1)...].prefix { !isEnd($0) }
            blocks.append(Array(block))
            rest = rest[block.endIndex...]
        }
        return blocks
    }

    private static func lines(of path: String) throws -> [Substring] {
        String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
    }
}

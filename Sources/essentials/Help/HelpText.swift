/// A help text as blocks, which are printed on a terminal or in the manual page.
///
/// In the source, an empty line separates blocks. A line that begins with `# ` is a heading. A block whose lines begin
/// with two spaces is literal, such as commands and files. A line with `:: ` in it is a term and its meaning, which
/// continues in the next lines. Everything else is a paragraph.
struct HelpText: Sendable {
    enum Block: Sendable, Equatable {
        case heading(String)
        case paragraph(String)
        case literal([String])
        case item(term: String, meaning: String)
    }

    let blocks: [Block]

    init(blocks: [Block]) { self.blocks = blocks }

    init(_ source: String) {
        var blocks: [Block] = []
        for lines in source.split(separator: "\n", omittingEmptySubsequences: false).split(separator: "") {
            if lines.allSatisfy({ $0.hasPrefix("  ") }) {
                blocks.append(.literal(lines.map { String($0.dropFirst(2)) }))
                continue
            }
            for line in lines {
                Self.add(String(line), to: &blocks, isFirst: line.startIndex == lines.first?.startIndex)
            }
        }
        self.blocks = blocks
    }

    private static func add(_ line: String, to blocks: inout [Block], isFirst: Bool) {
        if line.hasPrefix("# ") {
            blocks.append(.heading(String(line.dropFirst(2))))
        } else if let mark = line.firstRange(of: ":: ") {
            blocks.append(
                .item(term: String(line[..<mark.lowerBound]), meaning: String(line[mark.upperBound...])))
        } else if !isFirst, case .item(let term, let meaning) = blocks.last {
            blocks[blocks.count - 1] = .item(term: term, meaning: meaning + " " + line)
        } else if !isFirst, case .paragraph(let text) = blocks.last {
            blocks[blocks.count - 1] = .paragraph(text + " " + line)
        } else {
            blocks.append(.paragraph(line))
        }
    }

    /// The lines for a terminal. Literal lines are never broken.
    ///
    /// - Parameter width: The number of columns; at most 80 are used, because long lines are hard to read.
    func lines(width: Int) -> [String] {
        let width = max(20, min(80, width))
        let terms = blocks.compactMap { if case .item(let term, _) = $0 { term.count } else { nil } }
        let indent = min(24, (terms.max() ?? 0) + 4)
        var lines: [String] = []
        var previous: Block?
        for block in blocks {
            if let previous, !Self.isJoined(previous, block) { lines.append("") }
            switch block {
            case .heading(let title): lines.append(title)
            case .paragraph(let text): lines += Self.wrapped(text, width: width)
            case .literal(let literal): lines += literal.map { $0.isEmpty ? "" : "  " + $0 }
            case .item(let term, let meaning):
                let first = "  " + term
                let wrapped = Self.wrapped(meaning, width: width - indent).map { "".padded(to: indent) + $0 }
                if first.count < indent, let start = wrapped.first {
                    lines.append(first.padded(to: indent) + start.dropFirst(indent))
                    lines += wrapped.dropFirst()
                } else {
                    lines += [first] + wrapped
                }
            }
            previous = block
        }
        return lines
    }

    private static func isJoined(_ one: Block, _ next: Block) -> Bool {
        switch (one, next) {
        case (.item, .item), (.heading, _): true
        default: false
        }
    }

    static func wrapped(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            line += line.isEmpty ? String(word) : " " + word
        }
        return line.isEmpty ? lines : lines + [line]
    }
}

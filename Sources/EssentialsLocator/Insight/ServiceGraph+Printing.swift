extension ServiceGraph: CustomStringConvertible {
    /// The same as ``text``.
    public var description: String { text }

    /// Lines for each locator, below it each registration with its kind, state and source line, and below that the
    /// registrations that it was built from.
    public var text: String {
        let labels = labelsByID
        var lines: [String] = []
        for (depth, locator) in locators.enumerated() {
            let role = depth == 0 ? "" : "parent "
            let count = locator.registrations.count
            lines.append(
                "\(role)\"\(locator.name)\"\(locator.isClosed ? ", closed" : ""): "
                    + (count == 1 ? "1 registration" : "\(count) registrations"))
            for registration in locator.registrations {
                lines.append(
                    "  \(registration.label): \(registration.kind.rawValue), \(registration.state.rawValue) "
                        + "(\(registration.site))")
                for edge in edges where edge.from == registration.id {
                    lines.append("    needs \(labels[edge.to] ?? "?")")
                }
                if registration.hasMoreEdges { lines.append("    needs more") }
            }
        }
        return lines.joined(separator: "\n")
    }

    /// A Mermaid flowchart, with a box around each locator.
    public var mermaid: String {
        var lines = ["flowchart TD"]
        for (index, locator) in locators.enumerated() {
            lines.append("  subgraph L\(index)[\"\(Self.mermaidText(locator.name))\"]")
            for registration in locator.registrations { lines.append("    \(Self.mermaidNode(registration))") }
            lines.append("  end")
        }
        for registration in elsewhere { lines.append("  \(Self.mermaidNode(registration))") }
        for edge in edges { lines.append("  N\(edge.from) --> N\(edge.to)") }
        return lines.joined(separator: "\n")
    }

    /// A Graphviz graph, with a cluster for each locator.
    public var dot: String {
        var lines = ["digraph services {", "  node [shape=box];"]
        for (index, locator) in locators.enumerated() {
            lines.append("  subgraph cluster\(index) {")
            lines.append("    label=\(Self.dotText(locator.name));")
            for registration in locator.registrations { lines.append("    \(Self.dotNode(registration))") }
            lines.append("  }")
        }
        for registration in elsewhere { lines.append("  \(Self.dotNode(registration))") }
        for edge in edges { lines.append("  n\(edge.from) -> n\(edge.to);") }
        lines.append("}")
        return lines.joined(separator: "\n")
    }

    private var labelsByID: [UInt64: String] {
        var labels: [UInt64: String] = [:]
        for locator in locators {
            for registration in locator.registrations {
                labels[registration.id] = "\(registration.label) in \"\(locator.name)\""
            }
        }
        for registration in elsewhere { labels[registration.id] = registration.label }
        return labels
    }

    private static func facts(_ registration: Registration) -> String {
        "\(registration.kind.rawValue), \(registration.state.rawValue)"
            + (registration.hasMoreEdges ? ", needs more" : "")
    }

    private static func mermaidNode(_ registration: Registration) -> String {
        let label = mermaidText(registration.label)
        guard registration.state != .elsewhere else { return "N\(registration.id)[\"\(label)<br/>elsewhere\"]" }
        return "N\(registration.id)[\"\(label)<br/>\(facts(registration))\"]"
    }

    /// Replaces characters that would end a label or begin markup by Mermaid's entities, which begin with `#`.
    private static func mermaidText(_ text: String) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "\"": escaped += "#quot;"
            case "#": escaped += "#35;"
            case "&": escaped += "#amp;"
            case "<": escaped += "#lt;"
            case ">": escaped += "#gt;"
            case "\n", "\r", "\r\n": escaped += " "
            default: escaped.append(character)
            }
        }
        return escaped
    }

    private static func dotNode(_ registration: Registration) -> String {
        let facts = registration.state == .elsewhere ? "elsewhere" : facts(registration)
        return "n\(registration.id) [label=\(dotText(registration.label + "\n" + facts))];"
    }

    private static func dotText(_ text: String) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "\"": escaped += "\\\""
            case "\\": escaped += "\\\\"
            case "\n", "\r", "\r\n": escaped += "\\n"
            default: escaped.append(character)
            }
        }
        return "\"\(escaped)\""
    }
}

/// A subject that `essentials help` explains.
struct HelpTopic: Sendable {
    let name: String
    /// One line for lists of topics.
    let summary: String
    let text: HelpText

    init(_ name: String, _ summary: String, _ source: String) {
        self.name = name
        self.summary = summary
        text = HelpText(source)
    }

    static let all = [pins, policies, environments, output, stores, exitCodes, reasons, variables, completions]

    /// The list of topics for the help of the tool.
    static var list: String {
        all.map { "  \($0.name.padded(to: 14))\($0.summary)" }.joined(separator: "\n")
    }
}

import ArgumentParser
import ServiceEssentials

/// `essentials help`
///
/// The parser lists a command `help` of its own, so this one is not displayed. It takes precedence.
struct HelpTopicCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "help", abstract: "Explain a command, a topic or the reason of a failure.", shouldDisplay: false)

    @Argument(help: "A command, a topic or a reason.", completion: .list(words))
    var subject: String?

    @Flag(name: .customLong("manual"), help: "Print the manual page in the format of man(1).")
    var printsManual = false

    /// The commands and topics.
    static var words: [String] {
        let names = EssentialsTool.configuration.subcommands.filter { $0.configuration.shouldDisplay }.map {
            $0._commandName
        }
        return names + HelpTopic.all.map(\.name).filter { !names.contains($0) }
    }

    func validate() throws {
        if printsManual, subject != nil { throw ValidationError("Give --manual or a subject, not both.") }
    }

    func run() throws {
        if printsManual {
            guard let tool = CommandSchema.tool() else { throw ValidationError("The commands could not be listed.") }
            return try print(ManualPage(tool: tool).lines)
        }
        guard let subject else { throw CleanExit.helpRequest(EssentialsTool.self) }
        let topic = HelpTopic.all.first { $0.name == subject.lowercased() }
        let command = EssentialsTool.configuration.subcommands.first { $0._commandName == subject.lowercased() }
        if let topic { try print(topic.text.lines(width: Terminal.width)) }
        if let command {
            if topic != nil { try print(["", "THE COMMAND", ""]) }
            throw CleanExit.helpRequest(command)
        }
        if topic != nil { return }
        if let reason = FailureReasons.meaning(of: subject) {
            return try print(HelpText("\(reason.name):: \(reason.meaning)").lines(width: Terminal.width))
        }
        let known = Self.words + FailureReasons.meanings.map(\.name)
        throw ValidationError(
            "“\(OneLine.text(subject))” is not a command, topic or reason."
                + EditDistance.question(EditDistance.suggestions(for: subject, among: known))
                + "\nTopics: \(HelpTopic.all.map(\.name).joined(separator: ", "))")
    }

    private func print(_ lines: [String]) throws {
        try StandardStream.output.write(lines.map { $0 + "\n" }.joined())
    }
}

import ArgumentParser
import FoundationEssentials

/// The commands with their arguments, as the parser describes them.
struct CommandSchema: Decodable {
    struct Argument: Decodable {
        struct Name: Decodable {
            let kind, name: String

            /// The name with its dashes.
            var text: String { (kind == "long" ? "--" : "-") + name }
        }

        let kind: String
        let shouldDisplay: Bool
        let sectionTitle: String?
        let isOptional: Bool
        let names: [Name]?
        let valueName, defaultValue, abstract: String?
        let allValues: [String]?
    }

    let commandName: String
    let shouldDisplay: Bool
    let abstract, discussion: String?
    let subcommands: [CommandSchema]?
    let arguments: [Argument]?

    private struct Tool: Decodable {
        let command: CommandSchema
    }

    /// The schema of the tool, with the commands that are shown. The parser adds a command `help` of its own, which is
    /// left out.
    static func tool() -> CommandSchema? {
        try? JSONDecoder().decode(Tool.self, from: Data(EssentialsTool._dumpHelp().utf8)).command
    }

    /// The schema of one command, which takes a tenth of the time; that of the tool if no command has the name.
    static func command(_ name: String?) -> CommandSchema? {
        guard let type = EssentialsTool.configuration.subcommands.first(where: { $0._commandName == name }) else {
            return tool()
        }
        return try? JSONDecoder().decode(Tool.self, from: Data(type._dumpHelp().utf8)).command
    }

    var commands: [CommandSchema] { (subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" } }

    /// Whether each option takes a value, by all of its names with their dashes, with those that are not shown.
    var takesValue: [String: Bool] {
        var result = Dictionary(
            uniqueKeysWithValues: ["-h", "--help", "--help-hidden", "--version"].map { ($0, false) })
        for argument in arguments ?? [] {
            for name in argument.names ?? [] { result[name.text] = argument.kind == "option" }
        }
        return result
    }

    /// The options and flags, with their dashes.
    var optionNames: [String] {
        (arguments ?? []).filter(\.shouldDisplay).flatMap { $0.names ?? [] }.map(\.text).filter { $0.hasPrefix("--") }
    }
}

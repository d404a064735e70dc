/// The manual page in the format of mdoc(7), from the descriptions of the commands and the help topics.
struct ManualPage {
    private static let date = "November 24, 2026"
    /// The width of the source, without the escapes.
    private static let sourceWidth = 72
    let tool: CommandSchema

    var lines: [String] {
        [
            ".Dd \(Self.date)", ".Dt ESSENTIALS 1", ".Os",
            ".Sh NAME", ".Nm essentials", ".Nd send HTTP requests under a strict trust policy",
            ".Sh SYNOPSIS",
        ]
            + tool.commands.flatMap { synopsis($0) }
            + [".Nm", ".Cm help", ".Op Ar command | topic | reason", ".Sh DESCRIPTION"]
            + Self.text(Self.discussion(tool), level: ".Ss")
            + [".Sh COMMANDS"] + sharedParagraphs + tool.commands.flatMap { description($0) }
            + [".Sh OPTIONS"] + sharedOptions
            + HelpTopic.all.flatMap { topic in
                [".Sh \(topic.name.uppercased().map { $0 == "-" ? " " : "\($0)" }.joined())"]
                    + Self.text(topic.text, level: ".Ss")
            }
            + [".Sh SEE ALSO", ".Xr curl 1 ,", ".Xr openssl 1"]
    }

    // MARK: Commands

    private func synopsis(_ command: CommandSchema) -> [String] {
        [".Nm", ".Cm \(command.commandName)", ".Op Ar options"]
            + positionals(command).map { argument in
                let name = Self.argument(argument.valueName)
                return argument.isOptional ? ".Op Ar \(name)" : ".Ar \(name)"
            }
    }

    private func description(_ command: CommandSchema) -> [String] {
        var lines = [".Ss essentials \(command.commandName)"]
        let blocks = Self.discussion(command).blocks.filter { !isShared($0) }
        lines += Self.text(HelpText(blocks: [.paragraph(command.abstract ?? "")] + blocks), level: ".Sy")
        let own = options(command).filter { !isShared($0) }
        let shared = options(command).filter(isShared).compactMap { $0.names?.last?.text }
        let arguments = positionals(command) + own
        if !arguments.isEmpty { lines += Self.list(arguments) }
        guard !shared.isEmpty else { return lines }
        let names = shared.map(Self.escaped).joined(separator: ", ")
        return lines + [".Pp", "Options that are described under", ".Sx OPTIONS :", names + "."]
    }

    /// The paragraphs that several commands share, for the text before the first command.
    private var sharedParagraphs: [String] {
        var paragraphs: [HelpText.Block] = []
        for block in tool.commands.flatMap({ Self.discussion($0).blocks }) where isShared(block) {
            if !paragraphs.contains(block) { paragraphs.append(block) }
        }
        return paragraphs.flatMap { block in
            let names = tool.commands.filter { Self.discussion($0).blocks.contains(block) }.map(\.commandName)
            let heading = "# For \(names.joined(separator: ", "))"
            return Self.text(HelpText(blocks: HelpText(heading).blocks + [block]), level: ".Ss")
        }
    }

    private func isShared(_ block: HelpText.Block) -> Bool {
        guard case .paragraph = block else { return false }
        return tool.commands.filter { Self.discussion($0).blocks.contains(block) }.count > 1
    }

    /// The description without the exit codes, which are a topic.
    private static func discussion(_ command: CommandSchema) -> HelpText {
        let text = (command.discussion ?? "").split(separator: "\n", omittingEmptySubsequences: false)
        let skipped: Set<Substring> = ["EXIT CODES", "VARIABLES", "TOPICS"]
        var kept: [String] = []
        var isSkipping = false
        for line in text {
            let isHeading = !line.isEmpty && line.allSatisfy { $0.isUppercase || $0 == " " }
            if isHeading { isSkipping = skipped.contains(line) }
            if !isSkipping { kept.append(isHeading ? "# \(line)\n" : String(line)) }
        }
        return HelpText(kept.joined(separator: "\n"))
    }

    private func positionals(_ command: CommandSchema) -> [CommandSchema.Argument] {
        (command.arguments ?? []).filter { $0.kind == "positional" && $0.shouldDisplay }
    }

    /// The options and flags, without those that every command has.
    private func options(_ command: CommandSchema) -> [CommandSchema.Argument] {
        (command.arguments ?? []).filter { argument in
            argument.kind != "positional" && argument.shouldDisplay
                && !["help", "version"].contains(argument.names?.last?.name ?? "")
        }
    }

    // MARK: Options

    /// The options of more than one command with the same description, by section.
    private var sharedOptions: [String] {
        var (seen, sections): (Set<String>, [(title: String, options: [CommandSchema.Argument])]) = ([], [])
        for option in tool.commands.flatMap({ options($0) }) where isShared(option) {
            guard seen.insert(Self.key(option)).inserted else { continue }
            let title = option.sectionTitle ?? "Options"
            if let index = sections.firstIndex(where: { $0.title == title }) {
                sections[index].options.append(option)
            } else {
                sections.append((title, [option]))
            }
        }
        return ["All commands have the options", ".Fl h , Fl -help", "and", ".Fl -version ."]
            + sections.flatMap { [".Ss \($0.title)"] + Self.list($0.options) }
    }

    private func isShared(_ option: CommandSchema.Argument) -> Bool {
        tool.commands.filter { command in options(command).contains { Self.key($0) == Self.key(option) } }.count > 1
    }

    private static func key(_ option: CommandSchema.Argument) -> String {
        (option.names?.map(\.text).joined(separator: " ") ?? "") + "\n" + (option.abstract ?? "")
    }

    private static func list(_ arguments: [CommandSchema.Argument]) -> [String] {
        [".Bl -tag -width Ds"]
            + arguments.flatMap { argument -> [String] in
                var meaning = argument.abstract ?? ""
                let values = (argument.allValues ?? []).filter { !$0.isEmpty }
                if !values.isEmpty { meaning += " The values are \(values.joined(separator: ", "))." }
                if let value = argument.defaultValue, argument.kind == "option" {
                    meaning += " The default is \(value)."
                }
                return [".It " + label(argument)] + sentences(meaning)
            } + [".El"]
    }

    private static func label(_ argument: CommandSchema.Argument) -> String {
        let value = "Ar " + Self.argument(argument.valueName)
        guard argument.kind != "positional" else { return value }
        let names = (argument.names ?? []).map { name in
            "Fl " + (name.kind == "long" ? "-" : "") + escaped(name.name)
        }
        return names.joined(separator: " , ") + (argument.kind == "option" ? " " + value : "")
    }

    // MARK: Text

    private static func text(_ text: HelpText, level: String) -> [String] {
        var (lines, isInList, needsSpace): ([String], Bool, Bool) = ([], false, false)
        for block in text.blocks {
            if case .item = block {
            } else if isInList {
                lines.append(".El")
                isInList = false
            }
            switch block {
            case .heading(let title):
                lines += level == ".Ss" ? [".Ss \(escaped(title))"] : [".Pp", "\(level) \(escaped(title))"]
                needsSpace = level != ".Ss"
                continue
            case .paragraph(let text): lines += (needsSpace ? [".Pp"] : []) + sentences(text)
            case .literal(let literal):
                lines += [".Bd -literal -offset indent"] + literal.map(escaped) + [".Ed"]
            case .item(let term, let meaning):
                if !isInList { lines.append(".Bl -tag -width Ds") }
                isInList = true
                lines += [".It Cm \(argument(term))"] + sentences(meaning)
            }
            needsSpace = true
        }
        return isInList ? lines + [".El"] : lines
    }

    /// The sentences of a text on lines of their own, as the formatter expects them.
    private static func sentences(_ text: String) -> [String] {
        var (lines, line): ([String], String) = ([], "")
        for word in text.split(separator: " ") {
            line += line.isEmpty ? String(word) : " " + word
            guard let last = word.last(where: { !")”".contains($0) }), ".?!".contains(last) else { continue }
            lines.append(line)
            line = ""
        }
        return (lines + [line]).flatMap { HelpText.wrapped($0, width: sourceWidth).map(escaped) }
    }

    /// A text as one argument of a macro.
    private static func argument(_ text: String?) -> String {
        let text = escaped(text ?? "value")
        return text.contains(" ") || text.contains(",") || text.contains("|") ? "\"\(text)\"" : text
    }

    /// A text in which no character has a meaning for the formatter.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "\\": escaped += "\\e"
            case "“": escaped += "\\(lq"
            case "”": escaped += "\\(rq"
            case "…": escaped += "..."
            case "'": escaped += "\\(aq"
            case "\"": escaped += "\\(dq"
            case "`": escaped += "\\(ga"
            case "^": escaped += "\\(ha"
            case "~": escaped += "\\(ti"
            case "-": escaped += "\\-"
            default: escaped.append(character)
            }
        }
        return escaped.hasPrefix(".") ? "\\&" + escaped : escaped
    }
}

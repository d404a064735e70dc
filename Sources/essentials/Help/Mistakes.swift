import ArgumentParser

/// Improves the messages about misspelt commands, options and values.
enum Mistakes {
    /// The names that other tools have for options.
    private static let otherNames = [
        "--cacert": "--anchor", "--capath": "--anchor", "--cert": "--client-cert", "--key": "--client-key",
        "--pinnedpubkey": "--pin", "--max-time": "--timeout", "--crlfile": "--crl", "--verify": "--anchor",
        "--ca": "--anchor", "--download": "--output", "--continue": "--resume", "--auth": "--user", "-a": "--user",
        "--oauth2-bearer": "--bearer", "--session": "--cookie-jar", "--cookie-file": "--cookie-jar",
        "--retry-all-errors": "--retry-all", "--retry-max-time": "--retry-for", "--dump-header": "--include",
        "-D": "--include", "--headers": "--include", "--url-query": "--query", "--multipart": "--part",
        "--form-string": "--part", "--max-filesize": "--max-body", "--max-redirs": "--max-redirects",
    ]
    /// What to write instead of an option of another tool that has no counterpart of the same form.
    private static let replacements = [
        "-A": "--header 'User-Agent: …'", "--user-agent": "--header 'User-Agent: …'", "-b": "--header 'Cookie: …'",
        "--cookie": "--header 'Cookie: …'", "-e": "--header 'Referer: …'", "--referer": "--header 'Referer: …'",
        "-r": "--header 'Range: bytes=0-99'", "--range": "--header 'Range: bytes=0-99'", "-G": "name==value",
        "--get": "name==value", "-T": "--upload FILE", "--upload-file": "--upload FILE",
        "--data-binary": "--data @FILE",
        "--data-raw": "--data TEXT", "--data-ascii": "--data TEXT", "--data-urlencode": "--form name=value",
        "-C": "--resume", "--continue-at": "--resume", "-w": "--timings", "--write-out": "--timings",
        "--print": "--include, or --verbose for the request too,", "--head": "essentials head URL",
        "-I": "essentials head URL", "-X": "essentials request METHOD URL",
        "--request": "essentials request METHOD URL", "--noproxy": "--proxy none",
        "--tlsv1.2": "--min-tls 1.2", "--tlsv1.3": "--min-tls 1.3",
        "--http2-prior-knowledge": "--http2 with an http URL",
    ]
    /// The options of other tools for what this one always does.
    private static let defaults = [
        "--compressed": "Compressed bodies are asked for and decompressed by default.",
        "--follow": "Redirects are followed by default.",
        "--check-status": "An unexpected status is a failure by default.",
        "--no-buffer": "Bodies are printed as they arrive.", "-N": "Bodies are printed as they arrive.",
        "--stream": "Bodies are printed as they arrive.",
    ]
    /// The options of other tools that switch verification off.
    private static let insecure = ["--insecure", "--no-check-certificate", "--no-verify", "-k"]

    /// The beginnings of the parser's messages that can be improved.
    private static let beginnings = ["Unknown option '", "The value '", "Unexpected argument '"]

    /// Finds a first word that is not a command.
    ///
    /// - Throws: a usage error with the commands that it could have been meant to be. A word that can be a URL is
    ///   accepted.
    static func checkCommand(_ arguments: [String]) throws {
        guard let word = arguments.first, !word.hasPrefix("-"), !isURL(word) else { return }
        let commands = EssentialsTool.commandNames
        guard !commands.contains(word) else { return }
        let shown = "“\(OneLine.text(word))”"
        if HelpTopic.all.contains(where: { $0.name == word }) {
            throw ValidationError("\(shown) is a topic, not a command. Did you mean “essentials help \(word)”?")
        }
        let suggestions = EditDistance.suggestions(for: word, among: commands)
        if suggestions.isEmpty, arguments.count > 1, word.allSatisfy({ $0.isASCII && $0.isUppercase }) {
            throw ValidationError("\(shown) is not a command. Did you mean “essentials request \(word)”?")
        }
        throw ValidationError("\(shown) is not a command.\(EditDistance.question(suggestions))")
    }

    /// Whether a first word is taken as a URL and not as a command.
    static func isURL(_ word: String) -> Bool {
        word == "localhost"
            || word.utf8.contains { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ":") }
    }

    /// The parser's message with suggestions that are close enough, and without others.
    ///
    /// - Parameters:
    ///   - message: The parser's message.
    ///   - arguments: The command line.
    static func improved(_ message: String, arguments: [String]) -> String {
        let message = visible(message, arguments: arguments)
        let arguments = arguments.map(VisibleText.line)
        var lines = message.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        // The parser takes longer to describe the options than for anything else.
        guard let first = lines.first,
            isCommand(arguments.first) || beginnings.contains(where: { first.contains($0) }),
            let schema = CommandSchema.command(arguments.first)
        else { return message }
        let options = schema.optionNames
        // The parser complains about the first mistake that it meets, and takes the value of an unknown option for an item.
        if isCommand(arguments.first), let name = unknownOption(in: arguments, schema) {
            let usage = lines.drop { !$0.hasPrefix("Usage:") }
            return (["Error: Unknown option “\(name)”." + advice(on: name, options)] + usage).joined(separator: "\n")
        }
        if let name = text(in: first, after: "Unknown option '", before: "'") {
            let commands = EssentialsTool.commandNames
            let later = arguments.first == name ? arguments.first { commands.contains($0) } : nil
            lines[0] = "Error: Unknown option “\(name)”."
            lines[0] +=
                later.map { " Options stand after the command: essentials \($0) \(name) …" }
                ?? advice(on: name, options)
        } else if let value = text(in: first, after: "The value '", before: "' is invalid for '"),
            let list = first.firstRange(of: "Please provide one of ")
        {
            // Many values stand on lines of their own.
            let listed = lines.filter { $0.hasPrefix("  - ") }.map { String($0.dropFirst(4)) }
            let values = quoted(in: first[list.upperBound...]) + listed
            lines[0] += EditDistance.question(EditDistance.suggestions(for: value, among: values))
        } else if let word = text(in: first, after: "Unexpected argument '", before: "'"),
            options.contains("--" + word)
        {
            lines[0] += ". Did you mean “--\(word)”?"
        }
        return lines.joined(separator: "\n")
    }

    /// The message without characters that control the terminal. The parser quotes arguments, and the names of options before
    /// an equals sign, as they are.
    private static func visible(_ message: String, arguments: [String]) -> String {
        var message = message
        for argument in arguments {
            for text in [argument, String(argument.prefix { $0 != "=" })] {
                let shown = VisibleText.line(text)
                if shown != text { message = message.replacing(text, with: shown) }
            }
        }
        var escaping = TerminalText()
        return escaping.escaped(message) + escaping.end()
    }

    private static func isCommand(_ word: String?) -> Bool { word.map(EssentialsTool.commandNames.contains) ?? false }

    /// The first option that a command does not have. Words after `--` and the values of options are no options.
    private static func unknownOption(in arguments: [String], _ schema: CommandSchema) -> String? {
        let valued = schema.takesValue
        var rest = arguments.dropFirst()
        while let word = rest.popFirst() {
            if word == "--" { return nil }
            guard word.hasPrefix("-"), word != "-" else { continue }
            let name = String(word.prefix { $0 != "=" })
            if let takesValue = valued[name] {
                if takesValue, name == word { _ = rest.popFirst() }
                continue
            }
            guard !word.hasPrefix("--") else { return name }
            // Several flags, or an option with its value, in one word.
            for (index, letter) in word.dropFirst().enumerated() {
                guard let takesValue = valued["-\(letter)"] else { return "-\(letter)" }
                if takesValue {
                    if index == word.count - 2 { _ = rest.popFirst() }
                    break
                }
            }
        }
        return nil
    }

    private static func advice(on name: String, _ options: [String]) -> String {
        if insecure.contains(name) {
            return " No option accepts an invalid certificate. To trust a private authority, use --anchor."
        }
        if let text = defaults[name] { return " " + text }
        if let text = replacements[name] { return " Write \(text) instead." }
        if let known = otherNames[name], options.contains(known) { return EditDistance.question([known]) }
        guard name.count > 2 else { return "" }
        let letters = String(name.drop { $0 == "-" })
        let names = options.map { String($0.dropFirst(2)) }
        return EditDistance.question(EditDistance.suggestions(for: letters, among: names).map { "--" + $0 })
    }

    private static func text(in line: String, after start: String, before end: String) -> String? {
        guard let begin = line.firstRange(of: start), let stop = line[begin.upperBound...].firstRange(of: end) else {
            return nil
        }
        return String(line[begin.upperBound..<stop.lowerBound])
    }

    /// The texts in single quotation marks.
    private static func quoted(in line: Substring) -> [String] {
        line.split(separator: "'", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }
}

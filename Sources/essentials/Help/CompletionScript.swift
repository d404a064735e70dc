/// Completes the parser's completion scripts: they know no topics for `essentials help`, the one for zsh lacks an
/// action for arguments without values, and the one for fish can hang.
enum CompletionScript {
    /// - Parameters:
    ///   - script: The parser's script.
    ///   - words: The commands and topics.
    static func completed(_ script: String, words: [String]) -> String {
        if script.hasPrefix("#compdef") {
            let lines = script.split(separator: "\n", omittingEmptySubsequences: false)
            return lines.map { zshLine($0, words: words) }.joined(separator: "\n")
        }
        if script.hasPrefix("#!/bin/bash") {
            // A later definition of a function replaces the first one.
            return script + """

                _essentials_help() {
                    __essentials_add_completions -W '\(words.joined(separator: "'$'\\n''"))'
                }
                """
        }
        let condition = "'__essentials_should_offer_completions_for_positional \"essentials help\" -eq 1'"
        return fishScript(script) + words.map { "\ncomplete -c 'essentials' -n \(condition) -fa '\($0)'" }.joined()
    }

    /// Lets the script's loop over the words of a command line end.
    ///
    /// The loop goes on until all words are consumed, but nothing is consumed if `argparse` fails: because the name of an
    /// option has a dot, or because of an unknown option or a missing value. The shell would hang.
    private static func fishScript(_ script: String) -> String {
        let lines = script.split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
            let words = line.drop { $0 == " " }
            if words.hasPrefix("__essentials_parse_subcommand ") { return String(line.replacing(".", with: "_")) }
            guard words.hasPrefix("argparse -sn ") else { return String(line) }
            return String(line.replacing("argparse -sn ", with: "argparse -isn ")) + "; or break"
        }
        return lines.joined(separator: "\n")
    }

    /// Gives arguments without values an action that offers nothing. Without an action, zsh lists the options that may
    /// stand before the argument, but does not insert them.
    private static func zshLine(_ line: Substring, words: [String]) -> String {
        let specification = line.drop { $0 == " " }
        let indent = String(repeating: " ", count: line.count - specification.count)
        if specification == "'*:subcommands:'" { return "\(indent)'1:topic:(\(words.joined(separator: " ")))'" }
        guard specification.hasPrefix("':") || specification.hasPrefix("'*:"), specification.hasSuffix(":'") else {
            return String(line)
        }
        return line.dropLast() + "{true}'"
    }
}

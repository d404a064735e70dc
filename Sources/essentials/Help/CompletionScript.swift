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
        return script + words.map { "\ncomplete -c 'essentials' -n \(condition) -fa '\($0)'" }.joined() + fishConditions
    }

    /// Later definitions of the parser's conditions. fish evaluates one for every option of every command, and the
    /// parser's ones read all words each time; with an option that lacks its value they never end. These compare only
    /// the command, and so also offer what was already given.
    private static let fishConditions = """

        function __essentials_is_command -a expected_command
            set -l tokens (__essentials_tokens -pc)
            if test (count $tokens) -gt 1; and string match -qr '^[a-z]' -- $tokens[2]
                test "$tokens[1] $tokens[2]" = "$expected_command"
            else
                test "$expected_command" = essentials
            end
        end

        function __essentials_should_offer_completions_for_flags_or_options -a expected_commands
            __essentials_is_command "$expected_commands"
        end

        function __essentials_should_offer_completions_for_positional -a expected_commands comparison expected_index
            __essentials_is_command "$expected_commands"
        end

        """

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

/// Adds the topics of `essentials help` to the parser's completion scripts, which know no values for that command.
enum CompletionScript {
    /// - Parameters:
    ///   - script: The parser's script.
    ///   - words: The commands and topics.
    static func completed(_ script: String, words: [String]) -> String {
        if script.hasPrefix("#compdef") {
            let specification = "'*:subcommands:'"
            guard let place = script.firstRange(of: specification) else { return script }
            return script.replacingSubrange(place, with: "'1:topic:(\(words.joined(separator: " ")))'")
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
        return script + words.map { "\ncomplete -c 'essentials' -n \(condition) -fa '\($0)'" }.joined()
    }
}

extension String {
    fileprivate func replacingSubrange(_ range: Range<Index>, with text: String) -> String {
        String(self[..<range.lowerBound]) + text + String(self[range.upperBound...])
    }
}

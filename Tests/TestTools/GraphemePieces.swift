/// Texts in which a delimiter and the following scalar can form one `Character`.
package enum GraphemePieces {
    package static let text = [
        "\"", "\\", "'", ";", "=", ",", "&", "%", "+", " ", "a", "charset=", "utf-16", "é", "\u{301}", "\u{323}",
        "\u{200d}", "\u{fe0f}", "\u{1f468}", "[", "]", "/", "?",
    ]
    /// The same with line breaks. CR LF is one `Character`.
    package static let all = text + ["\r", "\n", "\r\n"]
}

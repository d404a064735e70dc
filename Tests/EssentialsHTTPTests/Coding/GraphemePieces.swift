/// Pieces of texts in which a character of a grammar and the scalar behind it are one `Character`.
enum GraphemePieces {
    static let text = [
        "\"", "\\", "'", ";", "=", ",", "&", "%", "+", " ", "a", "charset=", "utf-16", "é", "\u{301}", "\u{323}",
        "\u{200d}", "\u{fe0f}", "\u{1f468}", "[", "]", "/", "?",
    ]
    /// With line breaks too, of which CR LF is one `Character`.
    static let all = text + ["\r", "\n", "\r\n"]
}

extension RequestFailure {
    /// The start of a text for a message, without credentials, query and invisible characters.
    package static func shown(_ text: some StringProtocol) -> String {
        guard !text.utf8.contains(UInt8(ascii: "@")) else { return "…" }
        var visible = ""
        for scalar in text.unicodeScalars.prefix(60) {
            if scalar == "?" || scalar == "#" { break }
            visible.unicodeScalars.append(scalar.isInvisible ? "\u{FFFD}" : scalar)
        }
        return visible
    }
}

extension RequestFailure {
    /// The beginning of a text that may hold credentials, a query or invisible characters, for a message.
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

extension String {
    /// The text for XML and HTML, in elements and in attributes with double quotation marks. Line breaks become spaces, and
    /// characters that no XML contains are left out.
    ///
    /// It looks at scalars, because some of them make one `Character` with a `<` that follows.
    package var escapedForMarkup: String {
        var escaped = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\n", "\r", "\t": escaped += " "
            default: if scalar.value >= 0x20, scalar.value & 0xfffe != 0xfffe { escaped.unicodeScalars.append(scalar) }
            }
        }
        return escaped
    }
}

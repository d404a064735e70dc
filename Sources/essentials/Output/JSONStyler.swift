/// Indents and colors JSON as it arrives.
///
/// It changes only the white space between tokens. Numbers, strings, their escapes, the order of members and duplicates
/// stay as the server wrote them; a byte order mark at the beginning is left out. Several values in a row, such as JSON lines, are styled one after another. After a
/// text that is not JSON, and after ``limit`` characters, the rest is passed on without style.
struct JSONStyler {
    /// The number of characters that are styled.
    static let limit = 16 << 20
    private static let maximumDepth = 512
    /// Deeper levels are indented no further, so that an attacker's brackets do not multiply the output.
    private static let maximumIndent = 40

    private enum State {
        case value, firstElement, firstKey, key, colon, afterValue, string, escape, word, unstyled
    }

    private enum Color: String {
        case key = "\u{1B}[34m"
        case string = "\u{1B}[32m"
        case number = "\u{1B}[36m"
        case literal = "\u{1B}[35m"
        case none = "\u{1B}[0m"
    }

    let formats: Bool
    let colors: Bool
    /// Whether characters that control a terminal are escaped.
    let isProtected: Bool
    private var state = State.value
    /// The closing brackets of the open containers.
    private var open: [Unicode.Scalar] = []
    private var isKey = false
    private var isColored = false
    private var count = 0
    private var hasValue = false
    private var unstyled = TerminalText()

    init(formats: Bool, colors: Bool, isProtected: Bool) {
        self.formats = formats
        self.colors = colors
        self.isProtected = isProtected
    }

    /// The styled form of the next piece of text.
    mutating func styled(_ text: String) -> String {
        var output = ""
        for scalar in text.unicodeScalars {
            count += 1
            if count == 1, scalar == "\u{FEFF}" { continue }
            if count > Self.limit, state != .unstyled { stop(&output) }
            if state != .unstyled { take(scalar, &output) }
            if state == .unstyled { pass(scalar, &output) }
        }
        return output
    }

    /// What follows the last piece.
    mutating func end() -> String {
        var output = ""
        uncolor(&output)
        output += unstyled.end()
        return output
    }

    // MARK: Characters

    private mutating func take(_ scalar: Unicode.Scalar, _ output: inout String) {
        switch state {
        case .string: takeInString(scalar, &output)
        case .escape:
            append(scalar, &output)
            state = .string
        case .word where Self.isOfWord(scalar): append(scalar, &output)
        default:
            if state == .word { endWord(&output) }
            guard !isBlank(scalar) else {
                if !formats { output.unicodeScalars.append(scalar) }
                return
            }
            takeToken(scalar, &output)
        }
    }

    private mutating func takeInString(_ scalar: Unicode.Scalar, _ output: inout String) {
        switch scalar {
        case "\"":
            output.unicodeScalars.append(scalar)
            uncolor(&output)
            state = isKey ? .colon : .afterValue
        case "\\":
            output.unicodeScalars.append(scalar)
            state = .escape
        default: append(scalar, &output)
        }
    }

    /// Reads the first character of a token.
    private mutating func takeToken(_ scalar: Unicode.Scalar, _ output: inout String) {
        switch (state, scalar) {
        case (.colon, ":"):
            output += formats ? ": " : ":"
            state = .value
        case (.afterValue, ",") where !open.isEmpty:
            output += ","
            breakLine(&output)
            state = open.last == "}" ? .key : .value
        case (.afterValue, _) where !open.isEmpty && open.last == scalar: close(scalar, isEmpty: false, &output)
        case (.firstElement, "]"), (.firstKey, "}"): close(scalar, isEmpty: true, &output)
        case (.firstKey, "\""), (.key, "\""):
            if state == .firstKey { breakLine(&output) }
            begin(.key, scalar, &output)
            isKey = true
            state = .string
        case (.value, _), (.firstElement, _): takeValue(scalar, &output)
        // The next of several values.
        case (.afterValue, _) where open.isEmpty: takeValue(scalar, &output)
        default: stop(&output)
        }
    }

    private mutating func takeValue(_ scalar: Unicode.Scalar, _ output: inout String) {
        guard "{[\"-0123456789tfn".unicodeScalars.contains(scalar), open.count < Self.maximumDepth else {
            return stop(&output)
        }
        if state == .firstElement { breakLine(&output) }
        if open.isEmpty, hasValue, formats { output += "\n" }
        hasValue = true
        switch scalar {
        case "{", "[":
            output.unicodeScalars.append(scalar)
            open.append(scalar == "{" ? "}" : "]")
            state = scalar == "{" ? .firstKey : .firstElement
        case "\"":
            begin(.string, scalar, &output)
            isKey = false
            state = .string
        default:
            begin("tfn".unicodeScalars.contains(scalar) ? .literal : .number, scalar, &output)
            state = .word
        }
    }

    private mutating func close(_ scalar: Unicode.Scalar, isEmpty: Bool, _ output: inout String) {
        open.removeLast()
        if !isEmpty { breakLine(&output) }
        output.unicodeScalars.append(scalar)
        state = .afterValue
    }

    private mutating func endWord(_ output: inout String) {
        uncolor(&output)
        state = .afterValue
    }

    /// Passes everything from the next character on without style.
    private mutating func stop(_ output: inout String) {
        uncolor(&output)
        state = .unstyled
    }

    private mutating func pass(_ scalar: Unicode.Scalar, _ output: inout String) {
        if isProtected {
            output += unstyled.escaped(String(Character(scalar)))
        } else {
            output.unicodeScalars.append(scalar)
        }
    }

    // MARK: Output

    /// Appends a character of a string or word.
    private func append(_ scalar: Unicode.Scalar, _ output: inout String) {
        if isProtected, scalar.controlsTerminal {
            output += VisibleText.escapedInJSON(scalar)
        } else {
            output.unicodeScalars.append(scalar)
        }
    }

    private func breakLine(_ output: inout String) {
        guard formats else { return }
        output += "\n" + String(repeating: "    ", count: min(open.count, Self.maximumIndent))
    }

    private mutating func begin(_ color: Color, _ scalar: Unicode.Scalar, _ output: inout String) {
        if colors {
            output += color.rawValue
            isColored = true
        }
        output.unicodeScalars.append(scalar)
    }

    private mutating func uncolor(_ output: inout String) {
        if isColored { output += Color.none.rawValue }
        isColored = false
    }

    private func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        scalar == " " || scalar == "\n" || scalar == "\t" || scalar == "\r"
    }

    private static func isOfWord(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII && (scalar.properties.isAlphabetic || "0123456789+-.".unicodeScalars.contains(scalar))
    }
}

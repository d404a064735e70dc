import ServiceEssentials

/// How a body is printed on standard output.
struct BodyStyle: Sendable, Hashable {
    /// Whether the terminal is protected: binary bodies are refused, and control characters are escaped.
    var isProtected = false
    /// Whether JSON is indented.
    var formats = false
    /// Whether JSON is colored.
    var colors = false
}

/// Prints a body on standard output as it arrives: unchanged through a pipe, and readable on a terminal.
struct BodyPrinter {
    private enum Form {
        case unchanged
        case text(TerminalText)
        case json(JSONStyler)
    }

    private let style: BodyStyle
    private var form: Form
    private var chunks = UTF8Chunks()
    private var isAtBeginning = true

    /// - Parameter type: The value of `Content-Type`.
    init(_ style: BodyStyle, type: String?) {
        self.style = style
        let type = type.flatMap { MediaType(parsing: $0) }
        let lines = ["application/x-ndjson", "application/ndjson", "application/jsonl"]
        let isJSON = type.map { $0.subtype == "json" || $0.suffix == "json" || lines.contains($0.essence) } ?? false
        if isJSON, style.formats || style.colors {
            form = .json(JSONStyler(formats: style.formats, colors: style.colors, isProtected: style.isProtected))
        } else {
            form = style.isProtected ? .text(TerminalText()) : .unchanged
        }
    }

    /// Prints the next bytes.
    ///
    /// - Throws: `file` if the terminal is protected and the body begins with binary data, or if standard output is closed.
    mutating func print(_ bytes: UnsafeRawBufferPointer) throws(RequestFailure) {
        if style.isProtected, isAtBeginning, bytes.contains(0) {
            throw RequestFailure(
                .file, "The body is binary, so it is not printed on the terminal.",
                remedy: "Save it with --output FILE, or print it anyway with --output -.", phase: .receiving)
        }
        isAtBeginning = isAtBeginning && bytes.isEmpty
        switch form {
        case .unchanged: try StandardStream.output.write(bytes)
        case .text(var text):
            try put(text.escaped(chunks.text(bytes)))
            form = .text(text)
        case .json(var styler):
            try put(styler.styled(chunks.text(bytes)))
            form = .json(styler)
        }
    }

    /// Prints the rest. On a terminal, and after formatted JSON, the output ends with a line break.
    mutating func end() throws(RequestFailure) {
        switch form {
        case .unchanged: return
        case .text(var text): try put(text.escaped(chunks.end()) + text.end())
        case .json(var styler): try put(styler.styled(chunks.end()) + styler.end())
        }
        if !isAtBeginning, StandardStream.isOutputMidLine, style.isProtected || style.formats { try put("\n") }
    }

    private func put(_ text: String) throws(RequestFailure) { try StandardStream.output.write(text) }
}

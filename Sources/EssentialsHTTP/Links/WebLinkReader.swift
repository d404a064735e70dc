/// Reads the links of one `Link` field (RFC 8288, appendix B), in time linear in its length.
///
/// Text that is not a link ends the field. Any other error affects only one parameter.
struct WebLinkReader {
    /// Parameters whose first occurrence counts (RFC 8288, 3.2 to 3.4).
    private static let singular: Set<String> = ["rel", "anchor", "media", "title", "title*", "type"]

    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    /// The next link; `nil` at the end and at text that is not a link (appendix B.2).
    mutating func next() -> WebLink? {
        // A list may have empty elements (RFC 9110, 5.6.1.2).
        rest.skip { $0.isBlank || $0 == UInt8(ascii: ",") }
        guard rest.take("<") else { return nil }
        let target = rest.take { $0 != UInt8(ascii: ">") }
        // Without the angle bracket, the rest is empty.
        guard rest.take(">") else { return nil }
        var relations: [String]?
        var parameters: [WebLink.Parameter] = []
        while let (name, value) = parameter() {
            guard !value.contains(where: \.isFieldControl), !name.utf8.contains(where: \.isFieldControl) else {
                continue
            }
            if name == "rel" {
                if relations == nil { relations = Self.words(of: value) }
            } else if let value = Self.decoded(value, named: name), parameters.count < WebLink.maximumParameters,
                !Self.singular.contains(name) || !parameters.contains(where: { $0.name == name })
            {
                parameters.append(WebLink.Parameter(name: name, value: value))
            }
        }
        return WebLink(
            String(decoding: target, as: UTF8.self), relations: relations ?? [], parameters: parameters)
    }

    // MARK: Parameters

    /// The next parameter of a link, undecoded; `nil` at the end of the link (appendix B.3).
    private mutating func parameter() -> (name: String, value: [UInt8])? {
        while true {
            rest.skip(while: \.isBlank)
            guard rest.take(";") else { return nil }
            rest.skip(while: \.isBlank)
            let name = rest.take { !$0.isBlank && !"=;,".utf8.contains($0) }
            rest.skip(while: \.isBlank)
            var value: [UInt8] = []
            if rest.take("=") {
                rest.skip(while: \.isBlank)
                value = rest.take("\"") ? quoted() : unquoted()
            }
            // An empty parameter is ignored (RFC 9110, 5.6.6).
            if !name.isEmpty { return (String(decoding: name, as: UTF8.self).lowercased(), value) }
        }
    }

    /// The value up to the next delimiter, without blanks at its end.
    private mutating func unquoted() -> [UInt8] {
        let text = rest.take { !";,".utf8.contains($0) }
        let end = text.lastIndex { !$0.isBlank }.map { $0 + 1 } ?? text.startIndex
        return Array(text[..<end])
    }

    /// The text up to the closing quotation mark, which may be missing (appendix B.4).
    private mutating func quoted() -> [UInt8] {
        var text: [UInt8] = []
        while var byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { break }
            if byte == UInt8(ascii: "\\") {
                guard let escaped = rest.popFirst() else { break }
                byte = escaped
            }
            text.append(byte)
        }
        return text
    }

    /// The text of a value; `nil` if it is an extended value that cannot be decoded.
    private static func decoded(_ value: [UInt8], named name: String) -> String? {
        guard name.utf8.last == UInt8(ascii: "*") else { return String(decoding: value, as: UTF8.self) }
        return ExtendedValue.text(of: value)
    }

    private static func words(of value: [UInt8]) -> [String] {
        value.split(maxSplits: WebLink.maximumParameters, whereSeparator: \.isBlank).prefix(WebLink.maximumParameters)
            .map { String(decoding: $0, as: UTF8.self) }
    }
}

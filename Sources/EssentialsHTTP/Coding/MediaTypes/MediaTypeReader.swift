/// Parses media types (RFC 9110, 5.6.2, 5.6.4, 5.6.6 and 8.3.1).
struct MediaTypeReader {
    /// A syntax error.
    struct Fault: Error {
        let text: String
    }

    private var rest: Substring.UTF8View

    static func read(_ text: some StringProtocol, isStrict: Bool) throws(Fault) -> MediaType {
        var reader = MediaTypeReader(rest: Substring(text).utf8)
        return try reader.mediaType(isStrict: isStrict)
    }

    /// Whether the bytes are a token (RFC 9110, 5.6.2).
    static func isToken(_ bytes: some Collection<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy(\.isTokenCharacter)
    }

    private mutating func mediaType(isStrict: Bool) throws(Fault) -> MediaType {
        skipSpace()
        let type = token()
        guard !type.isEmpty else { throw Fault(text: "the type is missing") }
        guard rest.take("/") else { throw Fault(text: "the slash after the type is missing") }
        let subtype = token()
        guard !subtype.isEmpty else { throw Fault(text: "the subtype after the slash is missing") }
        guard !type.contains("*"), !subtype.contains("*") else { throw Fault(text: "it contains an asterisk") }
        skipSpace()
        guard rest.isEmpty || rest.first == UInt8(ascii: ";") else {
            throw Fault(text: "the text after the subtype is not a parameter")
        }
        return MediaType(type: type, subtype: subtype, parameters: try parameters(isStrict: isStrict))
    }

    private mutating func parameters(isStrict: Bool) throws(Fault) -> [MediaType.Parameter] {
        var found: [MediaType.Parameter] = []
        while rest.take(";") {
            skipSpace()
            // An empty parameter is allowed (RFC 9110, 5.6.6).
            if rest.isEmpty || rest.first == UInt8(ascii: ";") { continue }
            do throws(Fault) {
                let parameter = try parameter()
                guard found.count < MediaType.maximumParameters else {
                    throw Fault(text: "it has more than \(MediaType.maximumParameters) parameters")
                }
                guard !found.contains(where: { $0.name == parameter.name }) else {
                    throw Fault(text: "it has the parameter “\(parameter.name)” twice")
                }
                found.append(parameter)
            } catch {
                if isStrict { throw error }
                rest.skip { $0 != UInt8(ascii: ";") }
            }
        }
        return found
    }

    /// Parses a name, a value and the space after it, up to a semicolon or the end.
    private mutating func parameter() throws(Fault) -> MediaType.Parameter {
        let name = token()
        guard !name.isEmpty else { throw Fault(text: "a parameter has no name") }
        guard rest.take("=") else { throw Fault(text: "the parameter “\(name)” has no “=”") }
        let value: String
        if rest.take("\"") {
            value = try quoted(name)
        } else {
            let bytes = rest.take(while: \.isTokenCharacter)
            guard !bytes.isEmpty else { throw Fault(text: "the parameter “\(name)” has no value") }
            value = String(decoding: bytes, as: UTF8.self)
        }
        skipSpace()
        guard rest.isEmpty || rest.first == UInt8(ascii: ";") else {
            throw Fault(text: "the value of the parameter “\(name)” needs quotation marks")
        }
        return MediaType.Parameter(name: name, value: value)
    }

    /// Parses the rest of a quoted string (RFC 9110, 5.6.4).
    private mutating func quoted(_ name: String) throws(Fault) -> String {
        var value: [UInt8] = []
        while var byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return String(decoding: value, as: UTF8.self) }
            if byte == UInt8(ascii: "\\") {
                guard let escaped = rest.popFirst() else { break }
                byte = escaped
            }
            guard byte == 0x09 || byte >= 0x20 && byte != 0x7f else {
                throw Fault(text: "the value of the parameter “\(name)” contains a control character")
            }
            value.append(byte)
        }
        throw Fault(text: "the value of the parameter “\(name)” has no closing quotation mark")
    }

    // MARK: Bytes

    /// The token at this position in lower case; empty without one.
    private mutating func token() -> String {
        String(decoding: rest.take(while: \.isTokenCharacter), as: UTF8.self).lowercased()
    }

    private mutating func skipSpace() { rest.skip(while: \.isBlank) }
}

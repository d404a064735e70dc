import ArgumentParser
import ServiceEssentials

/// Parses a method that an option or argument names.
enum MethodArgument {
    private static let registered: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete, .options]

    /// The method of an option. Another spelling of a registered method is refused, because it is likely a mistake.
    static func read(_ text: String) throws -> HTTPRequest.Method {
        let method = try readExactly(text)
        // Methods are case-sensitive (RFC 9110, section 9.1), so another spelling would be another method.
        if let meant = registered.first(where: { $0 != method && $0.rawValue == text.uppercased() }) {
            throw ValidationError("Methods are case-sensitive. Did you mean “\(meant.rawValue)”?")
        }
        return method
    }

    /// The method of the command `request`, in any spelling.
    static func readExactly(_ text: String) throws -> HTTPRequest.Method {
        guard let method = HTTPRequest.Method(rawValue: text) else {
            throw ValidationError("A method is one word of letters, digits and “-”, such as PURGE.")
        }
        // CONNECT creates a tunnel, not a response. TRACE must not carry credentials (RFC 9110,
        // sections 9.3.6 and 9.3.8).
        guard method != .connect, method != .trace else {
            throw ValidationError("CONNECT and TRACE are not supported. To tunnel through a proxy, use --proxy.")
        }
        return method
    }
}

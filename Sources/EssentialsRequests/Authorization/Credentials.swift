public import EssentialsHTTP
import FoundationEssentials

/// The value of an `Authorization` field (RFC 9110, 11.6.2). Its text shows the scheme alone.
///
/// ```swift
/// requests.setAuthorization(try .bearer(token))
/// requests.setAuthorization(try .basic(user: "ada", password: "…"))
/// ```
public struct Credentials: Sendable, Hashable {
    let fieldValue: String

    /// User and password (RFC 7617), as UTF-8.
    ///
    /// - Throws: `invalidRequest` when the user's name holds a colon, or either a control character.
    public static func basic(user: String, password: String) throws(RequestFailure) -> Credentials {
        let isPlain = { (text: String) in !text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7f } }
        guard !user.utf8.contains(UInt8(ascii: ":")), isPlain(user), isPlain(password) else {
            throw RequestFailure(
                .invalidRequest, "A user name with a colon, or a control character, cannot be sent as Basic.",
                remedy: "Check the user name and the password.")
        }
        let encoded = Data("\(user):\(password)".utf8).base64EncodedString()
        return Credentials(fieldValue: "Basic \(encoded)")
    }

    /// A token (RFC 6750).
    ///
    /// - Throws: `invalidRequest` when it holds what no token has (RFC 6750, 2.1), such as a space or a line break.
    public static func bearer(_ token: String) throws(RequestFailure) -> Credentials {
        let body = token.utf8.reversed().drop { $0 == UInt8(ascii: "=") }
        let isToken = body.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"): true
            default: "-._~+/".utf8.contains(byte)
            }
        }
        guard isToken, !body.isEmpty else {
            throw RequestFailure(
                .invalidRequest, "The bearer token is empty, or holds a character that no token has.",
                remedy: "Trim it; a token is letters, digits and -._~+/ with = at its end.")
        }
        return Credentials(fieldValue: "Bearer \(token)")
    }

    /// A value of another scheme, as it is.
    ///
    /// - Throws: `invalidRequest` when it is empty, begins or ends with white space, or holds a line break.
    public static func header(_ value: String) throws(RequestFailure) -> Credentials {
        guard !value.isEmpty else {
            throw RequestFailure(
                .invalidRequest, "The Authorization field would be empty.",
                remedy: "Clear the authorization instead.")
        }
        return Credentials(fieldValue: try HTTPField.checked(name: "Authorization", value: value).value)
    }
}

extension Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The scheme, without what is secret.
    public var description: String { "\(fieldValue.prefix { $0 != " " }.prefix(16)) …" }
    /// The scheme, without what is secret.
    public var debugDescription: String { description }
    /// Nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

import EssentialsHTTP

/// An access token that an ``AccessTokenProvider`` returns (RFC 6750).
///
/// ```swift
/// let token = try AccessToken(text, expiresIn: .seconds(3600))
/// ```
///
/// No description shows the value.
public struct AccessToken: Sendable, Hashable {
    /// The token, which is sent in the field `Authorization`.
    public let value: String
    /// How long the token can be used, from the moment at which the provider returns it; `nil` if that is not known.
    ///
    /// The time is measured on the monotonic clock, so a change of the system's date does not matter.
    public let expiresIn: Duration?

    /// Creates a token.
    ///
    /// - Parameters:
    ///   - value: The token.
    ///   - expiresIn: How long it can be used. A token with zero or less is only used by the requests that wait for it.
    /// - Throws: `invalidRequest` if the token is empty or contains a character that tokens cannot have (RFC 6750,
    ///   2.1), such as a space or a line break.
    public init(_ value: String, expiresIn: Duration? = nil) throws(RequestFailure) {
        guard Self.isToken(value) else {
            throw RequestFailure(
                .invalidRequest, "The bearer token is empty or contains a character that tokens cannot have.",
                remedy: "Trim it. A token consists of letters, digits and -._~+/, and may end with =.")
        }
        self.value = value
        self.expiresIn = expiresIn
    }

    /// Whether a text has the form of a token (RFC 6750, 2.1).
    static func isToken(_ text: String) -> Bool {
        let body = text.utf8.reversed().drop { $0 == UInt8(ascii: "=") }
        return !body.isEmpty && body.allSatisfy { $0.isASCIIAlphanumeric || "-._~+/".utf8.contains($0) }
    }

    /// The value of the field `Authorization`.
    var fieldValue: String { "Bearer \(value)" }
}

extension AccessToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A fixed text without the value.
    public var description: String { "AccessToken …" }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// Empty, so that no secret is shown.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

import ArgumentParser
import Glibc
import ServiceEssentials

/// Who the request says it comes from.
struct AuthorizationOptions: ParsableArguments {
    private static let userVariable = "ESSENTIALS_USER"
    private static let tokenVariable = "ESSENTIALS_BEARER"

    // Neither is read by a transform: the parser prints what a transform refuses.

    @Option(
        name: .customLong("user"), parsing: .unconditional,
        help: ArgumentHelp(
            "Authenticate as Basic, at the URL's own origin only. Other users may see command lines: the variable "
                + "\(userVariable) does the same.", valueName: "name:password"))
    var user: String?

    @Option(
        name: .customLong("bearer"), parsing: .unconditional,
        help: ArgumentHelp(
            "Authenticate with this token, at the URL's own origin only. The variable \(tokenVariable) does the same.",
            valueName: "token"))
    var token: String?

    /// The option that was given, as it is written.
    var given: String? {
        if user != nil { return "--user" }
        return token == nil ? nil : "--bearer"
    }

    func validate() throws {
        if user != nil, token != nil { throw ValidationError("Give --user or --bearer, not both.") }
        if let user, Self.split(user) == nil { throw ValidationError("Write --user as name:password.") }
    }

    /// What the options say, or else the variables; nil when nothing does. A variable without a value says nothing.
    func credentials() throws(RequestFailure) -> Credentials? {
        if let user { return try Self.basic(user, from: "--user") }
        if let token { return try .bearer(token) }
        switch (Self.variable(Self.userVariable), Self.variable(Self.tokenVariable)) {
        case (nil, nil): return nil
        case (let user?, nil): return try Self.basic(user, from: Self.userVariable)
        case (nil, let token?): return try .bearer(token)
        case (_?, _?):
            throw RequestFailure(
                .invalidRequest, "Both \(Self.userVariable) and \(Self.tokenVariable) are set.",
                remedy: "Unset one of them, or give --user or --bearer.")
        }
    }

    private static func basic(_ text: String, from source: String) throws(RequestFailure) -> Credentials {
        guard let (name, password) = split(text) else {
            throw RequestFailure(
                .invalidRequest, "The value of \(source) has no colon.", remedy: "Write it as name:password.")
        }
        return try .basic(user: name, password: password)
    }

    /// Splits at the first colon; the password may hold more of them (RFC 7617, 2).
    private static func split(_ text: String) -> (name: String, password: String)? {
        let bytes = text.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        return (String(text[..<colon]), String(text[bytes.index(after: colon)...]))
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}

import ArgumentParser
import Glibc
import ServiceEssentials

/// Who the request says it comes from.
struct AuthorizationOptions: ParsableArguments {
    private static let userVariable = "ESSENTIALS_USER"
    private static let digestVariable = "ESSENTIALS_DIGEST"
    private static let tokenVariable = "ESSENTIALS_BEARER"

    // None is read by a transform: the parser prints what a transform refuses.

    @Option(
        name: .customLong("user"), parsing: .unconditional,
        help: ArgumentHelp(
            "Authenticate as Basic, at the URL's own origin only. Other users may see command lines: the variable "
                + "\(userVariable) does the same.", valueName: "name:password"))
    var user: String?

    @Option(
        name: .customLong("digest"), parsing: .unconditional,
        help: ArgumentHelp(
            "Answer the challenges of the URL's own origin as Digest, and no others. The variable \(digestVariable) "
                + "does the same.", valueName: "name:password"))
    var digest: String?

    @Flag(
        name: .customLong("weak-digest"),
        help: "Answer Digest challenges without qop over http too; without this they are refused.")
    var allowsWeakDigest = false

    @Option(
        name: .customLong("bearer"), parsing: .unconditional,
        help: ArgumentHelp(
            "Authenticate with this token, at the URL's own origin only. The variable \(tokenVariable) does the same.",
            valueName: "token"))
    var token: String?

    /// The option that was given, as it is written.
    var given: String? { allGiven.first }

    private var allGiven: [String] {
        [("--user", user), ("--digest", digest), ("--bearer", token)].compactMap { name, value in
            value.map { _ in name }
        }
    }

    func validate() throws {
        let given = allGiven
        if given.count > 1 { throw ValidationError("Give \(given[0]) or \(given[1]), not both.") }
        for (name, value) in [("--user", user), ("--digest", digest)] {
            if let value, Self.split(value) == nil { throw ValidationError("Write \(name) as name:password.") }
        }
    }

    /// What the options say, or else the variables; nil when nothing does. A variable without a value says nothing.
    func credentials() throws(RequestFailure) -> Credentials? {
        if let user { return try Self.basic(user, from: "--user") }
        if let digest { return try self.digest(digest, from: "--digest") }
        if let token { return try .bearer(token) }
        let names = [Self.userVariable, Self.digestVariable, Self.tokenVariable]
        let set = names.compactMap { name in Self.variable(name).map { (name: name, value: $0) } }
        guard set.count < 2 else {
            throw RequestFailure(
                .invalidRequest, "Both \(set[0].name) and \(set[1].name) are set.",
                remedy: "Unset one of them, or give --user, --digest or --bearer.")
        }
        guard let (name, value) = set.first else { return nil }
        switch name {
        case Self.userVariable: return try Self.basic(value, from: name)
        case Self.digestVariable: return try digest(value, from: name)
        default: return try .bearer(value)
        }
    }

    private static func basic(_ text: String, from source: String) throws(RequestFailure) -> Credentials {
        let (name, password) = try account(text, from: source)
        return try .basic(user: name, password: password)
    }

    private func digest(_ text: String, from source: String) throws(RequestFailure) -> Credentials {
        let (name, password) = try Self.account(text, from: source)
        return try .digest(user: name, password: password, minimum: allowsWeakDigest ? .any : nil)
    }

    private static func account(
        _ text: String, from source: String
    ) throws(RequestFailure) -> (name: String, password: String) {
        guard let account = split(text) else {
            throw RequestFailure(
                .invalidRequest, "The value of \(source) has no colon.", remedy: "Write it as name:password.")
        }
        return account
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

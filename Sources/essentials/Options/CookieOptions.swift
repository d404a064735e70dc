import ArgumentParser
import ServiceEssentials

/// The cookies that are sent, and the file that keeps those of responses.
struct CookieOptions: ParsableArguments {
    @Option(
        name: .customLong("cookie-jar"),
        help: ArgumentHelp(
            "Send the cookies of this file, and store those of the responses in it. The file has the Netscape format "
                + "of curl; it is created with the permissions 0600.", valueName: "file"), completion: .file())
    var jar: String?

    @Option(
        name: [.customShort("b", allowingJoined: true), .customLong("cookie")], parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Send this cookie to the URL's own origin; repeatable.", valueName: "name=value"),
        transform: CookieOptions.read)
    var cookies: [String] = []

    /// The jar of the file; `nil` without the option.
    func storage() throws(RequestFailure) -> CookieJar? {
        try jar.map { path throws(RequestFailure) in try CookieJar(file: CookieFile(path, keepsSessionCookies: true)) }
    }

    /// The value of the `Cookie` field; `nil` without the option.
    var field: String? { cookies.isEmpty ? nil : cookies.joined(separator: "; ") }

    private static func read(_ text: String) throws -> String {
        let name = text.prefix { $0 != "=" }
        guard !name.isEmpty, name.count < text.count else {
            throw ValidationError("Write it as name=value; --cookie-jar takes a file.")
        }
        return text
    }
}

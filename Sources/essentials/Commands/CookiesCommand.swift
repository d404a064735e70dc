import ArgumentParser
import EssentialsStorage
import ServiceEssentials

/// `essentials cookies`
struct CookiesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cookies",
        abstract: "List or remove the cookies of a file.",
        discussion: """
            Reads a file as --cookie-jar, curl and wget write it, and prints a line for each cookie: name, domain, path, \
            expiry and flags. The flags are "secure" (for https only), "httpOnly" (not for scripts) and "subdomains" (also \
            for the hosts below the domain). Expired cookies and cookies of public suffixes are left out, because they are \
            never sent. Values are hidden, because they are usually credentials.

            With --json each line is an object with "name", "domain", "path", "expires" (null for a session cookie), \
            "secure", "httpOnly", "subdomains" and, with --show-secrets, "value".

            --clear removes the cookies that the host receives, for all paths, and saves the file. Comments and lines that \
            cannot be read are kept.

            EXAMPLES
              essentials cookies jar.txt
              essentials cookies jar.txt --json --show-secrets
              essentials cookies jar.txt --clear api.example.com

            EXIT CODES
              0 success, 1 the file could not be read or written, 64 wrong usage or an invalid value
            """)

    @Argument(help: "A cookie file of this user.", completion: .file())
    var file: String

    @Option(
        name: .customLong("clear"),
        help: ArgumentHelp(
            "Remove the cookies that this host receives, and print how many there were.", valueName: "host"))
    var clearedHost: String?

    @Flag(name: .customLong("json"), help: "Print a JSON object on each line.")
    var printsJSON = false

    @Flag(name: .customLong("show-secrets"), help: "Also print the values.")
    var showsSecrets = false

    @OptionGroup(title: "Output") var errors: ErrorOptions

    func validate() throws {
        if clearedHost != nil, showsSecrets { throw ValidationError("Give --clear or --show-secrets, not both.") }
    }

    func run() async throws {
        try await FailurePrinter(format: errors.format).run { () async throws(RequestFailure) in
            let host = try clearedHost.map { text throws(RequestFailure) in try HostName(text) }
            let jar = try open()
            guard let host else { return try print(jar) }
            let count = jar.count
            jar.removeCookies(visibleTo: host)
            let removed = count - jar.count
            try await jar.flush()
            try StandardStream.output.write(
                printsJSON ? "{\"removed\":\(removed)}\n" : "Removed \(CookieListing.number(removed)).\n")
        }
    }

    /// The jar of the file. A jar accepts a missing file, but there is nothing to list or to remove then.
    private func open() throws(RequestFailure) -> CookieJar {
        do {
            _ = try FileStatus(of: file, followsLink: false)
        } catch {
            throw .file(
                file, "could not be opened", error, missing: "Check the path; --cookie-jar creates such a file.",
                phase: .preparation)
        }
        return try CookieJar(file: CookieFile(file, keepsSessionCookies: true))
    }

    private func print(_ jar: CookieJar) throws(RequestFailure) {
        let listing = CookieListing(cookies: jar.cookies(includingHTTPOnly: true), showsValues: showsSecrets)
        let lines = printsJSON ? listing.objects : listing.table
        try StandardStream.output.write(lines.map { $0 + "\n" }.joined())
    }
}

import ArgumentParser
import EssentialsRequests
import ServiceEssentials

/// `essentials cache`
struct CacheCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache",
        abstract: "List, check or remove the stored responses of a directory.",
        discussion: """
            Reads a directory as --cache and programs with a ResponseCache write it, and prints a line for each response: \
            its age, how long it stays fresh, the status, the bytes of the body, whether it was fetched with credentials or \
            other secrets, and the URL, with the header fields that select it. Other programs may use the directory \
            meanwhile.

            With --json each line is an object with "url", "status", "bytes", "age" (seconds, or null if it is not known), \
            "timeLeft" (seconds, negative if it is stale), "isPrivate" and "vary".

            --verify reads every body, prints the names of damaged files on standard error, and fails if there is one. A \
            damaged response is never served, and is removed when it is asked for.

            EXAMPLES
              essentials cache films
              essentials cache films --json
              essentials cache films --remove https://api.example.com/films
              essentials cache films --clear
              essentials cache films --verify

            EXIT CODES
              0 success, 1 the directory could not be read or a file is damaged, 64 wrong usage or an invalid value
            """)

    @Argument(help: "A directory of this user.", completion: .directory)
    var directory: String

    @Option(
        name: .customLong("remove"),
        help: ArgumentHelp(
            "Remove the responses of this URL, for all credentials, and print how many there were.", valueName: "url"))
    var removed: String?

    @Flag(name: .customLong("clear"), help: "Remove all responses, and print how many there were.")
    var clears = false

    @Flag(name: .customLong("verify"), help: "Read and check everything.")
    var verifies = false

    @Flag(name: .customLong("json"), help: "Print a JSON object on each line.")
    var printsJSON = false

    @OptionGroup(title: "Output") var errors: ErrorOptions

    func validate() throws {
        let given = [("--remove", removed != nil), ("--clear", clears), ("--verify", verifies)].filter(\.1).map(\.0)
        if given.count > 1 { throw ValidationError("Give \(given[0]) or \(given[1]), not both.") }
    }

    func run() async throws {
        try await FailurePrinter(format: errors.format).run { () async throws(RequestFailure) in
            let url = try removed.map { text throws(RequestFailure) in try RequestURL(URLArgument.absolute(text)) }
            let files = try StoredResponseFiles(directory)
            if clears || url != nil {
                let count = try files.remove(url)
                return try StandardStream.output.write(
                    printsJSON ? "{\"removed\":\(count)}\n" : "Removed \(StoredResponseListing.number(count)).\n")
            }
            let listing = StoredResponseListing(items: try files.items(isVerified: verifies))
            let lines = printsJSON ? listing.objects : listing.table
            try StandardStream.output.write(lines.map { $0 + "\n" }.joined())
            try report(listing.damaged)
        }
    }

    private func report(_ damaged: [String]) throws(RequestFailure) {
        guard !damaged.isEmpty else { return }
        for name in damaged { StandardStream.error.printLine("damaged: \(name)") }
        guard verifies else { return }
        throw RequestFailure(
            .file, "\(damaged.count == 1 ? "1 file is" : "\(damaged.count) files are") damaged.",
            remedy: "Nothing is lost: damaged responses are fetched anew. --clear removes all.", phase: .preparation)
    }
}

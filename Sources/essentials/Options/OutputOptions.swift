import ArgumentParser
import EssentialsTools
import ServiceEssentials

/// Options for the output of a response.
struct OutputOptions: ParsableArguments {
    @Flag(
        name: [.customShort("f"), .customLong("fail")],
        help: "Do not print the body of a response with an unexpected status.")
    var hidesUnexpectedBody = false

    @Flag(
        name: [.customShort("i"), .customLong("include")],
        help: "Print the status line and header fields first, on standard output even with --output.")
    var includesHead = false

    @Flag(
        name: [.customShort("v"), .customLong("verbose")],
        help: """
            Print on standard error what is sent and received: each request and redirect, the TLS connection with its \
            certificates and the pin that matched, and the timings. Values that look secret are hidden.
            """)
    var isVerbose = false

    @Flag(
        name: .customLong("show-secrets"),
        help: "With --verbose, --offline or --curl, also print values that look secret.")
    var showsSecrets = false

    @Flag(name: .customLong("timings"), help: "Print when each phase ended and how long it took, on standard error.")
    var printsTimings = false

    @Flag(
        name: [.customShort("s"), .customLong("silent")],
        help: "Print no progress, warnings or errors. The exit code does not change.")
    var isSilent = false

    @Flag(name: [.customShort("S"), .customLong("show-error")], help: "With --silent, still print errors.")
    var showsErrors = false

    @Option(
        name: [.customShort("o", allowingJoined: true), .customLong("output")],
        help: ArgumentHelp(
            """
            Write the body to this file. The file is created or replaced only if the body is complete and the status \
            is expected; otherwise it is left unchanged. “-” is standard output: the bytes are then printed unchanged \
            even on a terminal.
            """,
            valueName: "file"),
        completion: .file())
    var file: String?

    @Flag(
        name: [.customShort("O"), .customLong("remote-name")],
        help: """
            Write the body to a file in the current directory, like --output. Its name is the last part of the URL's \
            path as given; a name from the server is never used.
            """)
    var usesRemoteName = false

    @Flag(
        name: .customLong("resume"),
        help: """
            With --output or --remote-name: if the download fails, keep the received part as NAME.part and resume from \
            there the next time, if the server's file is unchanged.
            """)
    var resumes = false

    @Flag(
        name: .customLong("offline"),
        help: """
            Send nothing, and print the request on standard output. Values that look secret are hidden without \
            --show-secrets. To be answered from stored responses, as by a ResponseCache that “isOffline”, use --only-stored.
            """)
    var isOffline = false

    @Flag(
        name: .customLong("curl"),
        help: """
            Send nothing, and print the request as a command of curl. Values that look secret are hidden without \
            --show-secrets. The command has no pins, and no anchors but those of a single --anchor.
            """)
    var printsCommand = false

    @Option(
        name: .customLong("har"),
        help: ArgumentHelp(
            """
            Record the requests and responses in a HAR file, with redirects and retries, for “essentials har” and browsers. \
            Values that look secret are hidden.
            """, valueName: "file"),
        completion: .file())
    var recordingFile: String?

    @Flag(name: .customLong("har-bodies"), help: "With --har, also record the first 64 KiB of each body.")
    var recordsBodies = false

    @Option(
        name: .customLong("pretty"),
        help: """
            Indent and color a JSON body, do only one of the two, or neither. Numbers, order and duplicate members stay as \
            they are. (default: all on a terminal, otherwise none)
            """)
    var pretty: JSONAppearance.Pretty?

    @Option(
        name: .customLong("color"),
        help: """
            When to color JSON. With auto, on a terminal unless NO_COLOR is set, CLICOLOR is 0 or TERM is dumb; \
            CLICOLOR_FORCE colors everywhere.
            """)
    var color = JSONAppearance.Color.auto

    func validate() throws {
        try recording.check()
        if file?.isEmpty == true { throw ValidationError("--output needs a file name.") }
        if file != nil, usesRemoteName { throw ValidationError("Give --output or --remote-name, not both.") }
        if resumes, !usesRemoteName, file == nil || file == "-" {
            throw ValidationError("--resume needs the name of a file: --output FILE or --remote-name.")
        }
        if showsSecrets, !isVerbose, recording.preview == nil {
            throw ValidationError("--show-secrets needs --verbose, --offline or --curl.")
        }
        if let path = recording.file, path == file {
            throw ValidationError("Give --output and --har different files.")
        }
        if let option = recording.preview?.option, file != nil || usesRemoteName {
            throw ValidationError("With \(option) there is no body to write to a file.")
        }
    }

    /// How the request is shown instead of being sent, or recorded.
    var recording: Recording {
        Recording(isOffline: isOffline, printsCommand: printsCommand, file: recordingFile, recordsBodies: recordsBodies)
    }

    private var style: JSONAppearance { JSONAppearance(pretty: pretty, color: color) }

    /// The destination of the body.
    ///
    /// - Parameter url: The URL or path as given, whose last part `--remote-name` uses.
    func target(for url: String) throws(RequestFailure) -> OutputTarget {
        let path = usesRemoteName ? try Self.remoteName(of: url) : file
        guard let path, path != "-" else { return .standardOutput }
        return resumes ? .download(path: path) : .file(try OutputFile(path: path))
    }

    /// The last part of a URL's path.
    ///
    /// - Throws: `invalidRequest` if the path ends in a slash or in a name that is not a file's.
    private static func remoteName(of url: String) throws(RequestFailure) -> String {
        let bytes = url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let address = Substring(bytes)
        let path = address.firstRange(of: "://").map { address[$0.upperBound...] } ?? address
        let name = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.utf8.index(after: $0)...]) } ?? ""
        guard !["", ".", ".."].contains(name), name.unicodeScalars.allSatisfy({ !$0.isInvisible }) else {
            throw RequestFailure(
                .invalidRequest, "The URL does not end in the name of a file.", remedy: "Name a file with --output.")
        }
        return name
    }

    /// How a body is printed on standard output.
    var bodyStyle: BodyStyle {
        let isTerminal = isatty(STDOUT_FILENO) == 1
        return BodyStyle(
            isProtected: isTerminal && file != "-", formats: style.formats(isTerminal: isTerminal && file != "-"),
            colors: style.colors(isTerminal: isTerminal && file != "-"))
    }

    /// Shows the request instead of sending it; `nil` if it is sent.
    ///
    /// - Parameter options: What --curl prints beside the request: how to connect, and the account for Digest.
    func makePreview(options: [(name: String, value: String?)]) -> RequestPreview? {
        recording.preview.map { RequestPreview($0, showsSecrets: showsSecrets, bodyStyle, options: options) }
    }

    func failurePrinter(_ errors: ErrorOptions) -> FailurePrinter {
        FailurePrinter(format: errors.format, isSilent: isSilent && !showsErrors)
    }
}

/// The option for the statuses that are a success.
struct StatusOptions: ParsableArguments {
    @Option(
        name: .customLong("expect"),
        help: ArgumentHelp(
            "The statuses that count as success, as numbers and ranges. (default: 200-299)", valueName: "200-299,404"),
        transform: StatusSet.init)
    var expected = StatusSet.successful
}

/// The format of error messages.
struct ErrorOptions: ParsableArguments {
    @Option(
        name: .customLong("error-format"),
        help: ArgumentHelp(
            "A line of text, or a JSON object with reason, phase, host, message, remedy and attempt.",
            valueName: "format"))
    var format = OutputFormat.text
}

/// The values of `--format` and `--error-format`.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
    case text, json
}

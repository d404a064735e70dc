import ArgumentParser
import ServiceEssentials

/// Options for the output of a response.
struct OutputOptions: ParsableArguments {
    @Option(
        name: .customLong("expect"),
        help: ArgumentHelp(
            "The statuses that count as success, as numbers and ranges. (default: 200-299)", valueName: "200-299,404"),
        transform: StatusSet.init)
    var expected = StatusSet.successful

    @Flag(
        name: .customLong("include"),
        help: "Print the status line and header fields first, on standard output even with --output.")
    var includesHead = false

    @Flag(name: .customLong("timings"), help: "Print when each phase ended and how long it took, on standard error.")
    var printsTimings = false

    @Option(
        name: .customLong("output"),
        help: ArgumentHelp(
            """
            Write the body to this file. The file is created or replaced only if the body is complete and the status \
            is expected; otherwise it is left unchanged.
            """,
            valueName: "file"),
        completion: .file())
    var file: String?

    @Flag(
        name: .customLong("resume"),
        help: """
            With --output: if the download fails, keep the received part as NAME.part and resume from there the next \
            time, if the server's file is unchanged.
            """)
    var resumes = false

    @OptionGroup var errors: ErrorOptions

    func validate() throws {
        if file?.isEmpty == true { throw ValidationError("--output needs a file name.") }
        if resumes, file == nil { throw ValidationError("--resume needs --output.") }
    }

    /// The destination of the body.
    func target() throws(RequestFailure) -> OutputTarget {
        guard let file else { return .standardOutput }
        return resumes ? .download(path: file) : .file(try OutputFile(path: file))
    }

    var errorFormat: FailurePrinter.Format { errors.format }
}

/// The format of error messages.
struct ErrorOptions: ParsableArguments {
    @Option(
        name: .customLong("error-format"),
        help: ArgumentHelp(
            "A line of text, or a JSON object with reason, phase, host, message, remedy and attempt.",
            valueName: "format"))
    var format = FailurePrinter.Format.text
}

extension FailurePrinter.Format: ExpressibleByArgument {}

import ArgumentParser
import ServiceEssentials

/// What becomes of the response.
struct OutputOptions: ParsableArguments {
    @Option(
        name: .customLong("expect"),
        help: ArgumentHelp(
            "The statuses that are a success, as numbers and ranges. (default: 200-299)", valueName: "200-299,404"),
        transform: StatusSet.init)
    var expected = StatusSet.successful

    @Flag(
        name: .customLong("include"),
        help: "Print the status line and the header fields first, on standard output also with --output.")
    var includesHead = false

    @Flag(name: .customLong("timings"), help: "Print on standard error when each phase was over and what it took.")
    var printsTimings = false

    @Option(
        name: .customLong("output"),
        help: ArgumentHelp(
            """
            Write the body to this file, which appears when the body is whole and the status expected, and is untouched \
            otherwise. A file that is there is replaced.
            """,
            valueName: "file"))
    var file: String?

    @Flag(
        name: .customLong("resume"),
        help: """
            With --output: keep what has come beside the file as NAME.part when the download fails, and go on from there \
            the next time, if the server's file is still the same.
            """)
    var resumes = false

    @OptionGroup var errors: ErrorOptions

    func validate() throws {
        if file?.isEmpty == true { throw ValidationError("--output needs the name of a file.") }
        if resumes, file == nil { throw ValidationError("--resume needs --output.") }
    }

    /// Where the body goes.
    func target() throws(RequestFailure) -> OutputTarget {
        guard let file else { return .standardOutput }
        return resumes ? .download(path: file) : .file(try OutputFile(path: file))
    }

    var errorFormat: FailurePrinter.Format { errors.format }
}

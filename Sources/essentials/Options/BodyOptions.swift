import ArgumentParser
import ServiceEssentials

/// The body of a request.
struct BodyOptions: ParsableArguments {
    @Option(
        name: .customLong("json"), parsing: .unconditional,
        help: ArgumentHelp(
            "A JSON text, sent as application/json unless a header says otherwise.", valueName: "text"),
        transform: JSONText.checked)
    var json: String?

    @Option(
        name: .customLong("data"), parsing: .unconditional,
        help: ArgumentHelp(
            "The body itself, @ and the name of a file, or @- for standard input. No content type is added.",
            valueName: "text|@file|@-"))
    var data: String?

    @Option(
        name: .customLong("upload"),
        help: ArgumentHelp(
            "A file, read while it is sent, with a progress bar on a terminal. No content type is added.",
            valueName: "file"))
    var upload: String?

    func validate() throws {
        if [json, data, upload].compactMap({ $0 }).count > 1 {
            throw ValidationError("Give one of --json, --data and --upload.")
        }
    }

    /// Reads the body into memory, but for an upload, so that it can be sent again.
    func content() throws(RequestFailure) -> RequestBody {
        if let upload {
            let body = try RequestBody.file(upload)
            return ProgressBar.report(verb: "sent").map { body.reporting(to: $0) } ?? body
        }
        if let json { return .bytes(InputFile.bytes(of: json)) }
        guard let data else { return .none }
        if data == "@-" { return .bytes(try InputFile.standardInput()) }
        if data.hasPrefix("@") { return .bytes(try InputFile.contents(of: String(data.dropFirst()))) }
        return .bytes(InputFile.bytes(of: data))
    }
}

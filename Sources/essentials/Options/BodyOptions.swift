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

    func validate() throws {
        if json != nil, data != nil { throw ValidationError("Give --json or --data, not both.") }
    }

    /// Reads the body into memory, so that it can be sent again.
    func content() throws(RequestFailure) -> RequestBody {
        if let json { return .bytes(InputFile.bytes(of: json)) }
        guard let data else { return .none }
        if data == "@-" { return .bytes(try InputFile.standardInput()) }
        if data.hasPrefix("@") { return .bytes(try InputFile.contents(of: String(data.dropFirst()))) }
        return .bytes(InputFile.bytes(of: data))
    }
}

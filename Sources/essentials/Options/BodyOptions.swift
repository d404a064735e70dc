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
        name: .customLong("form"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A field of a form, sent as application/x-www-form-urlencoded unless a header says otherwise; repeatable, "
                + "in the order given.", valueName: "name=value"), transform: NamedText.formField)
    var fields: [NamedText] = []

    @Option(
        name: .customLong("part"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A part of a form, sent as multipart/form-data: a text, or @ and the name of a file, which is read while it "
                + "is sent. “;type=image/png” and “;filename=x.png” behind the file say more than its name does. "
                + "Repeatable, in the order given.", valueName: "name=text|name=@file"),
        transform: PartArgument.init)
    var parts: [PartArgument] = []

    @Option(
        name: .customLong("upload"),
        help: ArgumentHelp(
            "A file, read while it is sent, with a progress bar on a terminal. No content type is added.",
            valueName: "file"))
    var upload: String?

    func validate() throws {
        let given = [
            json == nil ? nil : "--json", data == nil ? nil : "--data", fields.isEmpty ? nil : "--form",
            parts.isEmpty ? nil : "--part", upload == nil ? nil : "--upload",
        ].compactMap { $0 }
        if given.count > 1 { throw ValidationError("Give \(given[0]) or \(given[1]), not both.") }
    }

    /// The type that the body has unless a header names one.
    var standardType: MediaType? {
        if json != nil { return .json }
        return fields.isEmpty ? nil : .form
    }

    /// Told of what is sent where that may take long; nil where it does not, or nobody looks.
    var progress: ProgressReport? {
        upload != nil || parts.contains { $0.isFile } ? ProgressBar.report(verb: "sent") : nil
    }

    /// Reads the body into memory, but for files to upload and those of parts, so that it can be sent again.
    func content() throws(RequestFailure) -> DataRequest.Body {
        if let upload { return .raw(try .file(upload)) }
        if let json { return .raw(.bytes(InputFile.bytes(of: json))) }
        if !fields.isEmpty {
            let items = QueryItems(fields.map { QueryItems.Item(name: $0.name, value: $0.value) })
            return .raw(.bytes(InputFile.bytes(of: items.encodedQuery)))
        }
        if !parts.isEmpty {
            var form = try MultipartBody()
            for part in parts { try form.append(part.part()) }
            return .multipart(form)
        }
        guard let data else { return .none }
        if data == "@-" { return .raw(.bytes(try InputFile.standardInput())) }
        if data.utf8.first == UInt8(ascii: "@") {
            return .raw(.bytes(try InputFile.contents(of: String(Substring(data.utf8.dropFirst())))))
        }
        return .raw(.bytes(InputFile.bytes(of: data)))
    }
}

import ArgumentParser
import FoundationEssentials
import ServiceEssentials

/// The body of a request.
struct BodyOptions: ParsableArguments {
    @Option(
        name: .customLong("json"), parsing: .unconditional,
        help: ArgumentHelp(
            "JSON as text, @ and the path of a file, or @- for standard input. It is checked and sent unchanged, as "
                + "application/json unless a header field sets another type.", valueName: "text|@file|@-"),
        transform: JSONText.checked)
    var json: String?

    @Option(
        name: [.customShort("d", allowingJoined: true), .customLong("data")], parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "The body as text, @ and the path of a file, or @- for standard input. A text is sent as "
                + "application/x-www-form-urlencoded unless a header field sets another type, as curl does; a file has no "
                + "type and is sent unchanged. Several are joined with “&”.",
            valueName: "text|@file|@-"))
    var data: [String] = []

    @Option(
        name: .customLong("form"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A form field, sent as application/x-www-form-urlencoded unless a header field sets another type; "
                + "repeatable, in order. Files are sent with --part.", valueName: "name=value"),
        transform: NamedText.formText)
    var fields: [NamedText] = []

    @Option(
        name: [.customShort("F", allowingJoined: true), .customLong("part")], parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A form part, sent as multipart/form-data: a text, or @ and the path of a file, which is read while it is "
                + "sent. “;type=image/png” and “;filename=x.png” after the path set the part's type and file name. "
                + "Repeatable, in order.", valueName: "name=text|name=@file"),
        transform: PartArgument.init)
    var parts: [PartArgument] = []

    @Option(
        name: .customLong("upload"),
        help: ArgumentHelp(
            "A file that is read while it is sent, with a progress bar on a terminal. No content type is added.",
            valueName: "file"),
        completion: .file())
    var upload: String?

    /// The options that were given.
    var given: [String] {
        [
            json == nil ? nil : "--json", data.isEmpty ? nil : "--data", fields.isEmpty ? nil : "--form",
            parts.isEmpty ? nil : "--part", upload == nil ? nil : "--upload",
        ].compactMap { $0 }
    }

    func validate() throws {
        let given = given
        if given.count > 1 { throw ValidationError("Give \(given[0]) or \(given[1]), not both.") }
    }

    /// The content type of the body if no header field sets one.
    var standardType: MediaType? {
        if json != nil { return .json }
        let isText = !data.isEmpty && !data.contains { $0.utf8.first == UInt8(ascii: "@") }
        return fields.isEmpty && !isText ? nil : .form
    }

    /// Reports upload progress for bodies from files, if standard error is a terminal; otherwise `nil`.
    var progress: ProgressReport? {
        upload != nil || parts.contains { $0.isFile } ? ProgressBar.report(verb: "sent") : nil
    }

    /// Creates the body. All bodies except files for `--upload` and `--part` are read into memory, so
    /// that they can be sent again.
    func content() throws(RequestFailure) -> DataRequest.Body {
        if let upload { return .raw(try .file(upload)) }
        if let json {
            let isFile = json.utf8.first == UInt8(ascii: "@")
            return .raw(.bytes(InputFile.bytes(of: isFile ? try InputFile.json(of: String(json.dropFirst())) : json)))
        }
        if !fields.isEmpty {
            let items = QueryItems(fields.map { QueryItems.Item(name: $0.name, value: $0.value) })
            return .raw(.bytes(InputFile.bytes(of: items.encodedQuery)))
        }
        if !parts.isEmpty {
            var form = try MultipartBody()
            for part in parts { try form.append(part.part()) }
            return .multipart(form)
        }
        guard !data.isEmpty else { return .none }
        var bytes = Data()
        for (index, piece) in data.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: "&")) }
            let isFile = piece.utf8.first == UInt8(ascii: "@")
            bytes += isFile ? try InputFile.contents(of: String(piece.dropFirst())) : InputFile.bytes(of: piece)
        }
        return .raw(.bytes(bytes))
    }
}

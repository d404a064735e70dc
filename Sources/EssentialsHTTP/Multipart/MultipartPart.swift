#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// One part of a ``MultipartBody``: a field, bytes, a model as JSON, a file or a stream.
///
/// ```swift
/// var picture = try MultipartPart.file("/srv/pictures/1.png", name: "picture")
/// picture.headerFields[.contentLanguage] = "en"
/// try form.append(picture)
/// ```
///
/// In a form each part needs a name. In mixed and related bodies, a part without a name and a file name is written
/// without `Content-Disposition`, and any other part as an attachment. In names and file names, a double quote is
/// written as `%22`, CR as `%0D` and LF as `%0A`, as browsers do. A zero byte fails with `invalidRequest`. All other
/// characters are UTF-8.
public struct MultipartPart: Sendable {
    /// The name of the field; `nil` for a part without a name.
    public let name: String?
    /// The file name that is sent; `nil` for a part without a file name.
    public let fileName: String?
    /// The value of `Content-Type`.
    public let type: String
    /// Extra fields, which are written after `Content-Disposition` and `Content-Type`. The default is empty.
    public var headerFields: HTTPFields = [:]
    /// Whether the file name is also sent as `filename*` (RFC 8187), for receivers of mixed and related bodies. RFC
    /// 7578, 4.2 forbids it in forms, but some receivers of forms require it. The default is `false`.
    public var addsExtendedFileName = false

    let content: RequestBody

    private init(_ content: RequestBody, name: String?, fileName: String?, type: String) {
        self.content = content
        self.name = name
        self.fileName = fileName
        self.type = type
    }

    /// The length of the content in bytes; `nil` if it is not known.
    public var length: Int? {
        switch content.content {
        case .none: 0
        case .bytes(let data): data.count
        case .stream(let length, _, _): length
        }
    }

    /// Whether the part can be sent again, because it is not a stream.
    public var isReplayable: Bool { content.isReplayable }

    /// The name of the part in failures.
    var shown: String {
        (name ?? fileName).map { "part “\(RequestFailure.shown($0))”" } ?? "part without a name"
    }
}

extension MultipartPart {
    /// Creates a text field with the type `text/plain; charset=utf-8`.
    public static func field(_ name: String, _ value: String) -> MultipartPart {
        MultipartPart(.bytes(Data(value.utf8)), name: name, fileName: nil, type: "text/plain; charset=utf-8")
    }

    /// Creates a part from bytes in memory, which may be empty.
    ///
    /// - Parameters:
    ///   - data: The content.
    ///   - name: The name of the field. It can be `nil` only in mixed and related bodies.
    ///   - fileName: The file name to send.
    ///   - type: The media type. The default is the type for the file name's extension, or `application/octet-stream`
    ///     if that is unknown.
    /// - Throws: `invalidRequest` if the type is empty or invalid as a header value.
    public static func data(
        _ data: Data, name: String?, fileName: String? = nil, type: String? = nil
    ) throws(RequestFailure) -> MultipartPart {
        MultipartPart(.bytes(data), name: name, fileName: fileName, type: try checked(type, fileName))
    }

    /// Creates a part from a model as JSON, with the type `application/json`. The model is encoded immediately, once.
    ///
    /// - Parameters:
    ///   - model: The model to encode.
    ///   - name: The name of the field. It can be `nil` only in mixed and related bodies.
    ///   - fileName: The file name to send.
    ///   - encoder: The encoder. The default encodes as ``JSONCodec`` does: keys are sorted, and dates are ISO 8601.
    /// - Throws: `encoding`, with the encoder's error as the underlying error.
    public static func json(
        _ model: some Encodable, name: String?, fileName: String? = nil, encoder: JSONEncoder? = nil
    ) throws(RequestFailure) -> MultipartPart {
        try encoded(model, name: name, fileName: fileName, encoder: encoder)
    }

    private static func encoded(
        _ model: some Encodable, name: String?, fileName: String?, encoder: JSONEncoder?
    ) throws(RequestFailure) -> MultipartPart {
        let data: Data
        do {
            data = try encoder?.encode(model) ?? standardCodec.encode(model, as: .json)
        } catch {
            let failure = error as? RequestFailure
            throw RequestFailure(
                .encoding, "The model \(Swift.type(of: model)) could not be encoded as JSON.",
                underlying: failure?.underlying ?? error)
        }
        return MultipartPart(.bytes(data), name: name, fileName: fileName, type: "application/json")
    }

    /// Creates a part from a JSON value, which can be a literal, with the type `application/json`. The other parameters
    /// are those for a model.
    ///
    /// ```swift
    /// try form.append(.json(["title": "Summer", "year": 2024], name: "meta"))
    /// ```
    public static func json(
        _ value: JSONValue, name: String?, fileName: String? = nil, encoder: JSONEncoder? = nil
    ) throws(RequestFailure) -> MultipartPart {
        try encoded(value, name: name, fileName: fileName, encoder: encoder)
    }

    /// Creates a part from a file, which may be empty. The file is read only while it is sent.
    ///
    /// The file's attributes are read here once, and they must be the same whenever the file is sent; see
    /// `RequestBody.file(_:range:)`.
    ///
    /// - Parameters:
    ///   - path: The path of the file. A relative path is resolved against the current directory when this is called.
    ///   - name: The name of the field. It can be `nil` only in mixed and related bodies.
    ///   - fileName: The file name to send. The default is the last component of the path.
    ///   - type: The media type. The default is the type for the file name's extension, or `application/octet-stream`
    ///     if that is unknown.
    /// - Throws: `file` if the file does not exist, is not accessible, or is a directory, a pipe or a device;
    ///   `invalidRequest` if the type is empty or invalid as a header value.
    public static func file(
        _ path: String, name: String?, fileName: String? = nil, type: String? = nil
    ) throws(RequestFailure) -> MultipartPart {
        let fileName = fileName ?? path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) }
        let type = try checked(type, fileName)
        return MultipartPart(try .file(path), name: name, fileName: fileName, type: type)
    }

    /// Creates a part from a stream, which can be sent only once. It is read while it is sent, only as fast as the peer
    /// receives.
    ///
    /// The request fails with `invalidRequest` if the stream has more or fewer bytes than the length. The following
    /// parts are sent after the sequence has ended. If the sequence throws an error, the request fails with it as the
    /// underlying error.
    ///
    /// - Parameters:
    ///   - sequence: The chunks: any collections of bytes, as in `RequestBody.stream`. The sequence is iterated once.
    ///   - length: The total number of bytes. With `nil` the body has no `Content-Length`.
    ///   - name: The name of the field. It can be `nil` only in mixed and related bodies.
    ///   - fileName: The file name to send.
    ///   - type: The media type. The default is the type for the file name's extension, or `application/octet-stream`
    ///     if that is unknown.
    /// - Throws: `invalidRequest` if the length is negative, or if the type is empty or invalid as a header value.
    public static func stream<Pieces: AsyncSequence & Sendable>(
        _ sequence: Pieces, length: Int?, name: String?, fileName: String? = nil, type: String? = nil
    ) throws(RequestFailure) -> MultipartPart where Pieces.Element: Collection<UInt8> {
        guard length ?? 0 >= 0 else {
            throw RequestFailure(
                .invalidRequest, "The length of a part's stream is negative.", remedy: "Use nil for an unknown length.")
        }
        let type = try checked(type, fileName)
        let content = OneTimeBody.of(.stream(sequence, length: length))
        return MultipartPart(content, name: name, fileName: fileName, type: type)
    }

    private static let standardCodec = JSONCodec()

    private static func checked(_ type: String?, _ fileName: String?) throws(RequestFailure) -> String {
        guard let type else { return fileName.flatMap(FileTypes.type(ofFileNamed:)) ?? "application/octet-stream" }
        guard !type.isEmpty else {
            throw RequestFailure(
                .invalidRequest, "The media type of a part is empty.",
                remedy: "Use a type such as image/png, or nil for that of the file name.")
        }
        _ = try HTTPField.checked(name: "Content-Type", value: type)
        return type
    }
}

extension MultipartPart: CustomReflectable {
    /// The properties for debuggers and `dump`: field names without values, and no bytes of the content.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "name": name as Any, "fileName": fileName as Any, "type": type,
                "headerFields": RedactedText.names(of: headerFields), "content": content,
            ])
    }
}

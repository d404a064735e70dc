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
/// In a form each part needs a name. In mixed and related bodies a part that has neither name nor file name is written
/// without `Content-Disposition`, others as attachments. In names and file names a double quote is written as `%22`, CR
/// as `%0D` and LF as `%0A`, as browsers do; a zero byte is refused as `invalidRequest`; all else is UTF-8 as it is.
public struct MultipartPart: Sendable {
    /// The name of the field, or nil.
    public let name: String?
    /// The file name that the receiver is told, or nil.
    public let fileName: String?
    /// The value of its `Content-Type`.
    public let type: String
    /// Its fields after `Content-Disposition` and `Content-Type`, which are not among them. None.
    public var headerFields: HTTPFields = [:]
    /// Whether the file name is written a second time as `filename*` (RFC 8187), for receivers of mixed and related
    /// bodies. RFC 7578, 4.2, forbids it in forms, yet some receivers of forms read nothing else. No.
    public var addsExtendedFileName = false

    let content: RequestBody

    private init(_ content: RequestBody, name: String?, fileName: String?, type: String) {
        self.content = content
        self.name = name
        self.fileName = fileName
        self.type = type
    }

    /// How many bytes its content has, or nil when that is not known.
    public var length: Int? {
        switch content.content {
        case .none: 0
        case .bytes(let data): data.count
        case .stream(let length, _, _): length
        }
    }

    /// Whether it can be sent a second time: whether it is no stream.
    public var isReplayable: Bool { content.isReplayable }

    /// What failures call it.
    var shown: String {
        (name ?? fileName).map { "part “\(RequestFailure.shown($0))”" } ?? "part without a name"
    }
}

extension MultipartPart {
    /// A field with a text, `text/plain; charset=utf-8`.
    public static func field(_ name: String, _ value: String) -> MultipartPart {
        MultipartPart(.bytes(Data(value.utf8)), name: name, fileName: nil, type: "text/plain; charset=utf-8")
    }

    /// Bytes in memory; there may be none.
    ///
    /// - Parameters:
    ///   - data: The content.
    ///   - name: The field's name; nil in mixed and related bodies only.
    ///   - fileName: What the receiver is told as the file's name.
    ///   - type: The media type. By the file name's extension when nil, `application/octet-stream` if that says nothing.
    /// - Throws: `invalidRequest` when the type is empty or cannot be a header's value.
    public static func data(
        _ data: Data, name: String?, fileName: String? = nil, type: String? = nil
    ) throws(RequestFailure) -> MultipartPart {
        MultipartPart(.bytes(data), name: name, fileName: fileName, type: try checked(type, fileName))
    }

    /// A model as JSON, `application/json`. It is encoded here, once.
    ///
    /// - Parameters:
    ///   - model: What is encoded.
    ///   - name: The field's name; nil in mixed and related bodies only.
    ///   - fileName: What the receiver is told as the file's name.
    ///   - encoder: What encodes it. As ``JSONCodec`` does when nil: keys sorted, dates as ISO 8601.
    /// - Throws: `encoding`, with the encoder's error as the underlying one.
    public static func json(
        _ model: some Encodable, name: String?, fileName: String? = nil, encoder: JSONEncoder? = nil
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

    /// A file, read while it is sent and not before; it may be empty.
    ///
    /// The file is looked at once here, and must be as it was then whenever it is sent, as `RequestBody.file(_:range:)`
    /// says.
    ///
    /// - Parameters:
    ///   - path: The file. A relative path counts from the directory that is current now.
    ///   - name: The field's name; nil in mixed and related bodies only.
    ///   - fileName: What the receiver is told as the file's name. The last component of the path when nil.
    ///   - type: The media type. By the file name's extension when nil, `application/octet-stream` if that says nothing.
    /// - Throws: `file` when the file is not there, may not be looked at, or is a directory, a pipe or a device;
    ///   `invalidRequest` when the type is empty or cannot be a header's value.
    public static func file(
        _ path: String, name: String?, fileName: String? = nil, type: String? = nil
    ) throws(RequestFailure) -> MultipartPart {
        let fileName = fileName ?? path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) }
        let type = try checked(type, fileName)
        return MultipartPart(try .file(path), name: name, fileName: fileName, type: type)
    }

    /// A stream of pieces, read while they are sent and only as fast as the peer takes them. It can be sent once.
    ///
    /// The request fails as `invalidRequest` when there are more or fewer bytes than the length says. What follows in
    /// the body is sent when the sequence has ended. An error that it throws ends the request with that error as the
    /// failure's underlying one.
    ///
    /// - Parameters:
    ///   - sequence: The pieces. Iterated once.
    ///   - length: How many bytes there will be, or nil when that is not known; the body then has no length either.
    ///   - name: The field's name; nil in mixed and related bodies only.
    ///   - fileName: What the receiver is told as the file's name.
    ///   - type: The media type. By the file name's extension when nil, `application/octet-stream` if that says nothing.
    /// - Throws: `invalidRequest` when the length is negative, or the type is empty or cannot be a header's value.
    public static func stream<Pieces: AsyncSequence & Sendable>(
        _ sequence: Pieces, length: Int?, name: String?, fileName: String? = nil, type: String? = nil
    ) throws(RequestFailure) -> MultipartPart where Pieces.Element == Data {
        guard length ?? 0 >= 0 else {
            throw RequestFailure(
                .invalidRequest, "The length of a part's stream is negative.", remedy: "Give nil for unknown.")
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
                remedy: "Give one such as image/png, or nil for the file name's.")
        }
        _ = try HTTPField.checked(name: "Content-Type", value: type)
        return type
    }
}

extension MultipartPart: CustomReflectable {
    /// The properties above, for debuggers and `dump`: the names of fields, without the content's bytes.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "name": name as Any, "fileName": fileName as Any, "type": type,
                "headerFields": RedactedText.names(of: headerFields), "content": content,
            ])
    }
}

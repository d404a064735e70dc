public import EssentialsHTTP
public import FoundationEssentials

extension DataRequest {
    /// The body of a request, and what its `Content-Type` says.
    ///
    /// ```swift
    /// request.body = .model(NewUser(name: "Ada"))
    /// request.body = .parameters(["name": "Ada"], as: .form)
    /// request.body = try .file("/srv/films/1.mp4", type: MediaType("video/mp4"))
    /// ```
    ///
    /// Where no type is given, a `Content-Type` among the request's fields names it, else the kind of body does. Where
    /// one is given, it wins.
    public struct Body: Sendable {
        /// Makes the bytes with the codec for a media type, and says which `Content-Type` they have.
        typealias Encode = @Sendable (CodecRegistry, MediaType) throws(RequestFailure) -> (Data, MediaType)

        enum Content: Sendable {
            case none
            case raw(RequestBody, standard: String?)
            case parameters(FormParameters)
            case encoded(Encode)
        }

        let content: Content
        /// The type that was given.
        let type: String?
        /// The type of what is encoded if none is named; `nil` means JSON.
        let standardType: MediaType?

        private init(_ content: Content, type: String? = nil, standardType: MediaType? = nil) {
            self.content = content
            self.type = type
            self.standardType = standardType
        }

        /// No body.
        public static var none: Body { Body(.none) }

        /// A model, written by the service's codec for the type; JSON where none is named.
        ///
        /// Where no type is named, a `String` is sent as `text/plain`, and `Data` and `[UInt8]` as
        /// `application/octet-stream`. With the type `MediaType.json` a `String` is a JSON string in
        /// quotation marks.
        public static func model<Model: Encodable & Sendable>(_ model: Model, as type: MediaType? = nil) -> Body {
            let isBytes = Model.self == Data.self || Model.self == [UInt8].self
            let standard: MediaType? = isBytes ? .octetStream : Model.self == String.self ? .text : nil
            return Body(
                .encoded { codecs, type throws(RequestFailure) in
                    let encoded = try codecs.encode(model, as: type)
                    return (encoded.body, encoded.contentType)
                },
                type: type?.description, standardType: standard)
        }

        /// Named values, to which a preparation may add more; JSON where no type is named.
        public static func parameters(_ parameters: FormParameters, as type: MediaType? = nil) -> Body {
            Body(.parameters(parameters), type: type?.description)
        }

        /// Named values, unless there are none.
        static func parameters(_ parameters: FormParameters, standardType: MediaType?) -> Body {
            parameters.isEmpty ? .none : Body(.parameters(parameters), standardType: standardType)
        }

        /// Bytes as they are; `application/octet-stream` where no type is named.
        public static func data(_ data: Data, type: MediaType? = nil) -> Body {
            Body(.raw(.bytes(data), standard: MediaType.octetStream.description), type: type?.description)
        }

        /// Text in the type's charset, else as UTF-8, which a text type then names; `text/plain` where no type is named.
        ///
        /// The request fails as `encoding` for a charset that is not known, or lacks a character of the text.
        public static func text(_ text: String, type: MediaType? = nil) -> Body {
            Body(
                .encoded { _, type throws(RequestFailure) in
                    let codec = TextCodec()
                    let type = codec.contentType(for: type)
                    do {
                        return (try codec.encode(text, as: type), type)
                    } catch let failure as RequestFailure {
                        throw failure
                    } catch {
                        throw RequestFailure(.encoding, "The text could not be written.", underlying: error)
                    }
                }, type: type?.description, standardType: .text)
        }

        /// A file, read while it is sent; see `RequestBody.file`. `application/octet-stream` where no type is named.
        ///
        /// - Throws: `file` when it is not there, is no regular file, or is shorter than the range.
        public static func file(
            _ path: String, range: Range<Int64>? = nil, type: MediaType? = nil
        ) throws(RequestFailure) -> Body {
            Body(
                .raw(try .file(path, range: range), standard: MediaType.octetStream.description),
                type: type?.description)
        }

        /// A stream of pieces, which can be sent once; see `RequestBody.stream`.
        public static func stream<Pieces: AsyncSequence & Sendable>(
            _ pieces: Pieces, length: Int?, type: MediaType? = nil
        ) -> Body where Pieces.Element == Data {
            Body(
                .raw(.stream(pieces, length: length), standard: MediaType.octetStream.description),
                type: type?.description)
        }

        /// Several parts, read while they are sent.
        public static func multipart(_ multipart: MultipartBody) -> Body {
            Body(.raw(.multipart(multipart), standard: nil), type: multipart.contentType)
        }

        /// A transport's body; without a `Content-Type` unless one is named.
        public static func raw(_ body: RequestBody, type: MediaType? = nil) -> Body {
            Body(.raw(body, standard: nil), type: type?.description)
        }

        /// Whether there is none.
        public var isNone: Bool {
            if case .none = content { true } else { false }
        }

        /// Whether it comes from a file, a stream or parts.
        var isReadWhileSent: Bool {
            if case .raw(let body, _) = content { body.isStream } else { false }
        }
    }
}

extension DataRequest.Body: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind of body and its size or names, never its content.
    public var description: String {
        switch content {
        case .none: "no body"
        case .raw(let body, _): body.description
        case .parameters(let parameters): "parameters \(parameters.values.keys.sorted())"
        case .encoded: "a model"
        }
    }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// Nothing, because ``description`` says all that may be shown.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

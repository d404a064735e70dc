public import EssentialsHTTP
public import FoundationEssentials

extension DataRequest {
    /// The body of a request and its media type.
    ///
    /// ```swift
    /// request.body = .model(NewUser(name: "Ada"))
    /// request.body = ["name": "Ada", "tags": ["a", 1, nil]]  // JSON
    /// request.body = .parameters(["name": "Ada"], as: .form)
    /// request.body = try .file("/srv/films/1.mp4", type: MediaType("video/mp4"))
    /// ```
    ///
    /// A type that is passed to one of these functions wins over a `Content-Type` in the request's header fields. If
    /// both are missing, each kind of body has a default.
    public struct Body: Sendable {
        /// Encodes the body with the codec for a media type, and returns the bytes with their `Content-Type`.
        typealias Encode = @Sendable (CodecRegistry, MediaType) throws(RequestFailure) -> (Data, MediaType)

        enum Content: Sendable {
            case none
            case raw(RequestBody, standard: String?)
            case parameters(FormParameters)
            case encoded(Encode)
        }

        let content: Content
        /// The explicit type; `nil` if there is none.
        let type: String?
        /// The default type of an encoded body; `nil` means JSON.
        let standardType: MediaType?

        private init(_ content: Content, type: String? = nil, standardType: MediaType? = nil) {
            self.content = content
            self.type = type
            self.standardType = standardType
        }

        /// Whether the body can be sent more than once.
        package var isReplayable: Bool {
            if case .raw(let body, _) = content { body.isReplayable } else { true }
        }

        /// No body.
        public static var none: Body { Body(.none) }

        /// A model, encoded by the service's codec for the type.
        ///
        /// The default type is JSON, but `text/plain` for a `String` and `application/octet-stream` for `Data` and
        /// `[UInt8]`. With the type `MediaType.json`, a `String` is sent as a JSON string in quotation marks.
        public static func model<Model: Encodable & Sendable>(_ model: Model, as type: MediaType? = nil) -> Body {
            let isBytes = Model.self == Data.self || Model.self == [UInt8].self
            let standard: MediaType? = isBytes ? .octetStream : Model.self == String.self ? .text : nil
            return encoded(model, as: type, standardType: standard)
        }

        /// A JSON value, encoded by the service's codec for the type. It can be a literal, whose members are sorted by
        /// name:
        ///
        /// ```swift
        /// request.body = .json(["id": 1, "name": "Ada", "tags": ["a", nil]])
        /// ```
        ///
        /// The default type is JSON. `nil` is the JSON value `null`; a request without a body has ``none``.
        public static func json(_ value: JSONValue, as type: MediaType? = nil) -> Body {
            encoded(value, as: type, standardType: nil)
        }

        private static func encoded(
            _ model: some Encodable & Sendable, as type: MediaType?, standardType: MediaType?
        ) -> Body {
            Body(
                .encoded { codecs, type throws(RequestFailure) in
                    let encoded = try codecs.encode(model, as: type)
                    return (encoded.body, encoded.contentType)
                },
                type: type?.description, standardType: standardType)
        }

        /// Named values, to which interceptors may add more. The default type is JSON.
        public static func parameters(_ parameters: FormParameters, as type: MediaType? = nil) -> Body {
            Body(.parameters(parameters), type: type?.description)
        }

        /// Bytes that are sent unchanged. The default type is `application/octet-stream`.
        public static func data(_ data: Data, type: MediaType? = nil) -> Body {
            Body(.raw(.bytes(data), standard: MediaType.octetStream.description), type: type?.description)
        }

        /// Text in the charset of the type. The default type is `text/plain`.
        ///
        /// If the type has no charset, the text is sent as UTF-8, and a text type gets the charset parameter. The
        /// request fails as `encoding` if the charset is unknown or cannot represent a character of the text.
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
                        throw RequestFailure(.encoding, "The text could not be encoded.", underlying: error)
                    }
                }, type: type?.description, standardType: .text)
        }

        /// A file, which is read while it is sent; see `RequestBody.file`. The default type is
        /// `application/octet-stream`.
        ///
        /// - Throws: `file` if it does not exist, is not a regular file, or is shorter than the range.
        public static func file(
            _ path: String, range: Range<Int64>? = nil, type: MediaType? = nil
        ) throws(RequestFailure) -> Body {
            Body(
                .raw(try .file(path, range: range), standard: MediaType.octetStream.description),
                type: type?.description)
        }

        /// A stream of any collections of bytes, which can be sent only once; see `RequestBody.stream`. The default type is
        /// `application/octet-stream`.
        public static func stream<Pieces: AsyncSequence & Sendable>(
            _ pieces: Pieces, length: Int?, type: MediaType? = nil
        ) -> Body where Pieces.Element: Collection<UInt8> {
            Body(
                .raw(.stream(pieces, length: length), standard: MediaType.octetStream.description),
                type: type?.description)
        }

        /// A multipart body, whose parts are read while they are sent.
        public static func multipart(_ multipart: MultipartBody) -> Body {
            Body(.raw(.multipart(multipart), standard: nil), type: multipart.contentType)
        }

        /// The body of a transport request. Without a type, no `Content-Type` is added.
        public static func raw(_ body: RequestBody, type: MediaType? = nil) -> Body {
            Body(.raw(body, standard: nil), type: type?.description)
        }

        /// Whether there is no body.
        public var isNone: Bool {
            if case .none = content { true } else { false }
        }

        /// Whether the body comes from a file, a stream or parts.
        var isReadWhileSent: Bool {
            if case .raw(let body, _) = content { body.isStream } else { false }
        }
    }
}

/// A literal is a JSON value; see ``DataRequest/Body/json(_:as:)``.
extension DataRequest.Body: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    /// Creates a JSON object. If a name occurs twice, the last value counts.
    public init(dictionaryLiteral members: (String, JSONValue)...) {
        self = .json(.object(Dictionary(members) { $1 }))
    }

    /// Creates a JSON array.
    public init(arrayLiteral elements: JSONValue...) { self = .json(.array(elements)) }
}

extension DataRequest.Body: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind of body and its size or names, without its content.
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
    /// Empty, so that the content is not shown.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Encodes and decodes JSON (RFC 8259).
///
/// By default dates are ISO 8601. Keys are sorted, and so are the elements of sets, so that equal models give equal bytes.
/// Slashes are not escaped.
///
/// ```swift
/// let codec = JSONCodec(dates: .millisecondsSince1970, keys: .snakeCase)
/// let odd = JSONCodec(configureDecoder: { $0.allowsJSON5 = true })
/// ```
///
/// A document can be a single value (`5`, `"x"`, `null`). One encoder and one decoder serve all calls.
public struct JSONCodec: BodyCodec {
    /// The format of dates.
    public enum Dates: Sendable, Hashable {
        /// `2015-12-31T23:59:59Z`. Decoding accepts any offset and any fraction of a second (RFC 3339).
        case iso8601
        /// `2015-12-31T23:59:59.250Z`. Decoding accepts any offset and any fraction of a second (RFC 3339).
        case iso8601WithMilliseconds
        /// The number of seconds since 1970, with a fraction.
        case secondsSince1970
        /// The whole number of milliseconds since 1970.
        case millisecondsSince1970
    }

    /// How property names map to names in the document.
    public enum Keys: Sendable, Hashable {
        /// The names are equal.
        case asDeclared
        /// `firstName` becomes `first_name`.
        case snakeCase
    }

    private let encoder = JSONEncoder()
    private let decoder = JSONDecoder()
    private let addsCharset: Bool
    /// Whether a ``JSONValue`` can be parsed directly, because no option of the decoder changes the result.
    private let readsValuesItself: Bool

    /// Creates a codec.
    ///
    /// - Parameters:
    ///   - dates: The format of dates.
    ///   - keys: The mapping of property names.
    ///   - addsCharset: Whether `; charset=utf-8` is sent. It has no meaning for JSON (RFC 8259, 11), but some servers
    ///     require it.
    ///   - configureEncoder: Sets further options. It is called once, before this initializer returns.
    ///   - configureDecoder: Sets further options. It is called once, before this initializer returns.
    public init(
        dates: Dates = .iso8601, keys: Keys = .asDeclared, addsCharset: Bool = true,
        configureEncoder: ((JSONEncoder) -> Void)? = nil, configureDecoder: ((JSONDecoder) -> Void)? = nil
    ) {
        self.addsCharset = addsCharset
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        switch dates {
        case .iso8601, .iso8601WithMilliseconds:
            encoder.dateEncodingStrategy = .custom(Self.writer(milliseconds: dates == .iso8601WithMilliseconds))
            decoder.dateDecodingStrategy = .custom(Self.readDate)
        case .secondsSince1970:
            encoder.dateEncodingStrategy = .secondsSince1970
            decoder.dateDecodingStrategy = .secondsSince1970
        case .millisecondsSince1970:
            // Foundation's strategy would write a fraction of a millisecond, which other programs do not expect.
            encoder.dateEncodingStrategy = .custom { try MillisecondsSince1970(wrappedValue: $0).encode(to: $1) }
            decoder.dateDecodingStrategy = .custom { try MillisecondsSince1970(from: $0).wrappedValue }
        }
        if keys == .snakeCase {
            encoder.keyEncodingStrategy = .convertToSnakeCase
            decoder.keyDecodingStrategy = .convertFromSnakeCase
        }
        configureEncoder?(encoder)
        configureDecoder?(decoder)
        if let marker = JSONOutline.marker { decoder.userInfo[marker] = true }
        if case .useDefaultKeys = decoder.keyDecodingStrategy {
            readsValuesItself = !decoder.allowsJSON5 && !decoder.assumesTopLevelDictionary
        } else {
            readsValuesItself = false
        }
    }

    /// Encodes a model.
    ///
    /// - Throws: `RequestFailure` with the reason `encoding` if a value cannot be represented in JSON, or if the media
    ///   type has a charset other than UTF-8.
    public func encode(_ model: some Encodable, as mediaType: MediaType) throws -> Data {
        if let label = mediaType.charset, Charset(parsing: label) != .utf8 {
            throw RequestFailure(
                .encoding, "JSON cannot be encoded in the charset “\(RequestFailure.shown(label))”.",
                remedy: "Omit the charset, or use utf-8 (RFC 8259, 8.1).")
        }
        do {
            return try encoder.encode(OrderedEncoding(model))
        } catch {
            throw CodingFault.encoding(error, type(of: model), as: "JSON")
        }
    }

    /// Decodes a model.
    ///
    /// A `String` is the document's text, decoded from its charset, even if the document is a JSON string. An unknown
    /// charset is ignored, because the parameter has no meaning for JSON (RFC 8259, 11). A ``JSONValue`` is decoded in
    /// one pass, in time proportional to the length of the body. More than ``JSONValue/maximumDepth`` levels of arrays
    /// and objects are an error for every model. For a ``JSONValue``, a member name that has non-ASCII characters and is
    /// longer than 4 KiB is an error too.
    ///
    /// - Throws: `RequestFailure` with the reason `decoding`, whose message says where the document is malformed or
    ///   does not fit the model.
    public func decode<Model: Decodable>(
        _ type: Model.Type, from body: Data, as mediaType: MediaType
    ) throws -> Model {
        if type == String.self || type == String?.self {
            let text = try (Charset.ofText(mediaType, body) ?? .utf8).decode(body)
            return try (text as? Model).orMismatch(type)
        }
        do {
            return try read(type, body)
        } catch {
            if let text = Self.transcoded(body, error, mediaType), let model = try? read(type, text) {
                return model
            }
            throw CodingFault.decoding(error, type, json: body)
        }
    }

    private func read<Model: Decodable>(_ type: Model.Type, _ body: Data) throws -> Model {
        if readsValuesItself, type == JSONValue.self || type == JSONValue?.self {
            do {
                let value: JSONValue? = try JSONParser.value(in: body)
                // `null` decodes as `nil`, as for other optional models.
                if type == JSONValue?.self, value == .null { return try (JSONValue?.none as? Model).orMismatch(type) }
                return try (value as? Model).orMismatch(type)
            } catch is JSONParser.Fault {
                throw DecodingError.dataCorrupted(
                    DecodingError.Context(codingPath: [], debugDescription: "The document is not valid JSON."))
            }
        }
        return try JSONOutline.$current.withValue(JSONOutline(body)) { try decoder.decode(type, from: body) }
    }

    /// The media type with `charset=utf-8`, unless the codec was created without it.
    public func contentType(for mediaType: MediaType) -> MediaType {
        addsCharset ? mediaType.withDefaultCharset : mediaType
    }

    /// Always `true`.
    public var mergesParameters: Bool { true }

    /// The body converted to UTF-8 if it is in the charset that the media type names. Other charsets are not allowed
    /// (RFC 8259, 8.1), but some services use them.
    private static func transcoded(_ body: Data, _ error: any Error, _ mediaType: MediaType) -> Data? {
        guard case DecodingError.dataCorrupted = error, let label = mediaType.charset,
            let charset = Charset(parsing: label), charset != .utf8, UnicodeUnits.utf8Text(body, false) == nil
        else { return nil }
        return (try? charset.decode(body)).map { Data($0.utf8) }
    }

    private static func writer(milliseconds: Bool) -> @Sendable (Date, any Encoder) throws -> Void {
        { date, encoder in
            guard let text = InternetDate.text(date, milliseconds: milliseconds) else {
                // The error holds the date as a number, because printing such a date traps.
                throw EncodingError.invalidValue(
                    date.timeIntervalSince1970,
                    EncodingError.Context(
                        codingPath: encoder.codingPath, debugDescription: "The date is outside the years 1 to 9999."
                    ))
            }
            var container = encoder.singleValueContainer()
            try container.encode(text)
        }
    }

    @Sendable private static func readDate(_ decoder: any Decoder) throws -> Date {
        let container = try decoder.singleValueContainer()
        guard let date = InternetDate.date(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "The text is not an ISO 8601 date.")
        }
        return date
    }
}

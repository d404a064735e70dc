#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// JSON (RFC 8259): dates as ISO 8601, keys sorted so that equal models give equal bytes, slashes as they are.
///
/// ```swift
/// let codec = JSONCodec(dates: .millisecondsSince1970, keys: .snakeCase)
/// let odd = JSONCodec(configureDecoder: { $0.allowsJSON5 = true })
/// ```
///
/// Single values (`5`, `"x"`, `null`) are documents. One encoder and one decoder serve all calls.
public struct JSONCodec: BodyCodec {
    /// How dates are written and read.
    public enum Dates: Sendable, Hashable {
        /// `2015-12-31T23:59:59Z`. Read with any offset and fraction (RFC 3339).
        case iso8601
        /// `2015-12-31T23:59:59.250Z`. Read with any offset and fraction (RFC 3339).
        case iso8601WithMilliseconds
        /// A number.
        case secondsSince1970
        /// A whole number.
        case millisecondsSince1970
    }

    /// How the names of properties become names in the document.
    public enum Keys: Sendable, Hashable {
        /// As they are.
        case asDeclared
        /// `firstName` as `first_name`.
        case snakeCase
    }

    private let encoder = JSONEncoder()
    private let decoder = JSONDecoder()
    private let addsCharset: Bool
    /// Whether the decoder has no option that changes what a ``JSONValue`` is.
    private let readsValuesItself: Bool

    /// Makes a codec.
    ///
    /// - Parameters:
    ///   - dates: How dates are written and read.
    ///   - keys: How names are written and read.
    ///   - addsCharset: Send `; charset=utf-8`, which means nothing to JSON (RFC 8259, 11), but to some servers.
    ///   - configureEncoder: Sets more options. Called once, at once.
    ///   - configureDecoder: Sets more options. Called once, at once.
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
            // Whole, as others read them: the clock's dates are finer, and Foundation's strategy writes their fraction.
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

    /// Writes a model.
    ///
    /// - Throws: `RequestFailure` with the reason `encoding` for a value that has no JSON form, and for a media type
    ///   whose charset is not UTF-8.
    public func encode(_ model: some Encodable, as mediaType: MediaType) throws -> Data {
        if let label = mediaType.charset, Charset(parsing: label) != .utf8 {
            throw RequestFailure(
                .encoding, "JSON cannot be sent in the charset “\(RequestFailure.shown(label))”.",
                remedy: "Leave the charset out, or use utf-8 (RFC 8259, 8.1).")
        }
        do {
            return try encoder.encode(model)
        } catch {
            throw CodingFault.encoding(error, type(of: model), as: "JSON")
        }
    }

    /// Reads a model.
    ///
    /// A `String` is the document's text in its charset, unchanged, even if the document is a JSON string. A
    /// ``JSONValue`` is read in one pass, in time that depends only on the length of the body. More than
    /// ``JSONValue/maximumDepth`` levels of arrays and objects are an error in any model. In a ``JSONValue``, a
    /// member's name with characters outside ASCII is an error too if it is longer than 4 KiB.
    ///
    /// - Throws: `RequestFailure` with the reason `decoding`, which says where the document is damaged or does not
    ///   fit.
    public func decode<Model: Decodable>(
        _ type: Model.Type, from body: Data, as mediaType: MediaType
    ) throws -> Model {
        if type == String.self || type == String?.self {
            return try TextCodec().decode(type, from: body, as: mediaType)
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
                // As for other optional models, `null` is `nil`.
                if type == JSONValue?.self, value == .null { return try (JSONValue?.none as? Model).orMismatch(type) }
                return try (value as? Model).orMismatch(type)
            } catch is JSONParser.Fault {
                throw DecodingError.dataCorrupted(
                    DecodingError.Context(codingPath: [], debugDescription: "The document is not valid JSON."))
            }
        }
        return try JSONOutline.$current.withValue(JSONOutline(body)) { try decoder.decode(type, from: body) }
    }

    /// With `charset=utf-8`, unless that was switched off.
    public func contentType(for mediaType: MediaType) -> MediaType {
        addsCharset ? mediaType.withDefaultCharset : mediaType
    }

    /// True.
    public var mergesParameters: Bool { true }

    /// A body as UTF-8 that is not, but says in which charset it is. Not allowed (RFC 8259, 8.1), and met.
    private static func transcoded(_ body: Data, _ error: any Error, _ mediaType: MediaType) -> Data? {
        guard case DecodingError.dataCorrupted = error, let label = mediaType.charset,
            let charset = Charset(parsing: label), charset != .utf8, UnicodeUnits.utf8Text(body, false) == nil
        else { return nil }
        return (try? charset.decode(body)).map { Data($0.utf8) }
    }

    private static func writer(milliseconds: Bool) -> @Sendable (Date, any Encoder) throws -> Void {
        { date, encoder in
            guard let text = InternetDate.text(date, milliseconds: milliseconds) else {
                // The date as a number: printing such a date ends the program.
                throw EncodingError.invalidValue(
                    date.timeIntervalSince1970,
                    EncodingError.Context(
                        codingPath: encoder.codingPath, debugDescription: "The date is not within the years 1 to 9999."
                    ))
            }
            var container = encoder.singleValueContainer()
            try container.encode(text)
        }
    }

    @Sendable private static func readDate(_ decoder: any Decoder) throws -> Date {
        let container = try decoder.singleValueContainer()
        guard let date = InternetDate.date(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "The text is no ISO 8601 date.")
        }
        return date
    }
}

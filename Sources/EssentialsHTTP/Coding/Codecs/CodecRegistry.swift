import EssentialsTools

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The codecs for each media type. It is a value: changing a copy does not change the original.
///
/// ```swift
/// var codecs = CodecRegistry.standard
/// codecs.register(JSONCodec(keys: .snakeCase), for: MediaPattern(.json))
/// let (body, contentType) = try codecs.encode(user, as: .json)
/// ```
///
/// If several patterns match a media type, the most specific one is used. A later registration for the same pattern
/// replaces the earlier one.
public struct CodecRegistry: Sendable {
    private var codecs: [MediaPattern: any BodyCodec] = [:]

    /// JSON for `*/json` and `*/*+json`; text for `text/*`, `application/xml` and `*/*+xml`;
    /// forms for `application/x-www-form-urlencoded`; bytes for `application/octet-stream`.
    public static let standard: CodecRegistry = {
        let json = JSONCodec()
        let text = TextCodec()
        return CodecRegistry()
            .registering(json, for: MediaPattern(.json))
            .registering(json, for: MediaPattern(type: nil, subtype: "json", suffix: nil))
            .registering(json, for: MediaPattern(type: nil, subtype: nil, suffix: "json"))
            .registering(text, for: MediaPattern(type: "text", subtype: nil, suffix: nil))
            .registering(text, for: MediaPattern(type: "application", subtype: "xml", suffix: nil))
            .registering(text, for: MediaPattern(type: nil, subtype: nil, suffix: "xml"))
            .registering(FormCodec(), for: MediaPattern(.form))
            .registering(BytesCodec(), for: MediaPattern(.octetStream))
    }()

    /// Creates a registry without codecs. It still passes `Data` and `[UInt8]` through.
    public init() {}

    /// Registers a codec for a pattern and replaces the codec that was registered for it.
    public mutating func register(_ codec: any BodyCodec, for pattern: MediaPattern) { codecs[pattern] = codec }

    /// A copy of the registry with one more codec.
    public func registering(_ codec: any BodyCodec, for pattern: MediaPattern) -> CodecRegistry {
        var copy = self
        copy.register(codec, for: pattern)
        return copy
    }

    /// The patterns that have a codec, the most specific first.
    public var patterns: [MediaPattern] { codecs.keys.sorted(by: >) }

    /// The codec for a media type; `nil` if no pattern matches.
    public func codec(for mediaType: MediaType) -> (any BodyCodec)? {
        for pattern in MediaPattern.all(matching: mediaType) {
            if let codec = codecs[pattern] { return codec }
        }
        return nil
    }

    /// The registered patterns for a message.
    private var shownPatterns: String {
        codecs.isEmpty ? "none" : patterns.map(\.description).joined(separator: ", ")
    }
}

// MARK: - Encoding

extension CodecRegistry {
    /// Encodes a model as a body.
    ///
    /// `Data` and `[UInt8]` are sent unchanged, with exactly the given media type.
    ///
    /// - Returns: The body, and the media type to send with it.
    /// - Throws: `encoding` if the media type has no codec or the codec cannot encode the model.
    public func encode(
        _ model: some Encodable, as mediaType: MediaType
    ) throws(RequestFailure) -> (body: Data, contentType: MediaType) {
        if let bytes = BytesCodec.bytes(of: model) { return (bytes, mediaType) }
        guard let codec = codec(for: mediaType) else {
            throw RequestFailure(
                .encoding,
                "No codec is registered for \(mediaType.shown); codecs are registered for: \(shownPatterns).",
                remedy: "Register a codec, or send Data.")
        }
        let contentType = codec.contentType(for: mediaType)
        do {
            return (try codec.encode(model, as: contentType), contentType)
        } catch {
            throw CodingFault.encoding(error, type(of: model), as: mediaType.shown)
        }
    }
}

// MARK: - Decoding

extension CodecRegistry {
    /// Decodes a model from a response's body.
    ///
    /// - `Data` and `[UInt8]` receive the raw bytes for every content type, also if the body is empty.
    /// - ``EmptyResponse`` ignores the body.
    /// - The codec for the content type decodes every other model. Text types yield only `String`. JSON also yields
    ///   `String`, which is the document's text. If the content type is missing or malformed, `String` is decoded as
    ///   text and every other model as JSON. A recipient may guess the type (RFC 9110, 8.3), many JSON services omit
    ///   the field, and a body that is not JSON fails anyway.
    /// - An empty body decodes as `nil` for an optional model. With status 204, 205 or 304, or after a HEAD request, it
    ///   decodes as an empty `String`. Otherwise it fails.
    ///
    /// - Parameters:
    ///   - type: The model's type.
    ///   - body: The whole body.
    ///   - contentType: The value of the response's `Content-Type` field.
    ///   - response: The response's head, which failures include together with the body.
    ///   - method: The request's method.
    ///   - host: The request's host, which failures include.
    /// - Throws: `emptyBody` if there is no body; `decoding` if the type has no codec or the body does not fit the
    ///   model. The message names the place and the cause, and never includes the contents.
    public func decode<Model: Decodable>(
        _ type: Model.Type, from body: Data, contentType: String?, response: HTTPResponse,
        method: HTTPRequest.Method = .get, host: String? = nil
    ) throws(RequestFailure) -> Model {
        if body.isEmpty {
            if let model = Self.emptyModel(type, status: response.status, method: method) { return model }
            throw RequestFailure(
                .emptyBody, "The response with status \(response.status.code) has no body, but \(type) was requested.",
                phase: .decoding, host: host, response: FailedResponse(head: response, body: body))
        }
        if let raw = BytesCodec.model(type, body) { return raw }
        if type == EmptyResponse.self || type == EmptyResponse?.self, let model = EmptyResponse() as? Model {
            return model
        }
        do {
            let mediaType = contentType.flatMap { MediaType(parsing: $0) } ?? Self.assumedType(type)
            guard let codec = codec(for: mediaType) else { throw unknown(mediaType, type) }
            return try codec.decode(type, from: body, as: mediaType)
        } catch {
            throw CodingFault.decoding(error, type).changed { content in
                content.phase = .decoding
                content.host = host
                content.response = FailedResponse(head: response, body: body)
            }
        }
    }

    private static func assumedType(_ type: Any.Type) -> MediaType {
        type == String.self || type == String?.self ? .text : .json
    }

    private static func emptyModel<Model>(
        _ type: Model.Type, status: HTTPResponse.Status, method: HTTPRequest.Method
    ) -> Model? {
        if let optional = type as? any AnyOptional.Type { return optional.nothing as? Model }
        if type == EmptyResponse.self { return EmptyResponse() as? Model }
        if let bytes = BytesCodec.model(type, Data()) { return bytes }
        let isWithoutBody = [204, 205, 304].contains(status.code) || method == .head
        return isWithoutBody && type == String.self ? "" as? Model : nil
    }

    private func unknown(_ mediaType: MediaType, _ type: Any.Type) -> RequestFailure {
        RequestFailure(
            .decoding,
            "No codec is registered for \(mediaType.shown), so \(type) cannot be decoded; "
                + "codecs are registered for: \(shownPatterns).",
            remedy: "Register a codec, or request Data.")
    }
}

/// A model for responses whose body does not matter. It accepts any body, also an empty one.
///
/// ```swift
/// let _: EmptyResponse = try await requests.delete("users/1")
/// ```
public struct EmptyResponse: Codable, Sendable, Hashable {
    /// Creates a value.
    public init() {}

    /// Ignores the body.
    public init(from decoder: any Decoder) {}
}

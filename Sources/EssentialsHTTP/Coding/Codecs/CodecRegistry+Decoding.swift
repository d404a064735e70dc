#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

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
                .emptyBody, "The response with status \(response.status.code) has no body, but \(type) was asked for.",
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
            let failure = CodingFault.decoding(error, type)
            throw RequestFailure(
                failure.reason, failure.message, remedy: failure.remedy, phase: .decoding, host: host,
                response: FailedResponse(head: response, body: body), underlying: failure.underlying)
        }
    }

    private static func assumedType(_ type: Any.Type) -> MediaType {
        type == String.self || type == String?.self ? .text : .json
    }

    private static func emptyModel<Model>(
        _ type: Model.Type, status: HTTPResponse.Status, method: HTTPRequest.Method
    ) -> Model? {
        if let optional = type as? any OptionalModel.Type { return optional.nothing as? Model }
        if type == EmptyResponse.self { return EmptyResponse() as? Model }
        if let bytes = BytesCodec.model(type, Data()) { return bytes }
        let isWithoutBody = [204, 205, 304].contains(status.code) || method == .head
        return isWithoutBody && type == String.self ? "" as? Model : nil
    }

    private func unknown(_ mediaType: MediaType, _ type: Any.Type) -> RequestFailure {
        RequestFailure(
            .decoding,
            "There is no codec for \(mediaType.shown), from which \(type) should be read; "
                + "there are codecs for: \(shownPatterns).",
            remedy: "Register a codec, or ask for Data.")
    }
}

/// Makes the `nil` of an optional model whose type is known only at run time.
private protocol OptionalModel {
    static var nothing: Any { get }
}

extension Optional: OptionalModel {
    static var nothing: Any { Self.none as Any }
}

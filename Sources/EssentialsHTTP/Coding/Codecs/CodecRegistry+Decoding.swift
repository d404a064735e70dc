#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension CodecRegistry {
    /// Reads a model from a response's body.
    ///
    /// - `Data` and `[UInt8]` are the raw bytes, whatever the content type, and also when there are none.
    /// - ``EmptyResponse`` comes from any body.
    /// - All other models come from the codec for the content type: from a text type only `String`, from JSON also
    ///   `String`, as the document's text. Without a content type, or with one that cannot be read, `String` is read as text
    ///   and all else as JSON: a recipient may guess (RFC 9110, 8.3), services that forget the field send JSON, and
    ///   what is not JSON fails all the same.
    /// - From an empty body an optional model is nil. With the status 204, 205 or 304 or after a HEAD request `String`
    ///   is empty. All else fails.
    ///
    /// - Parameters:
    ///   - type: The model.
    ///   - body: The body, whole.
    ///   - contentType: The value of the response's `Content-Type` field.
    ///   - response: The response's head, which failures keep with the body.
    ///   - method: The request's method.
    ///   - host: The request's host, for failures.
    /// - Throws: `emptyBody`; `decoding` when the type has no codec or the body does not fit the model. The message
    ///   says where and why, and never shows the contents.
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

/// Lets a model be nothing where a body may be empty.
private protocol OptionalModel {
    static var nothing: Any { get }
}

extension Optional: OptionalModel {
    static var nothing: Any { Self.none as Any }
}

package import EssentialsHTTP
package import FoundationEssentials

extension DataRequest {
    /// The bytes of the body and the value of its `Content-Type` field, as they are sent; `nil` if there is no body, if it
    /// is read while it is sent, or if interceptors can add to it.
    ///
    /// - Parameter codecs: The codecs of the service, for a request without its own.
    /// - Throws: `encoding`, and `invalidRequest` if the media type is malformed.
    package func bodyBytes(_ codecs: CodecRegistry) throws(RequestFailure) -> (bytes: Data, contentType: String?)? {
        switch body.content {
        case .none, .parameters: return nil
        case .encoded(let encode):
            let type = try (body.type ?? headerFields[.contentType]).map { (text) throws(RequestFailure) in
                try MediaType(text)
            }
            let (bytes, encodedType) = try encode(self.codecs ?? codecs, type ?? body.standardType ?? .json)
            return (bytes, encodedType.description)
        case .raw(let raw, let standard):
            guard case .bytes(let bytes) = raw.content else { return nil }
            return (bytes, body.type ?? headerFields[.contentType] ?? standard)
        }
    }

    /// The value of the `Content-Type` field of the body; `nil` if it has none, or if a codec decides.
    package var bodyContentType: String? {
        switch body.content {
        case .none, .parameters: nil
        case .encoded: body.type ?? headerFields[.contentType] ?? (body.standardType ?? .json).description
        case .raw(_, let standard): body.type ?? headerFields[.contentType] ?? standard
        }
    }
}

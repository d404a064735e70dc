#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Passes bytes through unchanged. It accepts only `Data` and `[UInt8]`.
///
/// A ``CodecRegistry`` passes these through for every media type. Register this codec for a media type to reject all
/// other models.
public struct BytesCodec: BodyCodec {
    /// Creates a codec.
    public init() {}

    /// Returns the bytes.
    ///
    /// - Throws: `RequestFailure` with the reason `encoding` if the model is of any other type.
    public func encode(_ model: some Encodable, as mediaType: MediaType) throws -> Data {
        guard let bytes = Self.bytes(of: model) else {
            throw RequestFailure(
                .encoding, "\(mediaType.shown) can be encoded from Data or [UInt8], not from \(type(of: model)).",
                remedy: "Send the model as application/json, or encode it to Data first.")
        }
        return bytes
    }

    /// Returns the bytes.
    ///
    /// - Throws: `RequestFailure` with the reason `decoding` if another type is requested.
    public func decode<Model: Decodable>(
        _ type: Model.Type, from body: Data, as mediaType: MediaType
    ) throws -> Model {
        guard let model = Self.model(type, body) else {
            throw RequestFailure(
                .decoding, "\(mediaType.shown) can be decoded as Data or [UInt8], not as \(type).",
                remedy: "Request Data, or register a codec for \(mediaType.shown).", phase: .decoding)
        }
        return model
    }

    /// The bytes of a `Data` or `[UInt8]`; `nil` for other models.
    static func bytes<Model: Encodable>(of model: Model) -> Data? {
        if let data = model as? Data { return data }
        // A cast alone would accept every empty array, whatever its elements are.
        guard Model.self == [UInt8].self || Model.self == [UInt8]?.self else { return nil }
        return (model as? [UInt8]).map { Data($0) }
    }

    /// The body as `Data` or `[UInt8]`; `nil` if another type is requested.
    static func model<Model>(_ type: Model.Type, _ body: Data) -> Model? {
        if type == Data.self || type == Data?.self { return body as? Model }
        if type == [UInt8].self || type == [UInt8]?.self { return Array(body) as? Model }
        return nil
    }
}

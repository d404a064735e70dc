#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Bytes as they are: takes and gives `Data` and `[UInt8]` only.
///
/// A ``CodecRegistry`` does so for every type; registered, this codec says for a type that its bodies have no other
/// form.
public struct BytesCodec: BodyCodec {
    /// Makes a codec.
    public init() {}

    /// The bytes.
    ///
    /// - Throws: `RequestFailure` with the reason `encoding` for anything else.
    public func encode(_ model: some Encodable, as mediaType: MediaType) throws -> Data {
        guard let bytes = Self.bytes(of: model) else {
            throw RequestFailure(
                .encoding, "\(mediaType.shown) is made from Data or [UInt8], not from \(type(of: model)).",
                remedy: "Send it as application/json, or make the bytes yourself.")
        }
        return bytes
    }

    /// The bytes.
    ///
    /// - Throws: `RequestFailure` with the reason `decoding` where another type is asked for.
    public func decode<Model: Decodable>(
        _ type: Model.Type, from body: Data, as mediaType: MediaType
    ) throws -> Model {
        guard let model = Self.model(type, body) else {
            throw RequestFailure(
                .decoding, "\(mediaType.shown) is read as Data or [UInt8], not as \(type).",
                remedy: "Ask for Data, or register a codec for \(mediaType.shown).", phase: .decoding)
        }
        return model
    }

    /// The bytes of a model that is nothing else.
    static func bytes(of model: some Encodable) -> Data? {
        model as? Data ?? (model as? [UInt8]).map { Data($0) }
    }

    /// The bytes, if they are asked for.
    static func model<Model>(_ type: Model.Type, _ body: Data) -> Model? {
        if type == Data.self || type == Data?.self { return body as? Model }
        if type == [UInt8].self || type == [UInt8]?.self { return Array(body) as? Model }
        return nil
    }
}

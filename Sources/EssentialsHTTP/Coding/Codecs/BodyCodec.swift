#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Encodes and decodes message bodies of certain media types. Codecs are registered in a ``CodecRegistry``.
///
/// Methods are called on any thread, and several calls can run at the same time. A codec can throw any error. A
/// `RequestFailure` keeps its message and remedy. An `EncodingError` or `DecodingError` becomes a failure that names
/// the place in the document and never includes its contents.
///
/// ```swift
/// struct PropertyListCodec: BodyCodec {
///     func encode(_ model: some Encodable, as mediaType: MediaType) throws -> Data {
///         try PropertyListEncoder().encode(model)
///     }
///
///     func decode<Model: Decodable>(_ type: Model.Type, from body: Data, as mediaType: MediaType) throws -> Model {
///         try PropertyListDecoder().decode(type, from: body)
///     }
/// }
/// ```
public protocol BodyCodec: Sendable {
    /// Encodes a model. `Data` and `[UInt8]` are never passed, because they are bodies already.
    ///
    /// - Parameters:
    ///   - model: The model to send.
    ///   - mediaType: The result of ``contentType(for:)``.
    func encode(_ model: some Encodable, as mediaType: MediaType) throws -> Data

    /// Decodes a model. `Data` and `[UInt8]` are never requested here, and the body is not empty.
    ///
    /// - Parameters:
    ///   - type: The model's type.
    ///   - body: The whole body.
    ///   - mediaType: The response's media type with its parameters.
    func decode<Model: Decodable>(_ type: Model.Type, from body: Data, as mediaType: MediaType) throws -> Model

    /// The `Content-Type` for a body of the requested type, with what the codec adds, such as `charset=utf-8`.
    func contentType(for mediaType: MediaType) -> MediaType

    /// Whether parameters that prepare a request can be merged into a body of ``FormParameters``.
    var mergesParameters: Bool { get }
}

extension BodyCodec {
    /// The requested media type, unchanged.
    public func contentType(for mediaType: MediaType) -> MediaType { mediaType }

    /// The default is `false`.
    public var mergesParameters: Bool { false }
}

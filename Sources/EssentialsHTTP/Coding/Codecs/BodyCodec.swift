#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Makes bodies from models and models from bodies, for some media types. Registered in a ``CodecRegistry``.
///
/// Called on any thread, several at once. Any error may be thrown; a `RequestFailure` keeps its message and remedy.
/// An `EncodingError` or `DecodingError` becomes a failure that says where in the document, and never shows its
/// contents.
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
    /// Writes a model. `Data` and `[UInt8]` never come here: they are bodies already.
    ///
    /// - Parameters:
    ///   - model: What is to be sent.
    ///   - mediaType: What ``contentType(for:)`` gave.
    func encode(_ model: some Encodable, as mediaType: MediaType) throws -> Data

    /// Reads a model. `Data` and `[UInt8]` are never asked for here, and the body is not empty.
    ///
    /// - Parameters:
    ///   - type: The model.
    ///   - body: The bytes that came.
    ///   - mediaType: The response's type with its parameters.
    func decode<Model: Decodable>(_ type: Model.Type, from body: Data, as mediaType: MediaType) throws -> Model

    /// The type that a body is sent with: the one asked for and what the codec adds, such as `charset=utf-8`.
    func contentType(for mediaType: MediaType) -> MediaType

    /// Whether parameters that a request's preparation adds can be merged into a body of ``FormParameters``.
    var mergesParameters: Bool { get }
}

extension BodyCodec {
    /// The type asked for, as it is.
    public func contentType(for mediaType: MediaType) -> MediaType { mediaType }

    /// False.
    public var mergesParameters: Bool { false }
}

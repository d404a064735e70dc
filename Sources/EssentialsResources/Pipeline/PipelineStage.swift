/// A stage of the pipeline, through which responses become content.
///
/// ```swift
/// let filtering: PipelineStage = "filtering"
/// try service.configure("/reports/*") { $0.pipeline.order = [.raw, .decoding, .parsing, .model, filtering] }
/// ```
public struct PipelineStage: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// Bytes as they were received.
    public static let raw: PipelineStage = "raw"
    /// Bytes become other bytes or text, for example by decryption.
    public static let decoding: PipelineStage = "decoding"
    /// Bytes or text become a structure, such as JSON.
    public static let parsing: PipelineStage = "parsing"
    /// The structure becomes a model.
    public static let model: PipelineStage = "model"
    /// The model is changed.
    public static let cleanup: PipelineStage = "cleanup"

    /// The name.
    public let name: String

    /// Creates a stage. Stages with the same name are equal.
    public init(_ name: String) { self.name = name }

    /// Creates a stage from its name.
    public init(stringLiteral name: String) { self.init(name) }

    /// The name.
    public var description: String { name }
}

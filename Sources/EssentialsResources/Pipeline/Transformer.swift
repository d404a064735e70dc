public import EssentialsHTTP
public import EssentialsRequests

import FoundationEssentials

/// A step of the pipeline that turns the content of a response into other content.
///
/// ```swift
/// let picture = Transformer(for: [try MediaPattern("image/*")]) { (bytes: Data) in try Picture(bytes) }
/// try service.configure("/pictures/*") { $0.pipeline.add(picture, at: .model) }
/// ```
///
/// A transformer runs outside the caller's actor, once for each response, and is cancelled with its load. If it throws
/// a `RequestFailure`, the request fails with it. With any other error, the request fails as `decoding`.
public struct Transformer: Sendable {
    /// What happens if the content does not have the input type.
    public enum WrongInput: Sendable, Hashable {
        /// The request fails as `decoding`.
        case fails
        /// The transformer is skipped.
        case skips
        /// The transformer is skipped if the content already has the output type. Otherwise the request fails.
        case skipsOutput
    }

    private let patterns: [MediaPattern]
    private let body: @Sendable (AnyEntity, CodecRegistry) async throws -> AnyEntity?

    /// Creates a transformer of content.
    ///
    /// - Parameters:
    ///   - patterns: The media types of the responses that are transformed. The default is all.
    ///   - wrongInput: What happens if the content has another type. The default is that the request fails.
    ///   - transform: Returns the new content. If it returns `nil`, the request fails as `decoding`.
    public init<Input: Sendable, Output: Sendable>(
        for patterns: [MediaPattern] = [.any], wrongInput: WrongInput = .fails,
        _ transform: @escaping @Sendable (Input) async throws -> Output?
    ) {
        self.init(entitiesFor: patterns, wrongInput: wrongInput) { (entity: PipelineEntity<Input>) in
            try await transform(entity.content).map { entity.with($0) }
        }
    }

    /// Creates a transformer of content and header fields; see ``init(for:wrongInput:_:)``.
    public init<Input: Sendable, Output: Sendable>(
        entitiesFor patterns: [MediaPattern] = [.any], wrongInput: WrongInput = .fails,
        _ transform: @escaping @Sendable (PipelineEntity<Input>) async throws -> PipelineEntity<Output>?
    ) {
        self.init(patterns) { entity, _ in
            guard let content = entity.content as? Input else {
                switch wrongInput {
                case .skips: return entity
                case .skipsOutput where entity.content is Output: return entity
                case .fails, .skipsOutput:
                    throw RequestFailure(
                        .decoding, "A transformer needs \(Input.self), but the content is \(type(of: entity.content)).",
                        remedy: "Add a transformer that creates it at an earlier stage, or let this one skip others.")
                }
            }
            guard let output = try await transform(entity.with(content)) else {
                throw RequestFailure(
                    .decoding, "A transformer has made nothing of the content.",
                    remedy: "Let it throw an error that says why.")
            }
            return AnyEntity(
                content: output.content, mediaType: output.mediaType, headerFields: output.headerFields,
                status: output.status)
        }
    }

    private init(
        _ patterns: [MediaPattern], _ body: @escaping @Sendable (AnyEntity, CodecRegistry) async throws -> AnyEntity?
    ) {
        (self.patterns, self.body) = (patterns, body)
    }

    /// Reads a model from bytes, by the codec of their media type.
    public static func model<Model: Decodable & Sendable>(
        _ type: Model.Type, for patterns: [MediaPattern] = [.any]
    ) -> Transformer {
        Transformer(patterns) { entity, codecs in
            guard let bytes = entity.content as? Data else {
                throw RequestFailure(.decoding, "The content of the stage is not bytes, so no model can be read.")
            }
            let model = try ModelReader(type, codecs: codecs).modelHere(
                from: bytes, contentType: entity.mediaType.description,
                .init(head: HTTPResponse(status: entity.status, headerFields: entity.headerFields)))
            return entity.with(model)
        }
    }

    /// Applies the transformer if one of its patterns matches the media type.
    func apply(to entity: AnyEntity, _ codecs: CodecRegistry) async throws -> AnyEntity {
        guard patterns.contains(where: { $0.matches(entity.mediaType) }) else { return entity }
        return try await body(entity, codecs) ?? entity
    }
}

/// An entity whose content can have any type.
typealias AnyEntity = PipelineEntity<any Sendable>

/// A step of the pipeline for requests that have failed.
///
/// ```swift
/// try service.configure("/members/*") {
///     $0.pipeline.add(.content(false, forStatus: 404), at: .model)
/// }
/// try service.configure("/**") {
///     $0.errorModel = Problem.self
///     $0.pipeline.add(
///         .message { failure in failure.errorModel(as: Problem.self)?.title },
///         at: .cleanup)
/// }
/// ```
///
/// Cancellations are not passed to it. If it throws, the failure stays as it is.
public struct FailureTransformer: Sendable {
    /// The result for a failure.
    public enum Step: Sendable {
        /// The failure stays.
        case keep
        /// The failure is replaced by another one, such as one with a message for people.
        case fail(RequestFailure)
        /// The failure becomes content, which goes through the stages that follow.
        case use(any Sendable)
    }

    private let body: @Sendable (RequestFailure) async throws -> Step

    /// Creates a transformer.
    public init(_ transform: @escaping @Sendable (RequestFailure) async throws -> Step) { body = transform }

    /// Replaces a response with a certain status by content.
    public static func content(_ content: some Sendable, forStatus status: StatusExpectation) -> FailureTransformer {
        FailureTransformer { failure in
            guard failure.reason == .status, let code = failure.response?.head.status.code, status.contains(code) else {
                return .keep
            }
            return .use(content)
        }
    }

    /// Sets a message for people; `nil` leaves the failure as it is.
    public static func message(
        _ message: @escaping @Sendable (RequestFailure) async throws -> String?
    ) -> FailureTransformer {
        FailureTransformer { failure in
            try await message(failure).map { .fail(failure.with(message: $0)) } ?? .keep
        }
    }

    /// Sets the remedy that is shown with the failure; `nil` leaves the failure as it is.
    public static func remedy(
        _ remedy: @escaping @Sendable (RequestFailure) async throws -> String?
    ) -> FailureTransformer {
        FailureTransformer { failure in
            try await remedy(failure).map { .fail(failure.with(remedy: $0)) } ?? .keep
        }
    }

    func apply(to failure: RequestFailure) async -> Step {
        do { return try await body(failure) } catch { return .keep }
    }
}

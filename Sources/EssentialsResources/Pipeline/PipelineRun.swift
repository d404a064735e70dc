import EssentialsHTTP
import FoundationEssentials

/// The state of one pass through a pipeline: an entity, or a failure.
struct PipelineRun: Sendable {
    private var state: Result<AnyEntity, RequestFailure>
    /// The value with which the pass began, or an empty value after a failure.
    private var start: LoadedValue
    /// The last bytes, for views that read them by a codec; `nil` after a failure has become content.
    private var bytes: Data?
    private let codecs: CodecRegistry
    /// Whether the pass began with a failure. Its content is then not the server's.
    private var hasFailed = false

    /// Begins after a stage, with the content of that stage.
    init(_ value: LoadedValue, _ codecs: CodecRegistry) {
        start = value
        bytes = value.body
        state = .success(
            AnyEntity(
                content: value.value ?? value.body ?? Data(),
                mediaType: value.contentType.flatMap { MediaType(parsing: $0) } ?? .octetStream,
                headerFields: value.head.headerFields, status: value.head.status))
        self.codecs = value.codecs ?? codecs
    }

    init(_ outcome: Result<LoadedValue, RequestFailure>, _ codecs: CodecRegistry) {
        switch outcome {
        case .success(let value):
            start = value
            bytes = value.body
            state = .success(
                AnyEntity(
                    content: value.body ?? Data(),
                    mediaType: value.contentType.flatMap { MediaType(parsing: $0) } ?? .octetStream,
                    headerFields: value.head.headerFields, status: value.head.status))
        case .failure(let failure):
            start = LoadedValue(head: failure.response?.head ?? HTTPResponse(status: .ok))
            state = .failure(failure)
            hasFailed = true
        }
        self.codecs = start.codecs ?? codecs
    }

    /// The current content and its media type as a text; `nil` if there is or was a failure.
    var entity: (content: AnyEntity, contentType: String?)? {
        guard !hasFailed, case .success(let entity) = state else { return nil }
        return (entity, contentType(of: entity))
    }

    /// The media type as a text. A missing or malformed type stays as it is, because codecs treat it differently from
    /// binary data.
    private func contentType(of entity: AnyEntity) -> String? {
        let original = start.contentType.flatMap { MediaType(parsing: $0) } ?? .octetStream
        return entity.mediaType == original ? start.contentType : entity.mediaType.description
    }

    mutating func apply(_ transformer: Transformer) async {
        guard case .success(let entity) = state else { return }
        do {
            let next = try await transformer.apply(to: entity, codecs)
            if let data = next.content as? Data { bytes = data }
            state = .success(next)
        } catch {
            state = .failure(
                RequestFailure(
                    thrown: error, .decoding, "A transformer could not read the response.",
                    host: start.url?.origin.host.text))
        }
    }

    mutating func apply(_ transformer: FailureTransformer) async {
        guard case .failure(let failure) = state, failure.reason != .cancelled else { return }
        switch await transformer.apply(to: failure) {
        case .keep: break
        case .fail(let other): state = .failure(other)
        case .use(let content):
            // The validators belong to the response that failed, not to this content.
            start.head.headerFields[.eTag] = nil
            start.head.headerFields[.lastModified] = nil
            let fields = start.head.headerFields
            bytes = nil
            state = .success(
                AnyEntity(
                    content: content,
                    mediaType: fields[.contentType].flatMap { MediaType(parsing: $0) } ?? .octetStream,
                    headerFields: fields, status: start.head.status))
        }
    }

    /// Returns the value at the end.
    func value() throws(RequestFailure) -> LoadedValue {
        let entity = try state.get()
        var value = start
        value.body = bytes
        value.head.headerFields = entity.headerFields
        let contentType = contentType(of: entity)
        if contentType != start.contentType {
            value.contentType = contentType
            value.head.headerFields[.contentType] = contentType
        }
        // The content is in the value, unless it consists of the bytes only.
        value.value = entity.content is Data ? nil : entity.content
        return value
    }
}

import EssentialsHTTP
import FoundationEssentials

/// Reads models from responses, large ones off the caller's actor.
enum ModelReader {
    /// Decoding less takes no longer than going to another thread and back.
    private static let inPlaceLimit = 64 << 10
    /// The most of a streamed body that is read for a model.
    private static let streamLimit = 64 << 20

    /// What is asked for where a request does not say: JSON for models, anything for text and bytes.
    static func accepted<Model>(for type: Model.Type) -> String? {
        AnswerKind(reading: type) == .model ? MediaType.json.description : nil
    }

    static func read<Model: Decodable & Sendable>(
        _ type: Model.Type, from response: DataResponse, to method: HTTPRequest.Method, _ codecs: CodecRegistry
    ) async throws(RequestFailure) -> Model {
        let host = response.url?.origin.host.text
        let body: Data
        if let data = response.body.data {
            body = data
        } else {
            body = try await response.body.collect(upTo: streamLimit)
        }
        guard body.count > inPlaceLimit else {
            return try read(type, from: body, response.head, method: method, host: host, codecs)
        }
        return try await readElsewhere(type, from: body, response.head, method: method, host: host, codecs)
    }

    @concurrent
    private static func readElsewhere<Model: Decodable & Sendable>(
        _ type: Model.Type, from body: Data, _ head: HTTPResponse, method: HTTPRequest.Method, host: String?,
        _ codecs: CodecRegistry
    ) async throws(RequestFailure) -> Model {
        try read(type, from: body, head, method: method, host: host, codecs)
    }

    private static func read<Model: Decodable & Sendable>(
        _ type: Model.Type, from body: Data, _ head: HTTPResponse, method: HTTPRequest.Method, host: String?,
        _ codecs: CodecRegistry
    ) throws(RequestFailure) -> Model {
        try codecs.decode(
            type, from: body, contentType: head.headerFields[.contentType], response: head, method: method, host: host)
    }
}

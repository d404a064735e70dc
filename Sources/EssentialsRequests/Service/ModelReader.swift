import EssentialsHTTP
import FoundationEssentials

/// Decodes models from responses. Large bodies are decoded off the caller's actor.
enum ModelReader {
    /// The largest body that is decoded on the caller's actor. Decoding it takes no longer than switching threads
    /// twice.
    private static let inPlaceLimit = 64 << 10
    /// The maximum size of a streamed body.
    private static let streamLimit = 64 << 20

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

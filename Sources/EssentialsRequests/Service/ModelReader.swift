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
        let url = response.url
        let body: Data
        if let data = response.body.data {
            body = data
        } else {
            body = try await response.body.collect(upTo: streamLimit)
        }
        guard body.count > inPlaceLimit else {
            return try read(type, from: body, response.head, method: method, url, codecs)
        }
        return try await readElsewhere(type, from: body, response.head, method: method, url, codecs)
    }

    @concurrent
    private static func readElsewhere<Model: Decodable & Sendable>(
        _ type: Model.Type, from body: Data, _ head: HTTPResponse, method: HTTPRequest.Method, _ url: RequestURL?,
        _ codecs: CodecRegistry
    ) async throws(RequestFailure) -> Model {
        try read(type, from: body, head, method: method, url, codecs)
    }

    private static func read<Model: Decodable & Sendable>(
        _ type: Model.Type, from body: Data, _ head: HTTPResponse, method: HTTPRequest.Method, _ url: RequestURL?,
        _ codecs: CodecRegistry
    ) throws(RequestFailure) -> Model {
        do throws(RequestFailure) {
            return try codecs.decode(
                type, from: body, contentType: head.headerFields[.contentType], response: head, method: method,
                host: url?.origin.host.text)
        } catch {
            guard let url else { throw error }
            throw error.naming(method, url.redacted)
        }
    }
}

import EssentialsHTTP
import EssentialsRequests

/// Reads models from whole documents, or from the part of a document that a path names.
struct NestedReader<Model: Decodable & Sendable>: Sendable {
    private let reader: ModelReader<Model>
    private let nested: NestedPath?
    private let codecs: CodecRegistry

    init(_ nested: NestedPath?, codecs: CodecRegistry) {
        reader = ModelReader(codecs: codecs)
        self.nested = nested
        self.codecs = codecs
    }

    /// The request with the kind of its result.
    func requesting(_ request: consuming DataRequest) -> DataRequest {
        // A part of a document is never bytes or text, regardless of its type.
        nested == nil ? reader.requesting(request) : ModelReader<NestedModel<Model>>(codecs: codecs).requesting(request)
    }

    /// Reads a model from a response. A body over 64 KiB is decoded off the caller's actor.
    ///
    /// - Throws: `emptyBody`, `decoding`, and the failures of the transfer of a streamed body.
    func model(
        from response: DataResponse, to method: HTTPRequest.Method
    ) async throws(RequestFailure) -> Model {
        guard let nested else { return try await reader.model(from: response, to: method) }
        return try await model(below: nested, from: response, to: method)
    }

    private func model(
        below nested: NestedPath, from response: DataResponse, to method: HTTPRequest.Method
    ) async throws(RequestFailure) -> Model {
        let outer = ModelReader<NestedModel<Model>>(codecs: codecs)
        let result = await NestedPath.$current.withValue(nested) {
            await Result { () async throws(RequestFailure) in try await outer.model(from: response, to: method).model }
        }
        return try result.get()
    }
}

extension Result where Failure == RequestFailure {
    /// The result of an asynchronous function.
    fileprivate init(_ body: () async throws(RequestFailure) -> Success) async {
        do throws(RequestFailure) { self = .success(try await body()) } catch { self = .failure(error) }
    }
}

package import EssentialsHTTP
package import FoundationEssentials

/// Requests and reads models of one type: the `Accept` field that goes with the type, and the decoding of a body by its
/// media type. All calls that return a model use it.
///
/// ```swift
/// let reader = ModelReader(User.self, codecs: requests.codecs)
/// let response = try await requests.send(reader.requesting(DataRequest(.get, "users/1")))
/// let user = try await reader.model(from: response, to: .get)
/// let copy = try await reader.model(from: storedBytes, as: .json)
/// ```
///
/// The type decides how bytes are read; see `CodecRegistry.decode`: `Data` and `[UInt8]` are the bytes themselves,
/// `String` is text in the charset of the media type, `EmptyResponse` ignores the body, and a codec decodes all others.
package struct ModelReader<Model: Decodable & Sendable>: Sendable {
    /// Where a body comes from. The failures name it.
    package struct Source: Sendable {
        /// The head of the response. The default is a status 200 without fields, for a body that was stored.
        package var head = HTTPResponse(status: .ok)
        /// The method of the request, which decides whether an empty body is an error.
        package var method = HTTPRequest.Method.get
        /// The URL of the request, if it is known.
        package var url: RequestURL?

        package init(
            head: HTTPResponse = HTTPResponse(status: .ok), method: HTTPRequest.Method = .get, url: RequestURL? = nil
        ) {
            self.head = head
            self.method = method
            self.url = url
        }

        fileprivate var contentType: String? { head.headerFields[.contentType] }
    }

    private let codecs: CodecRegistry

    /// - Parameters:
    ///   - type: The model type.
    ///   - codecs: The codecs by media type.
    package init(_ type: Model.Type = Model.self, codecs: CodecRegistry) { self.codecs = codecs }

    // MARK: Accept

    /// The request with the kind of its result. Its service then adds the matching `Accept` field of its profile, unless
    /// the request, an interceptor or the environment sets one.
    package func requesting(_ request: consuming DataRequest) -> DataRequest {
        request.responseKind = kind
        return request
    }

    /// The value of the `Accept` field that goes with the type.
    package func accept(_ profile: AcceptProfile = .typed) -> String { profile.fieldValue(for: kind) }

    /// The kind of value, which decides about `Accept`.
    var kind: ResponseKind { ResponseKind(reading: Model.self) }

    // MARK: Reading

    /// Reads a model from a response. A body over 64 KiB is decoded off the caller's actor.
    ///
    /// - Parameters:
    ///   - response: The response. At most 64 MiB of a streamed body are read.
    ///   - method: The method of the request.
    /// - Throws: `emptyBody` and `decoding`; `tooLarge` and the failures of the transfer for a streamed body.
    package func model(
        from response: DataResponse, to method: HTTPRequest.Method
    ) async throws(RequestFailure) -> Model {
        let body: Data
        if let data = response.body.data {
            body = data
        } else {
            body = try await response.body.collect(upTo: ModelReading.streamLimit)
        }
        let source = Source(head: response.head, method: method, url: response.url)
        return try await model(from: body, contentType: source.contentType, source)
    }

    /// Reads a model from bytes on the calling thread, however large the body is.
    ///
    /// - Parameter contentType: The value of the `Content-Type` field; `nil` if it is unknown.
    /// - Throws: `emptyBody` and `decoding`.
    package func modelHere(
        from body: Data, contentType: String?, _ source: Source = Source()
    ) throws(RequestFailure) -> Model {
        try read(body, contentType, source)
    }

    /// Reads a model from bytes. More than 64 KiB are decoded off the caller's actor.
    ///
    /// - Parameters:
    ///   - body: The whole body.
    ///   - mediaType: The media type, which selects the codec. `nil` means that it is unknown: `String` is then read as
    ///     text, and every other model as JSON.
    ///   - source: Where the body comes from.
    /// - Throws: `emptyBody` and `decoding`.
    package func model(
        from body: Data, as mediaType: MediaType?, _ source: Source = Source()
    ) async throws(RequestFailure) -> Model {
        try await model(from: body, contentType: mediaType?.description, source)
    }

    private func model(
        from body: Data, contentType: String?, _ source: Source
    ) async throws(RequestFailure) -> Model {
        guard body.count > ModelReading.inPlaceLimit else { return try read(body, contentType, source) }
        return try await readElsewhere(body, contentType, source)
    }

    @concurrent
    private func readElsewhere(
        _ body: Data, _ contentType: String?, _ source: Source
    ) async throws(RequestFailure) -> Model {
        try read(body, contentType, source)
    }

    private func read(_ body: Data, _ contentType: String?, _ source: Source) throws(RequestFailure) -> Model {
        do throws(RequestFailure) {
            return try codecs.decode(
                Model.self, from: body, contentType: contentType, response: source.head, method: source.method,
                host: source.url?.origin.host.text)
        } catch {
            guard let url = source.url else { throw error }
            throw error.naming(source.method, url.redacted)
        }
    }
}

extension DataRequest {
    /// The request with the kind of value that is read from its response.
    package func requesting(_ kind: ResponseKind) -> DataRequest {
        var request = self
        request.responseKind = kind
        return request
    }
}

extension ResponseKind {
    /// The kind for a response that is read as several types: that of all of them, or else any response. A type that is
    /// not Decodable is made from any response.
    package init(readingAll types: [Any.Type]) {
        func kind<Model>(_ type: Model.Type) -> ResponseKind {
            type is any Decodable.Type ? ResponseKind(reading: type) : .response
        }
        let kinds = types.map { kind($0) }
        self = kinds.allSatisfy { $0 == kinds.first } ? kinds.first ?? .response : .response
    }
}

/// The limits of all readers.
private enum ModelReading {
    /// The largest body that is decoded on the caller's actor. Decoding it takes no longer than switching threads
    /// twice.
    static let inPlaceLimit = 64 << 10
    /// The maximum size of a streamed body.
    static let streamLimit = 64 << 20
}

extension RequestFailure {
    /// Reads the body of the failure's response as a model.
    ///
    /// ```swift
    /// do throws(RequestFailure) {
    ///     user = try await requests.get("users/1")
    /// } catch {
    ///     show((try? error.decode(as: Problem.self))?.title ?? error.message)
    /// }
    /// ```
    ///
    /// The codec is that of the response's `Content-Type`, and JSON for a response without one; see
    /// ``CodecRegistry/decode(_:from:contentType:response:method:host:)``. Of a streamed body, a failure keeps 64 KiB; a
    /// longer one is incomplete, and most models cannot be read from it.
    ///
    /// - Parameters:
    ///   - type: The model.
    ///   - codecs: The codecs; those of a service are its `codecs`.
    /// - Throws: `decoding` if the body does not fit the model, with the decoder's error below it; `emptyBody` if there is
    ///   no body, or the failure has no response.
    public func decode<Model: Decodable>(
        as type: Model.Type = Model.self, codecs: CodecRegistry = .standard
    ) throws(RequestFailure) -> Model {
        guard let response else {
            throw RequestFailure(
                .emptyBody, "The failure “\(reason.name)” has no response that could be read as \(type).",
                remedy: "Look at the failure's reason before its body is read.", phase: .decoding, host: host,
                underlying: self)
        }
        return try codecs.decode(
            type, from: response.body, contentType: response.head.headerFields[.contentType], response: response.head,
            host: host)
    }
}

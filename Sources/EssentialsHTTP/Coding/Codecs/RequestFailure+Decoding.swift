extension RequestFailure {
    /// Decodes the body of the failure's response as a model.
    ///
    /// ```swift
    /// do throws(RequestFailure) {
    ///     user = try await requests.get("users/1")
    /// } catch {
    ///     show((try? error.decode(as: Problem.self))?.title ?? error.message)
    /// }
    /// ```
    ///
    /// The codec is that of the response's `Content-Type`, or JSON without this field; see
    /// ``CodecRegistry/decode(_:from:contentType:response:method:host:)``. A failure keeps only the first 64 KiB of a
    /// streamed body. A longer body is incomplete, so most models cannot be decoded from it.
    ///
    /// - Parameters:
    ///   - type: The model's type.
    ///   - codecs: The codecs. Pass a service's `codecs` to use the same ones.
    /// - Throws: `decoding` if the body does not fit the model, with the decoder's error as the underlying error;
    ///   `emptyBody` if there is no body, or the failure has no response.
    public func decode<Model: Decodable>(
        as type: Model.Type = Model.self, codecs: CodecRegistry = .standard
    ) throws(RequestFailure) -> Model {
        guard let response else {
            throw RequestFailure(
                .emptyBody, "The failure “\(reason.name)” has no response that could be decoded as \(type).",
                remedy: "Check the failure's reason before decoding its body.", phase: .decoding, host: host,
                underlying: self)
        }
        return try codecs.decode(
            type, from: response.body, contentType: response.head.headerFields[.contentType], response: response.head,
            host: host)
    }
}

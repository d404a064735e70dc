extension RequestBody {
    /// Creates a body from several parts, which are read while they are sent. About three chunks of a file are in
    /// memory, 1.5 MiB, besides the parts that were created from memory.
    ///
    /// Set the request's `Content-Type` to the body's ``MultipartBody/contentType``. The body can be sent again unless
    /// a part is a stream. Each attempt begins with the first part and opens every file again. If a file has changed
    /// since it was appended, the request fails with `file`.
    ///
    /// ```swift
    /// request.headerFields[.contentType] = form.contentType
    /// request.body = .multipart(form)
    /// ```
    public static func multipart(_ body: MultipartBody) -> RequestBody {
        RequestBody(
            content: .stream(length: body.contentLength, isReplayable: body.isReplayable) {
                let reader = MultipartReader(body)
                return { try await reader.next() }
            })
    }
}

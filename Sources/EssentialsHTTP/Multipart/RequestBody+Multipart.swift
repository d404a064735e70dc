extension RequestBody {
    /// Several parts, read while they are sent: memory stays at about three pieces of a file, 1.5 MiB, beside the parts
    /// that are in memory anyway.
    ///
    /// The request's `Content-Type` must be the body's ``MultipartBody/contentType``. It can be sent again unless a part
    /// is a stream: each sending begins with the first part, and opens each file anew when it comes to it. A file that is
    /// no longer as it was when it was appended ends the request with the reason `file`.
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

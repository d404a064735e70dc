extension Transport {
    /// Downloads a response to a file.
    ///
    /// The file is written under a temporary name beside its destination, flushed to the disk, and renamed in one step
    /// when it is complete. So no process sees an incomplete file, and a failure leaves nothing behind. Each chunk is
    /// written before the next one is received, on a thread for blocking work: memory is bounded by about one chunk,
    /// and a slow disk slows the transfer. Directories are created only if the options say so. If the length is known
    /// in advance and exceeds the free space of the disk, the download fails before the body is received. Files of an
    /// earlier download to the same destination whose process was killed are removed first; see
    /// ``DownloadedFile/removeAbandoned(in:partsUntouchedFor:)``.
    ///
    /// Every status from 200 to 299 that has a body is a success. Status 204 and 205 fail with `emptyBody`. An
    /// unexpected 206 and every other status fail with `status`. A destination that is a directory or a device is
    /// refused.
    ///
    /// With ``DownloadOptions/resumes``, a failed download keeps the received bytes beside the destination as
    /// `NAME.part`. If the response has a strong `ETag`, or a `Last-Modified` that is old enough (RFC 9110, 8.8), that
    /// validator is kept as `NAME.part.validator`. The next call then resumes there with `Range` and `If-Range`, and
    /// downloads the whole file if the server's file has changed. The request excludes compression. A file that the
    /// server has only in a compressed form is requested again, decompressed, and cannot be resumed. If two downloads
    /// use the same destination, the second one fails. After a power failure, the end of a partial file may be corrupt;
    /// a checksum detects that.
    ///
    /// ```swift
    /// let file = try await transport.download(
    ///     TransportRequest(.get, try RequestURL("https://example.com/films/1.mp4")), to: "/srv/films/1.mp4")
    /// ```
    ///
    /// - Parameters:
    ///   - request: The request to send. Its delivery is set to streamed.
    ///   - destination: The path of the file. A relative path is resolved against the current directory when this is
    ///     called.
    ///   - options: How an existing file is treated, and what the new file requires.
    ///   - progress: Reports the bytes as they are written.
    /// - Throws: `status` or `emptyBody` with the response and at most 64 KiB of its body; `file` with path and cause;
    ///   `tooLarge` above the options' maximum size; `interrupted` if the server sent fewer bytes than it announced;
    ///   `protocolViolation` for a response that does not match the request; and the transport's failures.
    @discardableResult
    public func download(
        _ request: TransportRequest, to destination: String, options: DownloadOptions = DownloadOptions(),
        progress: ProgressReport? = nil
    ) async throws(RequestFailure) -> DownloadedFile {
        try await FileDownload.run(request, to: destination, options: options, progress: progress) {
            request throws(RequestFailure) in try await self.send(request)
        }
    }
}

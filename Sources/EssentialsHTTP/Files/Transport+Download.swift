extension Transport {
    /// Loads a response into a file.
    ///
    /// The file is written beside its destination under a temporary name, put on the disk, and given its name in one
    /// step when it is whole: nobody sees half a file, and whatever fails leaves nothing behind. Each chunk is written
    /// before the next is asked for, on a thread for blocking work: memory stays at about a chunk, and a slow disk
    /// slows the transfer. Directories are not created unless the options say so. If the length is known beforehand and
    /// the disk has not so much space, it fails before anything is loaded. What a download to the same destination left
    /// when its program was killed is removed first; see ``FileDownload/removeAbandoned(in:partsUntouchedFor:)``.
    ///
    /// Every status from 200 to 299 that has a body is success; 204 and 205 are the failure `emptyBody`, and a 206 that
    /// was not asked for is the failure `status`, as is every other status. A destination that is a directory or a
    /// device is refused.
    ///
    /// With ``DownloadOptions/resumes`` the part that came stays beside the destination as `NAME.part`, with what
    /// proves whose bytes they are as `NAME.part.validator`, if the server gave such a proof (a strong `ETag`, or a
    /// `Last-Modified` of some age: RFC 9110, 8.8). The next call goes on from there (`Range` with `If-Range`), and
    /// loads all anew if the server's file has changed. The file is asked for without compression. Of two downloads to
    /// one name the second fails. After a power cut the end of a part may not be what came; a checksum finds that.
    ///
    /// ```swift
    /// let file = try await transport.download(
    ///     TransportRequest(.get, try RequestURL("https://example.com/films/1.mp4")), to: "/srv/films/1.mp4")
    /// ```
    ///
    /// - Parameters:
    ///   - request: What to send. Its delivery is set to streamed.
    ///   - destination: The file's path. A relative one counts from the directory that is current when this is called.
    ///   - options: What becomes of a file that is there, and what the new one must fulfil.
    ///   - progress: Told of the bytes as they are written.
    /// - Throws: `status` or `emptyBody` with the answer and at most 64 KiB of its body, `file` with path and cause,
    ///   `tooLarge` over the options' limit, `interrupted` when fewer bytes came than the server had said,
    ///   `protocolViolation` for an answer that does not fit, and whatever the transport throws.
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

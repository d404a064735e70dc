extension RequestBody {
    /// A file, or a part of one, read while it is sent. It can be sent again: each sending opens the file anew.
    ///
    /// The file is looked at once here, and must be as it was then whenever it is sent: a file with another size or
    /// time of modification ends the request with the reason `file`, rather than sending half of the old and half of
    /// the new. It is read in pieces of 512 KiB on a thread for blocking work; memory stays flat. Symbolic links are
    /// followed.
    ///
    /// ```swift
    /// var request = TransportRequest(.put, try RequestURL("https://example.com/films/1"))
    /// request.body = try .file("/srv/films/1.mp4")
    /// ```
    ///
    /// - Parameters:
    ///   - path: The file. A relative path counts from the directory that is current now.
    ///   - range: Which bytes of it, counted from 0. All.
    /// - Throws: `file` when the file is not there, may not be looked at, is no regular file, or is shorter than the
    ///   range.
    public static func file(_ path: String, range: Range<Int64>? = nil) throws(RequestFailure) -> RequestBody {
        let file = try SentFile(path, range: range)
        guard let length = Int(exactly: file.range.upperBound - file.range.lowerBound) else {
            throw RequestFailure(
                .file, "“\(RequestFailure.shownPath(file.path))” is too large for this machine.",
                remedy: "Send it in ranges.")
        }
        return RequestBody(
            content: .stream(length: length, isReplayable: true) {
                let reader = FileReader(file)
                return {
                    try FileThreads.shared.start()
                    return try await reader.next()
                }
            })
    }
}

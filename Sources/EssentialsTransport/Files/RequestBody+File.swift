import EssentialsStorage

extension RequestBody {
    /// A file or a part of one, which is read while it is sent. It can be sent again; each attempt opens the file anew.
    ///
    /// The status of the file is read here once. If its size or modification time differs when it is sent, the request
    /// fails with the reason `file`, so that a mixture of old and new content is never sent. The file is read in pieces
    /// of 512 KiB on a thread for blocking work, so memory use is constant. Symbolic links are followed.
    ///
    /// ```swift
    /// var request = TransportRequest(.put, try RequestURL("https://example.com/films/1"))
    /// request.body = try .file("/srv/films/1.mp4")
    /// ```
    ///
    /// - Parameters:
    ///   - path: The path. A relative path is resolved against the current directory now.
    ///   - range: The bytes to send, counted from 0. The default is the whole file.
    /// - Throws: `file` if the file does not exist, is not accessible, is not a regular file, or is
    ///   shorter than the range.
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

public import EssentialsRequests
public import Foundation

extension DataRequestService {
    /// Downloads a response into a file; see `download(_:to:options:progress:)` with a path.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - destination: A file URL.
    ///   - options: What happens to an existing file, and whether to resume.
    ///   - progress: Receives the progress as bytes are written.
    /// - Throws: `file` if the destination is not a file URL, and the failures of the variant with a path.
    @discardableResult
    public func download(
        _ request: DataRequest, to destination: URL, options: DownloadOptions = DownloadOptions(),
        progress: ProgressReport? = nil
    ) async throws(RequestFailure) -> DownloadedFile {
        try await download(request, to: destination.filePath(), options: options, progress: progress)
    }

    /// Downloads a response into a file with GET; see `download(_:parameters:to:options:progress:)` with a path.
    ///
    /// - Parameters:
    ///   - path: The path below the environment's base URL.
    ///   - parameters: The query.
    ///   - destination: A file URL.
    ///   - options: What happens to an existing file, and whether to resume.
    ///   - progress: Receives the progress as bytes are written.
    /// - Throws: `file` if the destination is not a file URL, and the failures of the variant with a path.
    @discardableResult
    public func download(
        _ path: String, parameters: FormParameters = [:], to destination: URL,
        options: DownloadOptions = DownloadOptions(), progress: ProgressReport? = nil
    ) async throws(RequestFailure) -> DownloadedFile {
        try await download(
            path, parameters: parameters, to: destination.filePath(), options: options, progress: progress)
    }
}

extension DownloadedFile {
    /// The location of the file, as a file URL.
    public var url: URL { URL(filePath: path, directoryHint: .notDirectory) }
}

extension RequestBody {
    /// A file or a part of one, which is read while it is sent; see `file(_:range:)` with a path.
    ///
    /// - Throws: `file` if the URL is not a file URL, or if the file cannot be sent.
    public static func file(_ url: URL, range: Range<Int64>? = nil) throws(RequestFailure) -> RequestBody {
        try .file(url.filePath(), range: range)
    }
}

extension DataRequest.Body {
    /// A file, which is read while it is sent; see `file(_:range:type:)` with a path.
    ///
    /// - Throws: `file` if the URL is not a file URL, or if the file cannot be sent.
    public static func file(
        _ url: URL, range: Range<Int64>? = nil, type: MediaType? = nil
    ) throws(RequestFailure) -> DataRequest.Body {
        try .file(url.filePath(), range: range, type: type)
    }
}

extension URL {
    /// The path of a file URL, without percent-encoding.
    func filePath() throws(RequestFailure) -> String {
        guard isFileURL else {
            throw RequestFailure(
                .file, "The URL, of the scheme “\(RequestFailure.shown(scheme ?? ""))”, names no file.",
                remedy: "Use a file URL, such as URL(filePath:) makes.")
        }
        return path(percentEncoded: false)
    }
}

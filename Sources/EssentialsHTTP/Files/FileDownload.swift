package import EssentialsStorage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Downloads a response to a file through any function that sends requests.
///
/// `Transport.download` uses it with the transport's own `send`. A service passes a function that includes its stages,
/// such as redirects.
///
/// ```swift
/// let file = try await FileDownload.run(request, to: "/srv/films/1.mp4") { request throws(RequestFailure) in
///     try await redirects.send(request)
/// }
/// ```
package struct FileDownload: Sendable {
    /// Sends a request, and returns the response with a streamed body.
    package typealias Send = @Sendable (TransportRequest) async throws(RequestFailure) -> TransportResponse
    /// Decides whether a status is a success.
    package typealias Expectation = @Sendable (Int) -> Bool
    /// Decides whether a download whose body has failed goes on, and waits before it does.
    package typealias Retry = @Sendable (RequestFailure) async throws(RequestFailure) -> Bool

    /// What a download needs to know about its request.
    package struct Subject: Sendable {
        let method: HTTPRequest.Method
        var headerFields: HTTPFields
        var options: TransportOptions
        let isReplayable: Bool
        /// The server's name in messages.
        let server: String
        /// Identifies the downloaded resource for a later resumption.
        let resource: String
        let host: String?
        /// Whether a status is a success; `nil` for the usual rule.
        let expectation: Expectation?

        /// Describes a request whose URL is not known, because a double responds to it.
        package init(
            _ method: HTTPRequest.Method, resource: String, headerFields: HTTPFields, options: TransportOptions,
            expecting expectation: Expectation?
        ) {
            self.method = method
            self.headerFields = headerFields
            self.options = options
            self.resource = resource
            isReplayable = true
            server = "The service"
            host = nil
            self.expectation = expectation
        }

        fileprivate init(_ request: TransportRequest, _ expectation: Expectation?) {
            method = request.method
            headerFields = request.headerFields
            options = request.options
            isReplayable = request.body.isReplayable
            server = request.url.origin.description
            resource = request.url.origin.description + request.url.path
            host = request.url.origin.host.text
            self.expectation = expectation
        }

        /// Whether a response with this status is saved. A partial response is saved only if it was requested.
        func expects(_ status: Int) -> Bool {
            guard let expectation else { return (200..<300).contains(status) && status != 206 }
            return expectation(status) && (status != 206 || headerFields.contains(.range))
        }
    }

    /// Sends the request with these fields and options, and returns the response with a streamed body.
    package typealias SendSubject =
        @Sendable (HTTPFields, TransportOptions) async throws(RequestFailure) -> TransportResponse

    /// The maximum number of bytes of an error response's body that the failure includes.
    private static let failedBodyLimit = 64 << 10

    private let subject: Subject
    private let place: DownloadPlace
    private let options: DownloadOptions
    private let progress: ProgressReport?
    private let writer: FileWriter
    private let send: SendSubject

    /// Downloads as described at ``EssentialsTransport/Transport/download(_:to:options:progress:)``.
    ///
    /// - Parameter expectation: Decides which statuses are saved. By default these are 200 to 299 without 206.
    @discardableResult
    package static func run(
        _ request: TransportRequest, to destination: String, options: DownloadOptions = DownloadOptions(),
        progress: ProgressReport? = nil, expecting expectation: Expectation? = nil, retry: Retry? = nil,
        send: @escaping Send
    ) async throws(RequestFailure) -> DownloadedFile {
        try await run(
            request, to: destination, options: options, progress: progress, expecting: expectation, calls: .system,
            retry: retry, send: send)
    }

    /// Downloads with replaced system calls, for tests.
    package static func run(
        _ request: TransportRequest, to destination: String, options: DownloadOptions, progress: ProgressReport?,
        expecting expectation: Expectation? = nil, calls: FileCalls, retry: Retry? = nil, send: @escaping Send
    ) async throws(RequestFailure) -> DownloadedFile {
        try await run(
            Subject(request, expectation), to: destination, options: options, progress: progress, calls: calls,
            retry: retry
        ) { fields, options throws(RequestFailure) in
            var request = request
            request.headerFields = fields
            request.options = options
            return try await send(request)
        }
    }

    /// Downloads what a function sends that knows the request's URL and body.
    ///
    /// - Parameter retry: Is asked after a failure of the body if the options say that downloads are resumed. The
    ///   progress of the next attempt continues that of the failed one.
    package static func run(
        _ subject: Subject, to destination: String, options: DownloadOptions, progress: ProgressReport?,
        calls: FileCalls = .system, retry: Retry? = nil, send: @escaping SendSubject
    ) async throws(RequestFailure) -> DownloadedFile {
        defer { progress?.finish() }
        try check(subject, options)
        try FileThreads.shared.start()
        let place = try DownloadPlace(destination)
        while true {
            let writer = FileWriter(place, options, calls)
            let download = FileDownload(
                subject: subject, place: place, options: options, progress: progress, writer: writer, send: send)
            let failure: RequestFailure
            do throws(RequestFailure) {
                switch try await download.load() {
                case .success(let file): return file
                case .failure(let ofBody): failure = ofBody
                }
            } catch {
                await writer.abandon(keepsPart: true)
                throw error
            }
            await writer.abandon(keepsPart: true)
            guard options.resumes, let retry, try await retry(failure) else { throw failure }
        }
    }

    private static func check(_ request: Subject, _ options: DownloadOptions) throws(RequestFailure) {
        guard request.method != .head else {
            throw RequestFailure(.invalidRequest, "The response to a HEAD request has no body.", remedy: "Use GET.")
        }
        guard options.resumes else { return }
        guard request.method == .get else {
            throw RequestFailure(
                .invalidRequest, "Only a GET request can be resumed.", remedy: "Use GET, or set “resumes” to false.")
        }
        let fields = request.headerFields
        guard fields[.range] == nil, fields[.ifRange] == nil, fields[.acceptEncoding] == nil else {
            throw RequestFailure(
                .invalidRequest, "A request that sets Range, If-Range or Accept-Encoding cannot be resumed.",
                remedy: "Remove these fields; a resumable download sets them itself.")
        }
    }

    // MARK: The download

    /// Returns the file, or the failure of the response's body.
    ///
    /// - Throws: All other failures.
    private func load() async throws(RequestFailure) -> Result<DownloadedFile, RequestFailure> {
        try checkCancellation()
        let first = try await writer.prepare(resource: subject.resource)
        while try await writer.hashPart() { try checkCancellation() }
        let used = try await self.response(from: first)
        let (response, offset) = (used.response, used.offset)
        do throws(RequestFailure) {
            let (path, size) = try await take(used)
            return .success(
                DownloadedFile(
                    path: path, bytes: size, resumedFrom: offset, head: response.head,
                    metrics: response.body.ending?.metrics ?? response.metrics, connection: response.connection))
        } catch {
            Self.drop(response.body)
            return .failure(error)
        }
    }

    /// A response that is saved.
    private struct UsedResponse {
        let response: TransportResponse
        /// The number of bytes of the partial file that it continues.
        let offset: Int64
        let outcome: DownloadRules.Outcome
        /// Whether the file can be resumed.
        let resumes: Bool
    }

    /// Sends the request until a response can be used, at most three times.
    private func response(from first: ResumePoint?) async throws(RequestFailure) -> UsedResponse {
        var (point, resumes) = (first, options.resumes)
        while true {
            let prepared = prepared(from: point, resumes: resumes)
            let response = try await send(prepared.headerFields, prepared.options)
            let outcome = DownloadRules.read(
                status: response.status.code, fields: response.headerFields, resumes: resumes, point: point,
                isExpected: subject.expects)
            switch outcome {
            case .whole: return UsedResponse(response: response, offset: 0, outcome: outcome, resumes: resumes)
            case .rest, .complete:
                return UsedResponse(
                    response: response, offset: point?.offset ?? 0, outcome: outcome, resumes: resumes)
            case .startAgain, .coded:
                Self.drop(response.body)
                guard subject.isReplayable else {
                    throw failure(
                        .notReplayable,
                        "The file cannot be resumed, and the request's body cannot be sent again.")
                }
                point = nil
                if outcome == .coded { resumes = false }
            case .empty, .refused:
                let body = await response.body.beginning(upTo: Self.failedBodyLimit)
                let reason: RequestFailure.Reason = outcome == .empty ? .emptyBody : .status
                let status = response.status.code
                let message = "\(subject.server) responded with status \(status) to a download; nothing was saved."
                throw RequestFailure(
                    reason, message, remedy: outcome == .empty ? "Check that the URL refers to a file." : nil,
                    phase: .receiving, host: subject.host,
                    response: FailedResponse(head: response.head, body: body))
            case .violation(let what):
                Self.drop(response.body)
                await writer.abandon(keepsPart: false)
                throw failure(.protocolViolation, "\(subject.server) \(what).")
            }
        }
    }

    private func prepared(from point: ResumePoint?, resumes: Bool) -> Subject {
        var prepared = subject
        prepared.options.delivery = .streamed
        guard resumes else { return prepared }
        // Partial responses fit together only if they have no content coding.
        prepared.options.decompresses = false
        prepared.headerFields[.acceptEncoding] = "identity"
        if let point {
            prepared.headerFields[.range] = "bytes=\(point.offset)-"
            prepared.headerFields[.ifRange] = point.validator.text
        }
        return prepared
    }

    /// Writes the body and moves the file to its destination. Returns the path and the size.
    private func take(_ used: UsedResponse) async throws(RequestFailure) -> (path: String, size: Int64) {
        let (response, outcome, offset) = (used.response, used.outcome, used.offset)
        var length: Int64?
        var total: Int64?
        switch outcome {
        case .whole(let known): (length, total) = (known, known)
        case .rest(let rest, let whole): (length, total) = (rest, whole ?? offset + rest)
        default: (length, total) = (0, offset)
        }
        try await checkSize(total ?? offset)
        let validator = used.resumes ? ResumeValidator(response.headerFields) : nil
        try await writer.begin(offset, length: length, validator: validator)
        progress?.begin(at: offset, expected: total)
        var size = offset
        if outcome == .complete {
            Self.drop(response.body)
        } else {
            size = try await copy(response.body, at: offset, length: length)
        }
        guard size == total ?? size else {
            throw failure(.interrupted, "\(subject.server) sent \(size) of \(total ?? size) bytes.")
        }
        try checkCancellation()
        return (try await writer.finish(), size)
    }

    private func copy(
        _ body: ResponseBody, at offset: Int64, length: Int64?
    ) async throws(RequestFailure) -> Int64 {
        var size = offset
        var chunks = body.makeAsyncIterator()
        while let chunk = try await chunks.next() {
            try checkCancellation()
            guard Int64(chunk.count) <= (length ?? .max) - (size - offset) else {
                await writer.abandon(keepsPart: false)
                throw failure(.protocolViolation, "\(subject.server) sent more bytes than it announced.")
            }
            try await checkSize(size + Int64(chunk.count))
            try await writer.write(chunk)
            size += Int64(chunk.count)
            progress?.reached(size)
        }
        return size
    }

    private func checkSize(_ size: Int64) async throws(RequestFailure) {
        guard let limit = options.maximumSize, size > limit else { return }
        // A partial file of a file that is too large is of no use.
        await writer.abandon(keepsPart: false)
        throw failure(.tooLarge, "The file exceeds \(limit) bytes.")
    }

    private func checkCancellation() throws(RequestFailure) {
        if Task.isCancelled { throw failure(.cancelled, "The download was cancelled.") }
    }

    private func failure(_ reason: RequestFailure.Reason, _ message: String) -> RequestFailure {
        RequestFailure(reason, message, phase: .receiving, host: subject.host)
    }

    // MARK: Bodies

    /// Cancels the transfer of an unread body.
    private static func drop(_ body: ResponseBody) {
        if case .stream(let source) = body.content { source.cancel() }
    }
}

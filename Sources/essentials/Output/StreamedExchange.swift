import EssentialsTools
import EssentialsTransport
import ServiceEssentials

/// Sends one request and forwards the response body as it arrives.
struct StreamedExchange: Exchange {
    /// The request. It accepts every status, so that the body of an unexpected response can be printed.
    let request: DataRequest
    /// The service. It is shut down after the exchange, together with the transport.
    let service: HTTPDataRequestService
    /// The stored responses; `nil` without them.
    var cache: ResponseCache?
    /// The maximum size of the body in bytes; `nil` means no limit.
    let maximumBody: Int?
    let output: OutputOptions
    /// The statuses of a success.
    let expected: StatusSet
    /// Whether the head is printed.
    let printsHead: Bool
    /// The destination of the body of an expected response. Other bodies go to standard output.
    let target: OutputTarget

    /// The file to remove if the process is ended.
    var temporaryPath: String? { file?.temporaryPath }

    private var file: OutputFile? {
        if case .file(let file) = target { file } else { nil }
    }

    /// - Throws: `status` after the body of an unexpected response, and any failure of the exchange. The output
    ///   file then does not exist.
    func run() async throws(RequestFailure) {
        do throws(RequestFailure) {
            if case .download(let path) = target { try await download(to: path) } else { try await exchange() }
        } catch {
            file?.discard()
            await finish()
            throw error
        }
        await finish()
    }

    private func finish() async {
        await service.shutdown()
        await cache?.flush()
        if let problem = cache?.problems.last, !output.isSilent {
            StandardStream.error.printLine("warning: the cache: " + OneLine.text(problem))
        }
    }

    private func exchange() async throws(RequestFailure) {
        let clock = ContinuousClock()
        let start = clock.now
        let response = try await service.send(request)
        let isExpected = expected.contains(response.status.code)
        if printsHead { try print(Self.head(of: response), response.connection) }
        let progress = isExpected && file != nil ? receiveProgress : nil
        // The length of a compressed body is not the number of bytes that are written.
        let isCompressed = response.headerFields[.contentEncoding] != nil
        progress?.begin(expected: isCompressed ? nil : response.headerFields[.contentLength].flatMap { Int64($0) })
        defer { progress?.finish() }
        let count = try await passOn(response, to: isExpected ? file : nil, progress)
        if isExpected { try file?.commit() }
        progress?.finish()
        let metrics = response.body.ending?.metrics ?? response.metrics
        printTimings(
            metrics, clock.now - start, count, isReused: response.connection.isReused, cache: response.cacheStatus)
        guard isExpected else { throw unexpected(response) }
    }

    private func download(to path: String) async throws(RequestFailure) {
        let clock = ContinuousClock()
        let start = clock.now
        var options = DownloadOptions()
        // This matches the behavior without `--resume`.
        options.existing = .replace
        options.resumes = true
        options.maximumSize = maximumBody.map(Int64.init)
        var request = request
        // The body of an unexpected response must not replace the file.
        request.expectedStatus = StatusExpectation(expected.ranges)
        let file = try await service.download(
            request, to: path, options: options, progress: receiveProgress)
        if printsHead { try print(file.head, file.connection) }
        printTimings(
            file.metrics, clock.now - start, Int(file.bytes - file.resumedFrom), isReused: file.connection.isReused)
    }

    /// The head with what the cache has done, in the field of RFC 9211.
    private static func head(of response: DataResponse) -> HTTPResponse {
        var head = response.head
        if let status = response.cacheStatus, let name = HTTPField.Name("Cache-Status") {
            head.headerFields.append(HTTPField(name: name, value: status))
        }
        return head
    }

    private var receiveProgress: ProgressReport? {
        output.isSilent ? nil : ProgressBar.report(verb: "received")
    }

    private func print(_ head: HTTPResponse, _ connection: ConnectionFacts) throws(RequestFailure) {
        try ResponseHeadText.print(
            head, version: connection.protocolName, isProtected: isatty(STDOUT_FILENO) == 1 && output.file != "-")
    }

    private func printTimings(
        _ metrics: TransportMetrics, _ total: Duration, _ bodyBytes: Int, isReused: Bool, cache: String? = nil
    ) {
        guard output.printsTimings || output.isVerbose else { return }
        StandardStream.endLine()
        let report = TimingsReport(
            metrics: metrics, total: total, bodyBytes: bodyBytes, isReused: isReused, cache: cache)
        for line in report.lines { StandardStream.error.printLine(line) }
    }

    private func passOn(
        _ response: DataResponse, to file: OutputFile?, _ progress: ProgressReport?
    ) async throws(RequestFailure) -> Int {
        let host = response.url?.origin.host.text
        let isHidden = output.hidesUnexpectedBody && !expected.contains(response.status.code)
        var printer = BodyPrinter(output.bodyStyle, type: response.headerFields[.contentType])
        var count = 0
        var chunks = response.body.makeAsyncIterator()
        // A color that was begun must not last after a failure.
        var isComplete = false
        defer { if !isComplete, file == nil { try? printer.end() } }
        while let chunk = try await chunks.next() {
            guard !Task.isCancelled else {
                throw RequestFailure(.cancelled, "The request was cancelled.", phase: .receiving, host: host)
            }
            if let maximumBody, chunk.count > maximumBody - count {
                throw RequestFailure(
                    .tooLarge, "The body exceeds \(maximumBody) bytes.",
                    remedy: "Raise --max-body if the size is expected.",
                    phase: .receiving, host: host)
            }
            count += chunk.count
            try chunk.withUnsafeBytes { bytes throws(RequestFailure) in
                if let file { try file.write(bytes) } else if !isHidden { try printer.print(bytes) }
            }
            progress?.reached(Int64(count))
        }
        isComplete = true
        if file == nil { try printer.end() }
        return count
    }

    private func unexpected(_ response: DataResponse) -> RequestFailure {
        let method = response.redirects.last?.method ?? request.method
        let url = response.url.map { " \($0.redacted)" } ?? ""
        return RequestFailure(
            .status, "\(method.rawValue)\(url) returned the status \(StatusText.text(of: response.status)).",
            remedy: output.hidesUnexpectedBody
                ? "Remove --fail to print the body, or accept the status with --expect."
                : "See the body for the reason, or accept the status with --expect.", phase: .receiving,
            host: response.url?.origin.host.text)
    }
}

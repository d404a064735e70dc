import ServiceEssentials

/// Sends one request and passes the body on as it arrives.
struct StreamedExchange: Sendable {
    let request: TransportRequest
    let transport: CurlTransport
    let redirects: RedirectPolicy
    /// The most bytes of the body, or nil for any number.
    let maximumBody: Int?
    let expected: StatusSet
    let printsHead: Bool
    let printsTimings: Bool
    /// Where the body of an expected response goes; that of another goes to standard output.
    let target: OutputTarget

    /// What to remove when the process is ended.
    var temporaryPath: String? { file?.temporaryPath }

    private var file: OutputFile? {
        if case .file(let file) = target { file } else { nil }
    }

    /// - Throws: `status` after the body of an unexpected response; whatever kept the exchange from being whole. The
    ///   file is not there then.
    func run() async throws(RequestFailure) {
        do throws(RequestFailure) {
            if case .download(let path) = target { try await download(to: path) } else { try await exchange() }
        } catch {
            file?.discard()
            await transport.shutdown()
            throw error
        }
        await transport.shutdown()
    }

    private func exchange() async throws(RequestFailure) {
        let clock = ContinuousClock()
        let start = clock.now
        let redirected = try await RedirectStage().send(request, policy: redirects, through: transport)
        let response = redirected.response
        let isExpected = expected.contains(response.status.code)
        if printsHead { try ResponseHeadText.print(response.head, version: response.connection.protocolName) }
        let progress = isExpected && file != nil ? ProgressBar.report(verb: "received") : nil
        // A compressed body's length says nothing about what is written.
        let isCompressed = response.headerFields[.contentEncoding] != nil
        progress?.begin(expected: isCompressed ? nil : response.headerFields[.contentLength].flatMap { Int64($0) })
        defer { progress?.finish() }
        let count = try await passOn(response.body, to: isExpected ? file : nil, progress)
        if isExpected { try file?.commit() }
        progress?.finish()
        printTimings(response.metrics, clock.now - start, count, isReused: response.connection.isReused)
        guard isExpected else { throw unexpected(response.status, redirected.request) }
    }

    private func download(to path: String) async throws(RequestFailure) {
        let clock = ContinuousClock()
        let start = clock.now
        var options = DownloadOptions()
        options.resumes = true
        options.maximumSize = maximumBody.map(Int64.init)
        let (transport, redirects) = (transport, redirects)
        let file = try await FileDownload.run(
            request, to: path, options: options, progress: ProgressBar.report(verb: "received")
        ) { request throws(RequestFailure) in
            try await RedirectStage().send(request, policy: redirects, through: transport).response
        }
        if printsHead { try ResponseHeadText.print(file.head, version: "HTTP") }
        printTimings(file.metrics, clock.now - start, Int(file.bytes - file.resumedFrom), isReused: false)
    }

    private func printTimings(_ metrics: TransportMetrics, _ total: Duration, _ bodyBytes: Int, isReused: Bool) {
        guard printsTimings else { return }
        let report = TimingsReport(metrics: metrics, total: total, bodyBytes: bodyBytes, isReused: isReused)
        for line in report.lines { StandardStream.error.printLine(line) }
    }

    private func passOn(
        _ body: ResponseBody, to file: OutputFile?, _ progress: ProgressReport?
    ) async throws(RequestFailure) -> Int {
        var count = 0
        var chunks = body.makeAsyncIterator()
        while let chunk = try await chunks.next() {
            guard !Task.isCancelled else {
                throw RequestFailure(.cancelled, "The request was cancelled.", phase: .receiving, host: host)
            }
            if let maximumBody, chunk.count > maximumBody - count {
                throw RequestFailure(
                    .tooLarge, "The body is over \(maximumBody) bytes.",
                    remedy: "Raise --max-body if so much is expected.",
                    phase: .receiving, host: host)
            }
            count += chunk.count
            try chunk.withUnsafeBytes { bytes throws(RequestFailure) in
                if let file { try file.write(bytes) } else { try StandardStream.output.write(bytes) }
            }
            progress?.reached(Int64(count))
        }
        return count
    }

    private var host: String { request.url.origin.host.text }

    private func unexpected(_ status: HTTPResponse.Status, _ request: TransportRequest) -> RequestFailure {
        RequestFailure(
            .status,
            "\(request.method.rawValue) \(request.url.redacted) was answered with \(StatusText.text(of: status)).",
            remedy: "See the body for the server's reason, or name the status with --expect.", phase: .receiving,
            host: request.url.origin.host.text)
    }
}

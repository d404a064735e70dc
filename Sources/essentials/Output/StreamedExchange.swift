import ServiceEssentials

/// Sends one request and passes the body on as it arrives.
struct StreamedExchange: Sendable {
    let request: TransportRequest
    let transport: CurlTransport
    /// The most bytes of the body, or nil for any number.
    let maximumBody: Int?
    let expected: StatusSet
    let printsHead: Bool
    let printsTimings: Bool
    /// Where the body of an expected response goes; standard output when nil.
    let file: OutputFile?

    /// - Throws: `status` after the body of an unexpected response; whatever kept the exchange from being whole. The
    ///   file is not there then.
    func run() async throws(RequestFailure) {
        do throws(RequestFailure) {
            try await exchange()
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
        let response = try await transport.send(request)
        let isExpected = expected.contains(response.status.code)
        if printsHead { try ResponseHeadText.print(response) }
        let count = try await passOn(response.body, to: isExpected ? file : nil)
        if isExpected { try file?.commit() }
        if printsTimings {
            let report = TimingsReport(
                metrics: response.metrics, total: clock.now - start, bodyBytes: count,
                isReused: response.connection.isReused)
            for line in report.lines { StandardStream.error.printLine(line) }
        }
        guard isExpected else { throw unexpected(response.status) }
    }

    private func passOn(_ body: ResponseBody, to file: OutputFile?) async throws(RequestFailure) -> Int {
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
        }
        return count
    }

    private var host: String { request.url.origin.host.text }

    private func unexpected(_ status: HTTPResponse.Status) -> RequestFailure {
        RequestFailure(
            .status,
            "\(request.method.rawValue) \(request.url.redacted) was answered with \(StatusText.text(of: status)).",
            remedy: "See the body for the server's reason, or name the status with --expect.", phase: .receiving,
            host: host)
    }
}

public import EssentialsHTTP

extension HTTPDataRequestService {
    /// Loads a response into a file; see the protocol. The request is prepared once, also if it is resumed.
    @discardableResult
    public func download(
        _ request: DataRequest, to destination: String, options: DownloadOptions = DownloadOptions(),
        progress: ProgressReport? = nil
    ) async throws(RequestFailure) -> DownloadedFile {
        let environment = snapshot()
        return try await inFlight.run(in: watched(environment), finishes: finishes(request)) {
            [self] number throws(RequestFailure) in
            let log = RequestLog(settings: settings, number: number)
            var sent: TransportRequest?
            do throws(RequestFailure) {
                let prepared = try await prepare(request.wanting(.bytes), in: environment, log, nil)
                sent = prepared.request
                let expected = request.expectedStatus.union(options.resumes ? [206...206, 416...416] : [])
                return try await FileDownload.run(
                    prepared.request, to: destination, options: options, progress: progress
                ) { [self] asked throws(RequestFailure) in
                    log.sends(asked)
                    let hops = hops(prepared, in: environment)
                    let response = try await HTTPExchange(codecs: configuration.codecs, digest: hops.digest).send(
                        asked, through: hops.transport, redirects: prepared.redirects, expected: expected,
                        errorModel: request.errorModel ?? configuration.errorModel)
                    log.received(response, to: asked)
                    return response.transportResponse
                }
            } catch {
                log.failed(error, sent, request)
                throw error
            }
        }
    }
}

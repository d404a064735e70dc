import ServiceEssentials

/// Keeps one request in an outbox, and prints the identifier of its entry. Nothing is sent.
struct OutboxExchange: Exchange {
    private let request: DataRequest
    private let service: HTTPDataRequestService
    private let environment: EnvironmentSnapshot
    private let directory: String

    let temporaryPath: String? = nil

    /// - Parameters:
    ///   - request: The request with its expected statuses.
    ///   - service: The service. It sends nothing, and is shut down.
    ///   - directory: The directory of the outbox.
    ///   - environment: The environment of the request.
    init(
        _ request: DataRequest, over service: HTTPDataRequestService, directory: String,
        in environment: EnvironmentSnapshot
    ) {
        var request = request
        // These belong to the one who sends the request.
        request.redirects = nil
        request.uploadProgress = nil
        (self.request, self.service, self.directory, self.environment) = (request, service, directory, environment)
    }

    /// - Throws: The failures of `Outbox.add`.
    func run() async throws(RequestFailure) {
        let outbox = try Outbox(
            directory: directory, requests: service, environment: ConstantEnvironment(environment))
        outbox.pause()
        let result: Result<OutboxEntry.ID, RequestFailure>
        do throws(RequestFailure) {
            result = .success(try await outbox.add(request))
        } catch {
            result = .failure(error)
        }
        await outbox.close()
        await service.shutdown()
        try StandardStream.output.write("\(result.get())\n")
    }
}

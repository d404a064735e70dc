import ServiceEssentials

/// Fetches one JSON document from a cache of models, from the server, or from both, and prints each one that is found.
struct ModelExchange: Exchange {
    /// The service of the request and of the cache.
    struct Documents: FetchingService, ModelCaching {
        let requests: any DataRequestService
        let cache: any AsyncCache
        let partition: EntityPartition
        let environmentName: String
        let fetchDefaults: FetchDefaults
    }

    private let request: DataRequest
    private let source: FetchSource
    private let service: HTTPDataRequestService
    private let cache: ModelCache
    private let documents: Documents
    private let problems = CacheProblemLog()
    private let output: OutputOptions

    let temporaryPath: String? = nil

    /// - Parameters:
    ///   - request: The request with its expected statuses.
    ///   - source: Which of cache and server is asked.
    ///   - service: The service. It is shut down after the exchange, together with the transport.
    ///   - directory: The directory of the cache.
    ///   - partition: Whose documents these are.
    ///   - environment: The environment of the request.
    ///   - maximumBody: The maximum size of the body in bytes; `nil` means 64 MiB.
    init(
        _ request: DataRequest, from source: FetchSource, over service: HTTPDataRequestService, directory: String,
        partition: EntityPartition, in environment: EnvironmentSnapshot, maximumBody: Int?, output: OutputOptions
    ) throws(RequestFailure) {
        var request = request
        request.codecs = try JSONDocument.codecs()
        request.options.delivery = .collected(upTo: maximumBody ?? 64 << 20)
        (self.request, self.source, self.service, self.output) = (request, source, service, output)
        cache = try ModelCache(directory: directory)
        documents = Documents(
            requests: service, cache: cache, partition: partition,
            environmentName: "\(environment.name) \(environment.baseURL)",
            fetchDefaults: FetchDefaults(source: source, cacheProblems: problems))
    }

    /// - Throws: `emptyBody` if only the cache is asked and has no document, and any failure of the request that no cached
    ///   document covers.
    func run() async throws(RequestFailure) {
        var failure: RequestFailure?
        do throws(RequestFailure) {
            try await printDocuments()
        } catch {
            failure = error
        }
        await cache.flush()
        warnOfProblems()
        await service.shutdown()
        if let failure { throw failure }
    }

    private func printDocuments() async throws(RequestFailure) {
        var count = 0
        do throws(RequestFailure) {
            for try await emission in documents.fetch(request, as: JSONDocument.self) {
                count += 1
                try print(emission)
            }
        } catch {
            try printBody(of: error)
            throw error
        }
        guard count == 0, source == .cache else { return }
        throw RequestFailure(
            .emptyBody, "The cache has no document of this request.",
            remedy: "Send the request once with another --source.")
    }

    private func print(_ emission: Emission<JSONDocument>) throws(RequestFailure) {
        if StandardStream.isOutputMidLine { try StandardStream.output.write("\n") }
        if output.includesHead {
            try StandardStream.output.write(EmissionLine.text(of: emission) + "\n")
        } else if emission.failure != nil, !output.isSilent {
            StandardStream.error.printLine("warning: the document is not new; " + EmissionLine.text(of: emission))
        }
        try print(emission.value.text, type: "application/json")
    }

    /// Prints the body of a response with an unexpected status, as without a cache.
    private func printBody(of failure: RequestFailure) throws(RequestFailure) {
        guard failure.reason == .status, !output.hidesUnexpectedBody, let response = failure.response else { return }
        if StandardStream.isOutputMidLine { try StandardStream.output.write("\n") }
        try print(
            String(decoding: response.body, as: UTF8.self), type: response.head.headerFields[.contentType])
    }

    private func print(_ text: String, type: String?) throws(RequestFailure) {
        var printer = BodyPrinter(output.bodyStyle, type: type)
        var bytes = text
        try bytes.withUTF8 { buffer in
            Result { () throws(RequestFailure) in try printer.print(UnsafeRawBufferPointer(buffer)) }
        }.get()
        try printer.end()
    }

    /// A cache that fails ends no fetch, but the next one will miss the document.
    private func warnOfProblems() {
        guard !output.isSilent, let problem = cache.problems.last ?? problems.current.last else { return }
        StandardStream.endLine()
        StandardStream.error.printLine("warning: " + OneLine.text("the model cache failed: \(problem)"))
    }
}

/// The line that `--include` prints before a document.
enum EmissionLine {
    /// `source: cache, age: 12.3 s`, and the failure that the document covers.
    static func text<Value>(of emission: Emission<Value>) -> String {
        let age = emission.age.map { BenchReport.decimal($0 / .seconds(1), 1) + " s" } ?? "unknown"
        let failure = emission.failure.map { ", failure: " + FailurePrinter.text(of: $0) } ?? ""
        return "source: \(emission.source), age: \(age)\(failure)"
    }
}

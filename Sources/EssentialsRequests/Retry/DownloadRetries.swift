import EssentialsHTTP
import EssentialsTools

/// Resumes a download whose body has failed, under the retry policy of its request.
///
/// The chain retries a request until the head of its response has come. A download with the option `resumes` is also
/// retried after that, from the byte that it has reached.
final class DownloadRetries: Sendable {
    private struct State {
        var progress = RetryProgress()
        var attempt: RepeatedAttempts.Attempt
    }

    private let chain: Chain
    private let makeRecord: @Sendable (TransportRequest) -> ExchangeRecord
    private let deadline: SharedDeadline
    private let request: TransportRequest
    private let expectation: FileDownload.Expectation?
    /// `nil` if nothing is retried.
    private let state: Mutex<State?>

    /// - Parameters:
    ///   - chain: The chain that sends the requests.
    ///   - request: The prepared request of the download.
    ///   - rules: The rules of the request. Without a retry policy, nothing is retried.
    ///   - expectation: Which statuses are saved; `nil` for the usual ones.
    ///   - clock: Measures the total deadline over all attempts.
    ///   - makeRecord: Makes the record of one request.
    init(
        _ chain: Chain, _ request: TransportRequest, _ rules: ExchangeRules,
        expecting expectation: FileDownload.Expectation?, clock: RequestClock,
        makeRecord: @escaping @Sendable (TransportRequest) -> ExchangeRecord
    ) {
        self.chain = chain
        self.makeRecord = makeRecord
        deadline = rules.hop(request).retries == nil ? .none : SharedDeadline(of: request, clock: clock.clock)
        self.request = request
        self.expectation = expectation
        state = Mutex(rules.hop(request).retries.map { State(attempt: RepeatedAttempts.Attempt($0, request, rules)) })
    }

    /// Downloads a response through the chain; see `Transport.download`.
    func download(
        _ request: TransportRequest, to destination: String, options: DownloadOptions, progress: ProgressReport?,
        _ reporter: RequestReporter
    ) async throws(RequestFailure) -> DownloadedFile {
        do throws(RequestFailure) {
            return try await FileDownload.run(
                request, to: destination, options: options, progress: progress, expecting: expectation,
                retry: { [self] failure throws(RequestFailure) in try await hasNextAttempt(after: failure, reporter) }
            ) { [self] request throws(RequestFailure) in try await send(request, reporter) }
        } catch {
            throw completed(error)
        }
    }

    /// Sends a request through the chain, and counts its retries for the whole download.
    private func send(
        _ request: TransportRequest, _ reporter: RequestReporter
    ) async throws(RequestFailure) -> TransportResponse {
        guard let progress = state.withLock({ $0?.progress }) else {
            return try await chain.send(makeRecord(request), reporter).transportResponse
        }
        let limited =
            progress.count == 0
            ? request
            : try deadline.limited(request, between: "two attempts", after: "\(progress.count) attempts had failed")
        let record = makeRecord(limited)
        record.retries = progress
        defer { state.withLock { $0?.progress = record.retries } }
        return try await chain.send(record, reporter).transportResponse
    }

    /// Waits for the next attempt after a failure of the body. Returns `false` if there is none.
    ///
    /// - Throws: `cancelled`, or the failure with a remark.
    private func hasNextAttempt(
        after failure: RequestFailure, _ reporter: RequestReporter
    ) async throws(RequestFailure) -> Bool {
        guard let current = state.withLock({ $0 }) else { return false }
        let record = makeRecord(request)
        record.retries = current.progress
        record.deadline = deadline
        record.reporter = reporter
        var result = Result<TransportResponse, RequestFailure>.failure(failure)
        guard let next = try await chain.attempts.following(current.attempt, of: request, after: &result, record)
        else {
            return false
        }
        state.withLock { $0 = State(progress: record.retries, attempt: next) }
        return true
    }

    /// The failure of the download, with its attempts.
    private func completed(_ failure: RequestFailure) -> RequestFailure {
        state.withLock { $0?.progress }?.completed(failure) ?? failure
    }
}

import EssentialsHTTP

/// The exchange of a group of equal requests.
struct SharedExchange {
    /// The exchange's own record, because the record of each request stays in the task of the request.
    let record: ExchangeRecord

    /// Sends the request.
    ///
    /// - Parameters:
    ///   - next: The stages that the group shares.
    ///   - clock: Measures whether the deadline of the request has passed.
    @inline(__always)  // The task of the exchange needs one frame less.
    func run(over next: RemainingStages, _ clock: RequestClock) async -> SharedOutcome {
        let request = record.request
        // Most requests have no deadline.
        let start = request.options.totalTimeout == nil ? .zero : clock.now
        do throws(RequestFailure) {
            let response = try await next.send(request, record)
            return SharedOutcome(.success(response), record, endedByDeadline: false)
        } catch {
            var isOver = false
            if error.reason == .timeout, let total = request.options.totalTimeout {
                isOver = clock.now - start >= total - Self.tolerance
            }
            return SharedOutcome(.failure(error), record, endedByDeadline: isOver)
        }
    }

    /// How much earlier than this clock the transport may notice that the deadline has passed.
    static let tolerance = Duration.milliseconds(20)
}

/// The outcome of an exchange, and its effects on the record of each request that shares it.
final class SharedOutcome: Sendable {
    let result: Result<TransportResponse, RequestFailure>
    /// Whether the exchange has ended because the time of the request that leads the group was over.
    let endedByDeadline: Bool

    private let hops: [RedirectHop]
    /// The request of the last hop; `nil` if it is the prepared request.
    private let lastRequest: TransportRequest?
    private let hasLeftOrigin: Bool
    private let attempts: Int
    private let sentFields: HTTPFields
    private let retries: RetryProgress
    private let wasSentAgainForToken: Bool
    private let isFromCache: Bool
    private let cacheFacts: CacheFacts?
    private let failedResponse: TransportResponse?
    private let remedy: String?

    init(_ result: Result<TransportResponse, RequestFailure>, _ record: ExchangeRecord, endedByDeadline: Bool) {
        self.result = result
        self.endedByDeadline = endedByDeadline
        hops = record.hops
        lastRequest = record.hops.isEmpty ? nil : record.lastRequest
        hasLeftOrigin = record.hasLeftOrigin
        attempts = record.attempts
        sentFields = record.sentFields
        retries = record.retries
        wasSentAgainForToken = record.wasSentAgainForToken
        isFromCache = record.isFromCache
        cacheFacts = record.cacheFacts
        failedResponse = record.failedResponse
        remedy = record.remedy
    }

    /// Copies what the exchange has recorded, as if the request had been sent by itself.
    func apply(to record: ExchangeRecord) {
        record.hops = hops
        if let lastRequest { record.lastRequest = lastRequest }
        record.hasLeftOrigin = hasLeftOrigin
        record.attempts = attempts
        record.sentFields = sentFields
        record.retries = retries
        record.wasSentAgainForToken = wasSentAgainForToken
        record.isFromCache = isFromCache
        record.cacheFacts = cacheFacts
        if let failedResponse { record.keep(failedResponse) }
        record.remedy = remedy
    }
}

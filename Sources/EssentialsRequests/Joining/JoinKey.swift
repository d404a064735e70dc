import EssentialsHTTP
import EssentialsTools

/// All that makes requests to one URL equal, so that they can share a response.
///
/// Deadlines and priorities make no difference: a shared exchange has the highest priority of its requests. Everything
/// else does if it can change the response, the parts of it that the caller may see, or whether the request may be sent.
///
/// It is an object, because it is large and several tables hold it. It also contains the wait of its request, which is no
/// part of what is compared.
final class JoinKey: Sendable {
    private let method: HTTPRequest.Method
    private let headerFields: HTTPFields
    private let options: TransportOptions
    /// The environment, for whose servers interceptors sign.
    private let environment: EnvironmentSnapshot?
    /// For whom the request is sent.
    private let scope: CredentialScope?
    private let hop: HopRules
    /// The rules at the environment's origin, if the environment has settings.
    private let ownOrigin: HopRules?
    /// The statuses that the request declares as a success although its policies would retry them.
    private let unretried: [Int]
    private let isIdempotent: Bool?
    private let usesCookies: Bool
    private let redirects: RedirectPolicy
    private let cachePolicy: CachePolicy
    /// What interceptors see of the request when they receive its outcome; `nil` without interceptors.
    private let judgement: Judgement?
    /// The wait of the request for the outcome of its group.
    let wait = Mutex(Wait.ahead)

    private struct Judgement: Sendable, Hashable {
        let expectation: [ClosedRange<Int>]
        let errorModel: ObjectIdentifier?
    }

    /// Creates the key of a request; `nil` if it can share its response with no other.
    ///
    /// - Parameter isJudged: Whether interceptors receive the outcome.
    init?(_ request: TransportRequest, _ record: ExchangeRecord, isJudged: Bool) {
        guard request.method == .get || request.method == .head, request.body.isEmpty,
            case .collected = request.options.delivery, !request.headerFields.contains(.range),
            // The progress belongs to one request.
            record.rules.downloadProgress == nil,
            // Two closures cannot be compared.
            record.rules.redirects.decide == nil,
            // A request of a token provider goes out without a token, and must not wait for requests that wait for it.
            record.rules.tokens?.source.isCalledHere != true
        else { return nil }
        if isJudged {
            guard let expectation = record.rules.expectedStatus.ranges else { return nil }
            judgement = Judgement(
                expectation: expectation, errorModel: record.rules.errorModel.map { ObjectIdentifier($0) })
        } else {
            judgement = nil
        }
        method = request.method
        headerFields = request.headerFields.withoutTraces
        var options = request.options
        options.totalTimeout = nil
        options.priority = .normal
        self.options = options
        environment = record.environment
        scope = record.submission.scope
        hop = record.rules.everywhere
        ownOrigin = record.rules.ownOrigin?.rules
        unretried = record.rules.unretriedStatuses
        isIdempotent = record.rules.isIdempotent
        usesCookies = record.rules.usesCookies
        redirects = record.rules.redirects
        cachePolicy = record.rules.cachePolicy
    }
}

extension JoinKey: Hashable {
    static func == (one: JoinKey, other: JoinKey) -> Bool {
        one.method == other.method && one.headerFields == other.headerFields && one.options == other.options
            && one.environment == other.environment && one.scope === other.scope
            && one.hop == other.hop && one.ownOrigin == other.ownOrigin && one.unretried == other.unretried
            && one.isIdempotent == other.isIdempotent
            && one.usesCookies == other.usesCookies && one.judgement == other.judgement
            && one.cachePolicy == other.cachePolicy && one.redirects.isSame(as: other.redirects)
    }

    /// The rest differs so seldom among requests to one URL that hashing it would take longer than comparing it.
    func hash(into hasher: inout Hasher) {
        hasher.combine(method)
        hasher.combine(headerFields)
    }
}

extension ExchangeRules {
    /// The statuses that are not retried only because the request declares them. Most requests declare none.
    fileprivate var unretriedStatuses: [Int] {
        guard !expectedStatus.isStandard else { return [] }
        let policies = [everywhere, ownOrigin?.rules].compactMap { $0?.retries?.policy }
        guard !policies.isEmpty else { return [] }
        return (400...999).filter { status in
            expectedStatus.declares(status) && policies.contains { $0.concerns(status) }
        }
    }
}

extension HTTPFields {
    /// The fields that only connect the records of several programs about the same request.
    private static let traceNames = Set(
        [
            "traceparent", "tracestate", "baggage", "b3", "X-B3-TraceId", "X-B3-SpanId", "X-B3-ParentSpanId",
            "X-B3-Sampled", "X-B3-Flags", "X-Request-ID", "X-Correlation-ID", "X-Amzn-Trace-Id",
            "X-Cloud-Trace-Context", "uber-trace-id",
        ].compactMap { HTTPField.Name($0) })

    /// The fields without those that differ in each request and change no response.
    fileprivate var withoutTraces: HTTPFields {
        guard contains(where: { Self.isTrace($0.name) }) else { return self }
        return HTTPFields(filter { !Self.isTrace($0.name) })
    }

    /// Whether a field only connects records about a request.
    static func isTrace(_ name: HTTPField.Name) -> Bool {
        // Most other names begin differently, and are not hashed.
        switch name.canonicalName.utf8.first {
        case UInt8(ascii: "b"), UInt8(ascii: "t"), UInt8(ascii: "u"), UInt8(ascii: "x"): traceNames.contains(name)
        default: false
        }
    }
}

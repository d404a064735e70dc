import EssentialsHTTP

/// What belongs to one request and travels beside it through the chain. Stages keep nothing about a request.
///
/// A record is not sendable: it stays with the task that sends its request.
final class ExchangeRecord {
    /// The request's number, the same in all of its log messages.
    let number: UInt64
    /// Ends the request from outside. Every stage registers here what it waits for.
    let cancellation: Cancellation
    /// The environment that the request was submitted to; `nil` for requests to full URLs.
    let environment: EnvironmentSnapshot?
    /// The rules that the preparation of the request has made for the stages.
    let rules: ExchangeRules

    /// The total deadline, which begins to count when the prepared request enters the chain.
    var deadline = SharedDeadline.none
    /// The redirects that were followed, oldest first.
    var hops: [RedirectHop] = []
    /// The request of the last hop: after redirects another one than the prepared request.
    var lastRequest: TransportRequest
    /// Whether a redirect has led to another origin. Another server then chooses where the chain leads, so credentials
    /// and signatures end there, even if a later redirect returns.
    var hasLeftOrigin = false
    /// How often the request was handed to the transport, counted over all hops.
    var attempts = 0
    /// What a stage suggests to do about an unexpected status.
    var remedy: String?

    init(
        _ request: TransportRequest, _ rules: ExchangeRules, number: UInt64, environment: EnvironmentSnapshot?,
        cancellation: Cancellation
    ) {
        self.number = number
        self.cancellation = cancellation
        self.environment = environment
        self.rules = rules
        lastRequest = request
    }
}

/// What the stages need to know about a request beside the request itself.
struct ExchangeRules: Sendable {
    /// The statuses that are a success.
    var expectedStatus: StatusExpectation
    /// The model for the bodies of other responses.
    var errorModel: (any (Decodable & Sendable).Type)?
    /// Which redirects are followed.
    var redirects: RedirectPolicy
    /// The body of the first hop without the reporting of progress, which makes a stream of bytes.
    var body = RequestBody.none
    /// Answers the server's challenges, if the credentials are for Digest.
    var digest: DigestSession?
}

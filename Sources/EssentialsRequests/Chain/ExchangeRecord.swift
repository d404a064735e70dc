import EssentialsHTTP

/// The state of one request, which accompanies it through the chain. Stages themselves store nothing about a request.
///
/// A record is not `Sendable`, because it stays in the task that sends its request.
final class ExchangeRecord {
    /// Identifies the request in its log messages.
    let id: RequestID
    /// Ends the request from outside. Every stage registers its waits here.
    let cancellation: Cancellation
    /// The environment that the request was submitted to; `nil` for requests to full URLs and to foreign servers.
    let environment: EnvironmentSnapshot?
    /// What was fixed when the request was submitted.
    let submission: Submission
    /// The prepared request.
    let request: TransportRequest
    /// The rules for the stages, which come from the preparation of the request.
    let rules: ExchangeRules

    /// The total deadline, which starts when the prepared request reaches the redirect stage.
    var deadline = SharedDeadline.none
    /// The redirects that were followed, oldest first.
    var hops: [RedirectHop] = []
    /// The request of the last hop after a redirect; `nil` before the first one.
    private var following: TransportRequest?
    /// Whether a redirect has led to another origin. Another server has then chosen the later hops, so they get no
    /// credentials and no signatures, even if a redirect leads back.
    var hasLeftOrigin = false
    /// Whether the request was sent again because a server had refused its access token. This happens only once.
    var wasSentAgainForToken = false
    /// How many times a request was passed to the transport, over all hops, challenges and retries.
    var attempts = 0
    /// The header fields of the last attempt, as the transport received them; empty before the first one.
    var sentFields = HTTPFields()
    /// The retries over all hops.
    var retries = RetryProgress()
    /// Where the stages report what they do.
    var reporter = RequestReporter.none
    /// Whether the response of the current hop comes from the response cache, which sets this. It is `false` when a hop
    /// begins.
    var isFromCache = false
    /// What the response cache says about the response of the current hop; `nil` if it says nothing.
    var cacheFacts: CacheFacts?
    /// What is kept for all hops of a request for bound content; `nil` before its first one.
    var bound: BoundExchange?
    /// Where the moment of the last attempt is noted; `nil` if the response cache does not need it.
    var attemptTime: AttemptTime?
    /// Whether an interceptor has signed an attempt.
    var wasSigned = false
    /// Begins a hop.
    func beginHop() {
        isFromCache = false
        cacheFacts = nil
    }

    /// The response that ended the request with a failure, without its body; `nil` if there was none.
    private(set) var failedResponse: TransportResponse?
    /// A stage's suggestion for an unexpected status; `nil` if there is none.
    var remedy: String?

    init(
        _ request: consuming TransportRequest, _ rules: consuming ExchangeRules, id: RequestID,
        environment: EnvironmentSnapshot?, submission: Submission = .open, cancellation: Cancellation
    ) {
        // Marked here, so that no stage has to copy the request for it.
        request.unwantedBodies = rules.unwantedBodies
        self.id = id
        self.cancellation = cancellation
        self.environment = environment
        self.submission = submission
        self.rules = rules
        self.request = request
    }

    /// The request of the last hop. It differs from the prepared request after a redirect.
    var lastRequest: TransportRequest {
        get { following ?? request }
        set { following = newValue }
    }
    /// The URL of the last hop.
    var lastURL: RequestURL { following?.url ?? request.url }

    /// Keeps the head of a response for the log, because a failure does not contain its metrics.
    func keep(_ response: TransportResponse) { failedResponse = response.withoutBody }
}

/// When an attempt was passed to the transport. It is an object, because few requests have it.
final class AttemptTime {
    /// `nil` before the attempt.
    var moment: CacheMoment?
}

/// What is fixed when a request is submitted, whatever changes while it runs.
struct Submission: Sendable {
    /// When the request began. What was cleared after that is not set again by its response.
    let begun: Epoch
    /// For whom the request is sent; `nil` for a request without credentials of its service.
    let scope: CredentialScope?

    /// The submission of a request without credentials that begins now.
    static var open: Submission { Submission(begun: .now, scope: nil) }

    /// Whether the credentials were cleared or replaced since.
    var hasEnded: Bool { scope?.hasEnded ?? false }

    /// Whether credentials were set after the request, which has none, was submitted. The cookies since then can be those
    /// of another session.
    var isFollowed: Bool { scope.map { !$0.hasCredentials && !$0.isCurrent } ?? false }

    /// Whether a response may be stored. It may not after the credentials of the request have ended, nor if credentials were
    /// set after a request without any was submitted: its response may have the cookies of another session.
    var mayStore: Bool { !hasEnded && !isFollowed }

    /// Refuses to send the request if its scope has ended.
    func check(_ request: TransportRequest) throws(RequestFailure) {
        if hasEnded { throw CredentialScope.endedFailure(host: request.hostText) }
    }
}

/// The rules by which the stages send one request.
struct ExchangeRules: Sendable {
    /// The statuses that are a success.
    var expectedStatus: StatusExpectation
    /// The model type for the bodies of other responses; `nil` means that they are not decoded.
    var errorModel: (any (Decodable & Sendable).Type)?
    /// The codecs that decode the error model.
    var codecs = CodecRegistry.standard
    /// Which redirects are followed.
    var redirects: RedirectPolicy
    /// The body of the first hop without progress reporting, which turns bytes into a stream.
    var body = RequestBody.none
    /// Receives the progress of a collected response; `nil` if nobody does.
    var downloadProgress: ProgressReport?
    /// The rules for each hop.
    var everywhere = HopRules.empty
    /// The rules for hops to the environment's origin; `nil` if the environment has no settings of its own.
    var ownOrigin: OwnOriginRules?
    /// Whether the server may process the request twice; `nil` means that the method decides.
    var isIdempotent: Bool?
    /// Whether cookies are sent and stored, if there is a storage for them.
    var usesCookies = true
    /// Whether the request shares its exchange with equal requests.
    var joins = false
    /// How the request uses the response cache, if there is one.
    var cachePolicy = CachePolicy.standard
    /// What the request looks for in a response cache that it brings along; `nil` means that it uses that of the service.
    var boundContent: BoundContent?
    /// Answers the server's challenges; `nil` unless the credentials are for Digest.
    var digest: DigestSession?
    /// Provides the access tokens; `nil` unless the credentials have a token provider.
    var tokens: TokenSession?

    /// The bodies that stages may leave unread. A marked body that is delivered nevertheless is collected by the redirect
    /// stage.
    var unwantedBodies: UnwantedBodies {
        var bodies: UnwantedBodies = redirects.limit == nil ? [] : .ofRedirects
        if has({ $0.retries != nil }) { bodies.insert(.ofRetries) }
        if tokens != nil || digest != nil { bodies.insert(.ofChallenges) }
        return bodies
    }
}

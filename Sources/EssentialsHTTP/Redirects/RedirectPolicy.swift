/// Which redirects are followed, and how many.
///
/// ```swift
/// var policy = RedirectPolicy.limit(3)
/// policy.sensitiveFields.insert(apiKeyName)         // goes to no other origin
///
/// let inside = RedirectPolicy.deciding { proposal in
///     proposal.hop.leavesOrigin ? .refuse("This API redirects inside its own origin only.") : .follow
/// }
/// ```
///
/// The policy follows 301, 302, 303, 307 and 308 with a `Location` field (RFC 9110, 15.4). An empty `Location` is the
/// same URL. POST becomes GET after 301 and 302, every method but HEAD becomes GET after 303, and the body is then
/// dropped. After 307 and 308 the body is sent again (RFC 9110, 15.4.8 and 15.4.9); if an interceptor of a service has
/// changed it, a redirect to another origin is refused instead.
///
/// A redirect to another origin drops credentials and every field whose name indicates a secret (see
/// ``sensitiveFields``). A redirect from `https` to `http` is refused; see ``allowsDowngrade``.
public struct RedirectPolicy: Sendable {
    /// Decides about a redirect before it is followed. It is called once for each redirect, on the task that sends the
    /// request.
    ///
    /// An error that it throws ends the request: a `RequestFailure` unchanged, and any other error as the underlying
    /// error of `redirectRefused`.
    public typealias Decide = @Sendable (RedirectProposal) throws -> RedirectDecision

    /// The maximum number of redirects; `nil` if redirects are returned to the caller.
    package let limit: Int?
    package let decide: Decide?

    /// Whether a redirect from `https` to `http` is followed. The default is `false`: it fails with `redirectRefused`.
    public var allowsDowngrade = false

    /// Fields that are not sent to another origin. They are not added again if a later redirect returns to the first
    /// origin. The default is empty.
    ///
    /// Two kinds of fields are always dropped at another origin (RFC 9110, 15.4, item 2):
    ///
    /// - `Authorization`, `Cookie`, `Cookie2`, `Proxy-Authorization`, the fields of authentication responses (such as
    ///   `WWW-Authenticate`), `Host` and `Referer`;
    /// - fields whose name indicates a secret by its words, such as `X-Api-Key`, `X-Auth-Token`, `X-Csrf-Token`,
    ///   `X-Signature`, `X-Session-Id`, `X-Otp` and `X-Access-Code`, unless ``sharedFields`` contains them. `Idempotency-Key`,
    ///   `Surrogate-Key` and `Sec-WebSocket-Key` are not secrets.
    ///
    /// A redirect within the origin keeps every field.
    public var sensitiveFields: Set<HTTPField.Name> = []

    /// Fields that are sent to other origins although their names indicate a secret. The default is empty.
    ///
    /// Fields in ``sensitiveFields``, and the first kind of fields described there, are dropped in any case.
    public var sharedFields: Set<HTTPField.Name> = []

    /// Whether the body is not sent to another origin, because it may contain data for the first origin only.
    package var keepsBodyInOrigin = false

    private init(limit: Int?, decide: Decide? = nil) {
        self.limit = limit.map { max(0, $0) }
        self.decide = decide
    }

    /// Follows no redirects. A 3xx response is returned unchanged.
    public static let refused = RedirectPolicy(limit: nil)

    /// Follows up to 10 redirects.
    public static let standard = RedirectPolicy.limit(10)

    /// Follows at most this many redirects. One more fails with `redirectLimit`. A limit of 0 or less fails at the
    /// first redirect.
    public static func limit(_ count: Int) -> RedirectPolicy { RedirectPolicy(limit: count) }

    /// Follows at most this many redirects, and only those that the closure accepts.
    ///
    /// The closure is called after the policy's own checks. It receives no redirect that exceeds the limit, and none
    /// from `https` to `http` unless ``allowsDowngrade`` is set. It is called before the check whether the body can be
    /// sent again, so it can stop such a redirect.
    public static func deciding(limit: Int = 10, _ decide: @escaping Decide) -> RedirectPolicy {
        RedirectPolicy(limit: limit, decide: decide)
    }
}

/// A redirect that a ``RedirectPolicy``'s closure decides about.
///
/// ```swift
/// RedirectPolicy.deciding { proposal in proposal.request.body.isReplayable ? .follow : .stop }
/// ```
public struct RedirectProposal: Sendable {
    /// The source and the target of the redirect.
    public let hop: RedirectHop
    /// The request to send next, without the fields that must not be sent there.
    public let request: TransportRequest
    /// The redirects that were followed before this one, the oldest first.
    public let history: [RedirectHop]

    /// Creates a proposal to test a closure.
    public init(hop: RedirectHop, request: TransportRequest, history: [RedirectHop] = []) {
        self.hop = hop
        self.request = request
        self.history = history
    }
}

/// The decision of a ``RedirectPolicy``'s closure about a redirect.
///
/// ```swift
/// RedirectPolicy.deciding { $0.hop.to.origin.host == trusted ? .follow : .stop }
/// ```
public enum RedirectDecision: Sendable, Hashable {
    /// Follow the redirect with the proposed request.
    case follow
    /// Do not follow the redirect. The 3xx response is returned.
    case stop
    /// End the request with `redirectRefused`. The text is part of the failure's message, so it must not contain
    /// secrets.
    case refuse(String)
}

/// Which redirects are followed, and how far.
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
/// Followed are 301, 302, 303, 307 and 308 with a `Location` (RFC 9110, 15.4); an empty one is the same URL. POST becomes
/// GET after 301 and 302, everything but HEAD after 303, and the body is left behind then. A redirect to another origin
/// takes no credentials along, nor any field that sounds like a secret (see ``sensitiveFields``), and one from `https` to
/// `http` is refused. The body goes along after 307 and 308 (RFC 9110, 15.4.8 and 15.4.9), unless an interceptor of a
/// service has changed it.
public struct RedirectPolicy: Sendable {
    /// Looks at a redirect before it is followed. Called on the task that sends, once per redirect.
    ///
    /// What it throws ends the request: a `RequestFailure` as it is, anything else as `redirectRefused` with that error
    /// below it.
    public typealias Decide = @Sendable (RedirectProposal) throws -> RedirectDecision

    /// The most redirects to follow; nil when they are handed back.
    package let limit: Int?
    package let decide: Decide?

    /// Whether a redirect may lead from `https` to `http`. False: it is `redirectRefused`.
    public var allowsDowngrade = false

    /// Fields that go to no other origin, and do not come back when a later redirect returns to the first one.
    ///
    /// Two kinds of fields stay behind without being named here (RFC 9110, 15.4, item 2):
    ///
    /// - `Authorization`, `Cookie`, `Cookie2`, `Proxy-Authorization`, the fields of authentication responses
    ///   (`WWW-Authenticate` and its like), `Host` and `Referer`;
    /// - fields whose name sounds like that of a secret, by its words: `X-Api-Key`, `X-Auth-Token`, `X-Csrf-Token`,
    ///   `X-Signature`, `X-Session-Id`, `X-Otp` and their like, unless ``sharedFields`` names them. `Idempotency-Key`,
    ///   `Surrogate-Key` and `Sec-WebSocket-Key` are no secrets.
    ///
    /// A redirect within the origin keeps every field.
    public var sensitiveFields: Set<HTTPField.Name> = []

    /// Fields that go to other origins although their names sound like those of secrets. The default is none.
    ///
    /// Fields in ``sensitiveFields``, and fields of the first kind that is described there, stay behind in any case.
    public var sharedFields: Set<HTTPField.Name> = []

    /// Whether the body goes to no other origin, because it may hold what only the first one may see.
    package var keepsBodyInOrigin = false

    private init(limit: Int?, decide: Decide? = nil) {
        self.limit = limit.map { max(0, $0) }
        self.decide = decide
    }

    /// Follows nothing: a 3xx response is handed back as it came.
    public static let none = RedirectPolicy(limit: nil)

    /// Follows up to 10 redirects.
    public static let standard = RedirectPolicy.limit(10)

    /// Follows at most that many redirects; one more is `redirectLimit`. With 0 (or less) the first one is.
    public static func limit(_ count: Int) -> RedirectPolicy { RedirectPolicy(limit: count) }

    /// Follows at most that many redirects, each only when the closure says so.
    ///
    /// The closure is asked after the policy's own rules: it sees no redirect that is over the limit, or from `https` to
    /// `http` without ``allowsDowngrade``. What it may stop is a body that cannot be sent again.
    public static func deciding(limit: Int = 10, _ decide: @escaping Decide) -> RedirectPolicy {
        RedirectPolicy(limit: limit, decide: decide)
    }
}

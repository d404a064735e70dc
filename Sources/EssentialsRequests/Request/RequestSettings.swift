public import EssentialsHTTP
import EssentialsTools

/// How requests are sent: the same settings for one request, a definition, an environment and a service.
///
/// ```swift
/// var settings = RequestSettings()
/// settings.retry = .attempts(5)
/// let staging = EnvironmentSnapshot(name: "staging", baseURL: url, settings: settings)
///
/// request.retry = .never  // the same as request.settings.retry
/// ```
///
/// A setting that is `nil` is left to the next level. The request's own settings win, then those of its definition, its
/// environment and its service, in this order.
///
/// The settings of an environment are for its server. They apply to requests below its base URL, and to each redirect to
/// the origin of that URL. At another origin, ``retry``, ``limits`` and ``cookies`` are those of the request or the service.
/// A request keeps the settings of the environment that was current when it was submitted.
public struct RequestSettings: Sendable {
    private struct Values: Sendable {
        var retry: RetryPolicy?
        var redirects: RedirectPolicy?
        var limits: OriginLimits?
        var cookies: CookieChoice?
        var joins: Bool?
        var cachePolicy: CachePolicy?
        var isIdempotent: Bool?
        var idempotencyKey: IdempotencyKey?
        var finishesOnShutdown: Bool?

        var isEmpty: Bool {
            retry == nil && redirects == nil && limits == nil && cookies == nil && joins == nil && cachePolicy == nil
                && isIdempotent == nil && idempotencyKey == nil && finishesOnShutdown == nil
        }
    }

    /// `nil` if nothing is set. It is an object, because every request has settings and copies those of its environment.
    private var storage: Shared<Values>?
    private var values: Values {
        get { storage?.values ?? Values() }
        set { storage = newValue.isEmpty ? nil : Shared(newValue) }
    }

    /// Creates settings of which none is set.
    public init() {}

    /// Whether nothing is set.
    package var isEmpty: Bool { storage == nil }

    /// How a failed request is sent again. The service's default is `never`.
    public var retry: RetryPolicy? {
        get { storage?.values.retry }
        set { values.retry = newValue }
    }

    /// Which redirects are followed. The service's default is up to 10, without credentials for other origins.
    public var redirects: RedirectPolicy? {
        get { storage?.values.redirects }
        set { values.redirects = newValue }
    }

    /// The limits of each origin: concurrency, rate and circuit breaker; `OriginLimits()` means no limits, which is the
    /// service's default.
    ///
    /// Each service counts by itself, and different limits count separately. If two environments have the same origin and
    /// different limits, a switch between them begins with unused limits. The counts of 64 different limits are kept, so
    /// that a switch back finds a circuit as it was.
    public var limits: OriginLimits? {
        get { storage?.values.limits }
        set { values.limits = newValue }
    }

    /// Where cookies are stored and read; ``CookieChoice/off`` means no cookies, which is the service's default.
    ///
    /// A logout removes the cookies of the origin from the storages of the service, of its environment and of requests that
    /// had their own. A service remembers 64 storages, and forgets the one that it has known longest for a further one. It
    /// saves those at its shutdown. A program with more of them clears and saves them itself.
    public var cookies: CookieChoice? {
        get { storage?.values.cookies }
        set { values.cookies = newValue }
    }

    /// Whether a request shares an exchange with equal requests that run at the same time. The service's default is `false`.
    ///
    /// Both requests have to allow it. It has no effect on requests that never share, such as a POST, a streamed response
    /// and a download, nor if an interceptor of the service prevents joining.
    public var joins: Bool? {
        get { storage?.values.joins }
        set { values.joins = newValue }
    }

    /// How a request uses the response cache of its service, such as `.reload`. The service's default is `standard`. It has
    /// no effect in a service without a cache.
    public var cachePolicy: CachePolicy? {
        get { storage?.values.cachePolicy }
        set { values.cachePolicy = newValue }
    }

    /// Whether the server may process a request twice with the same effect as once. By default, the method decides
    /// (RFC 9110, 9.2.2).
    ///
    /// With `true`, a POST is retried like a PUT. With `false`, a request is never sent again if the server may have
    /// processed it, not even by the transport on a connection that the server has closed.
    public var isIdempotent: Bool? {
        get { storage?.values.isIdempotent }
        set { values.isIdempotent = newValue }
    }

    /// The key by which the server recognizes a request if it is sent again. By default, there is no key. With a key, a POST
    /// is retried like a PUT.
    ///
    /// A key of a definition's configuration, of an environment or of a service is sent with POST, PUT, PATCH and DELETE,
    /// and not with safe methods such as GET (RFC 9110, 9.2.1), which can be repeated anyway. There, `automatic` is the
    /// choice, because each request needs a key of its own.
    ///
    /// ```swift
    /// static var configuration: APIConfiguration {
    ///     var configuration = Parent.configuration
    ///     configuration.idempotencyKey = .automatic
    ///     return configuration
    /// }
    /// ```
    public var idempotencyKey: IdempotencyKey? {
        get { storage?.values.idempotencyKey }
        set { values.idempotencyKey = newValue }
    }

    /// Whether a graceful shutdown waits for a request. By default it does if the response is received as a whole, and does
    /// not if it is streamed or downloaded into a file, because that can be endless.
    public var finishesOnShutdown: Bool? {
        get { storage?.values.finishesOnShutdown }
        set { values.finishesOnShutdown = newValue }
    }
}

extension RequestSettings {
    /// These settings, completed by those of a more general level.
    ///
    /// ```swift
    /// request.settings = request.settings.merging(over: shared)
    /// ```
    public func merging(over general: RequestSettings) -> RequestSettings {
        guard let own = storage?.values else { return general }
        guard let other = general.storage?.values else { return self }
        var merged = RequestSettings()
        merged.values = Values(
            retry: own.retry ?? other.retry, redirects: own.redirects ?? other.redirects,
            limits: own.limits ?? other.limits, cookies: own.cookies ?? other.cookies, joins: own.joins ?? other.joins,
            cachePolicy: own.cachePolicy ?? other.cachePolicy,
            isIdempotent: own.isIdempotent ?? other.isIdempotent,
            idempotencyKey: own.idempotencyKey ?? other.idempotencyKey,
            finishesOnShutdown: own.finishesOnShutdown ?? other.finishesOnShutdown)
        return merged
    }

    /// The settings of a more general level for one of its requests: those with a safe method have no idempotency key.
    package func forRequests(with method: HTTPRequest.Method) -> RequestSettings {
        guard idempotencyKey != nil, method.isSafe else { return self }
        var settings = self
        settings.idempotencyKey = nil
        return settings
    }
}

extension RequestSettings: Hashable {
    /// Whether both have the same settings. Redirect policies with a closure are equal only in copies of one value.
    public static func == (one: RequestSettings, other: RequestSettings) -> Bool {
        if one.storage === other.storage { return true }
        guard let one = one.storage?.values, let other = other.storage?.values else { return false }
        return one.retry == other.retry && one.limits == other.limits && one.cookies == other.cookies
            && one.joins == other.joins && one.cachePolicy == other.cachePolicy
            && one.isIdempotent == other.isIdempotent
            && one.idempotencyKey == other.idempotencyKey && one.finishesOnShutdown == other.finishesOnShutdown
            && RedirectPolicy.areSame(one.redirects, other.redirects)
    }

    /// Hashes the settings that can be hashed.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(retry)
        hasher.combine(limits)
        hasher.combine(cookies)
        hasher.combine(joins)
        hasher.combine(isIdempotent)
    }
}

extension RedirectPolicy {
    /// Whether both policies follow the same redirects. It is `false` for policies with a closure.
    func isSame(as other: RedirectPolicy) -> Bool {
        decide == nil && other.decide == nil && limit == other.limit && allowsDowngrade == other.allowsDowngrade
            && sensitiveFields == other.sensitiveFields && sharedFields == other.sharedFields
            && keepsBodyInOrigin == other.keepsBodyInOrigin
    }

    fileprivate static func areSame(_ one: RedirectPolicy?, _ other: RedirectPolicy?) -> Bool {
        switch (one, other) {
        case (nil, nil): true
        case (let one?, let other?): one.isSame(as: other)
        default: false
        }
    }
}

extension RequestSettings: CustomReflectable {
    /// The settings that are set, for debuggers and `dump`.
    public var customMirror: Mirror {
        let all: [(String, Any?)] = [
            ("retry", retry), ("redirects", redirects), ("limits", limits), ("cookies", cookies), ("joins", joins),
            ("cachePolicy", cachePolicy),
            ("isIdempotent", isIdempotent),
            ("finishesOnShutdown", finishesOnShutdown),
        ]
        return Mirror(self, children: all.compactMap { name, value in value.map { (label: name, value: $0) } })
    }
}

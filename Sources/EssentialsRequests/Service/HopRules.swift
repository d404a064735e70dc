import EssentialsHTTP
import EssentialsTools

/// The settings that the stages of each hop use. Requests without settings of their own share those of their service.
///
/// It is an object, so that a request carries one reference.
final class HopRules: Sendable {
    /// `nil` if nothing is retried.
    let retries: HopRetries?
    /// `nil` for no limits.
    let limits: RequestLimits?
    /// `nil` for no cookies.
    let cookies: (any CookieStorage)?
    /// Whether there are cookies. Looking at the storage itself would copy it for every request.
    let hasCookies: Bool
    /// What identifies the storage of the cookies; `nil` for no cookies.
    var cookieChoice: CookieChoice? { hasCookies ? choice : nil }
    private let choice: CookieChoice?

    /// Without retries, limits and cookies.
    static let empty = HopRules(nil, nil, nil)

    init(_ retries: HopRetries?, _ limits: RequestLimits?, _ choice: CookieChoice?) {
        self.retries = retries
        self.limits = limits
        self.choice = choice
        cookies = choice?.storage
        hasCookies = cookies != nil
    }
}

extension HopRules: Equatable {
    /// Whether both have the same effect.
    static func == (one: HopRules, other: HopRules) -> Bool {
        one === other
            || one.retries == other.retries && one.limits === other.limits && one.choice == other.choice
    }
}

/// The rules for hops to the origin of a request's environment, which has settings of its own.
final class OwnOriginRules: Sendable {
    let origin: Origin
    let rules: HopRules

    init(_ origin: Origin, _ rules: HopRules) { (self.origin, self.rules) = (origin, rules) }
}

/// The rules for the hops of one service's requests: those of the service, and what requests and environments with settings
/// of their own have used.
final class HopRulesTable: Sendable {
    /// The maximum number of different limits, and of different choices of cookies. A further one replaces the oldest.
    static let maximum = 64

    private struct State {
        var limits: [(settings: OriginLimits, counts: RequestLimits)] = []
        /// With whether a request has chosen them itself.
        var cookies: [(choice: CookieChoice, isOfRequest: Bool)] = []
    }

    /// The rules of requests without settings of their own.
    let standard: HopRules
    private let settings: RequestSettings
    private let clock: RequestClock
    private let state = Mutex(State())

    /// - Parameter settings: Those of the service.
    init(_ settings: RequestSettings, clock: RequestClock) {
        self.settings = settings
        self.clock = clock
        let limits = settings.limits.flatMap { $0.isNone ? nil : RequestLimits($0, clock: clock) }
        standard = HopRules(settings.retry.flatMap(Self.retries), limits, settings.cookies)
    }

    /// The rules for hops of requests with these settings.
    ///
    /// - Parameter isOfRequest: Whether the request itself has the settings, and not only its environment.
    func rules(_ own: RequestSettings, isOfRequest: Bool) -> HopRules {
        guard !own.isEmpty else { return standard }
        let (retry, limits, cookies) = (own.retry, own.limits, own.cookies)
        guard retry != nil || limits != nil || cookies != nil else { return standard }
        return HopRules(
            retry.map(Self.retries) ?? standard.retries, counts(of: limits),
            cookies.map { remembered($0, isOfRequest) } ?? settings.cookies)
    }

    /// The counts of the limits of an environment, or else of the service; `nil` for no limits.
    func counts(of own: OriginLimits?) -> RequestLimits? {
        guard let own, own != settings.limits else { return standard.limits }
        guard !own.isNone else { return nil }
        return state.withLock { state in
            if let known = state.limits.first(where: { $0.settings == own }) { return known.counts }
            let counts = RequestLimits(own, clock: clock)
            if state.limits.count == Self.maximum { state.limits.removeFirst() }
            state.limits.append((own, counts))
            return counts
        }
    }

    /// The same choice, which is remembered for logouts and for the shutdown of the service.
    private func remembered(_ choice: CookieChoice, _ isOfRequest: Bool) -> CookieChoice {
        guard choice != .off else { return choice }
        state.withLock { state in
            if let known = state.cookies.firstIndex(where: { $0.choice == choice }) {
                if isOfRequest { state.cookies[known].isOfRequest = true }
                return
            }
            if state.cookies.count == Self.maximum { state.cookies.removeFirst() }
            state.cookies.append((choice, isOfRequest))
        }
        return choice
    }

    /// All cookies that requests of the service may have changed.
    var usedCookies: Set<CookieChoice> {
        Set(state.withLock { $0.cookies.map(\.choice) } + (settings.cookies.map { [$0] } ?? []))
    }

    /// The cookies that requests to an environment have used.
    func cookies(of environment: RequestSettings) -> Set<CookieChoice> {
        let ofRequests = state.withLock { $0.cookies.filter(\.isOfRequest).map(\.choice) }
        return Set(ofRequests + [settings.cookies, environment.cookies].compactMap(\.self))
    }

    private static func retries(_ policy: RetryPolicy) -> HopRetries? {
        policy.allowsRetries || policy.attemptTimeout != nil ? HopRetries(policy) : nil
    }
}

extension ExchangeRules {
    /// The rules for a hop.
    func hop(_ request: TransportRequest) -> HopRules {
        guard let ownOrigin, ownOrigin.origin == request.url.origin else { return everywhere }
        return ownOrigin.rules
    }

    /// Whether a rule of any hop has something.
    @inline(__always)
    func has(_ isPresent: (HopRules) -> Bool) -> Bool {
        isPresent(everywhere) || ownOrigin.map { isPresent($0.rules) } ?? false
    }
}

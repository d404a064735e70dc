import EssentialsHTTP
import EssentialsTools

/// What one service has for the stage settings of its environments: the counts of their limits, and their cookies.
final class EnvironmentStages: Sendable {
    /// The maximum number of different limits, and of different choices of cookies. A further one replaces the oldest.
    static let maximum = 64

    private struct State {
        var limits: [(settings: OriginLimits, counts: RequestLimits)] = []
        var cookies: [CookieChoice] = []
    }

    private let clock: RequestClock
    private let state = Mutex(State())

    init(clock: RequestClock) { self.clock = clock }

    /// The counts of limits, which are made at their first use; `nil` for no limits.
    func counts(of settings: OriginLimits) -> RequestLimits? {
        guard !settings.isNone else { return nil }
        return state.withLock { state in
            if let known = state.limits.first(where: { $0.settings == settings }) { return known.counts }
            let counts = RequestLimits(settings, clock: clock)
            if state.limits.count == Self.maximum { state.limits.removeFirst() }
            state.limits.append((settings, counts))
            return counts
        }
    }

    /// The storage of a choice; `nil` for no cookies. It is remembered for the shutdown of the service.
    func storage(of choice: CookieChoice) -> (any CookieStorage)? {
        guard let storage = choice.storage else { return nil }
        state.withLock { state in
            guard !state.cookies.contains(choice) else { return }
            if state.cookies.count == Self.maximum { state.cookies.removeFirst() }
            state.cookies.append(choice)
        }
        return storage
    }

    /// The storages that were used.
    var cookies: [CookieChoice] { state.withLock { $0.cookies } }
}

/// The settings for the hops of one request to the origin of its environment, instead of the settings of the service.
final class OwnOriginRules: Sendable {
    let origin: Origin
    /// The settings of the environment.
    let stages: StageSettings
    /// `nil` if nothing is retried.
    let retries: HopRetries?
    /// `nil` for no limits.
    let limits: RequestLimits?
    /// `nil` for no cookies.
    let cookies: (any CookieStorage)?

    /// - Parameters:
    ///   - request: The request, whose own settings win.
    ///   - environment: An environment with settings.
    ///   - settings: The settings of the service.
    init(_ request: DataRequest, in environment: EnvironmentSnapshot, _ settings: ServiceSettings) {
        origin = environment.baseURL.origin
        stages = environment.stages
        retries = settings.retries(request.retry ?? environment.stages.retry)
        limits = settings.limits(of: environment.stages)
        cookies = settings.cookies(of: environment.stages)
    }
}

extension ExchangeRules {
    /// The settings of the environment, if it has some and the hop goes to its origin.
    func own(_ request: TransportRequest) -> OwnOriginRules? {
        guard let ownOrigin, ownOrigin.origin == request.url.origin else { return nil }
        return ownOrigin
    }

    /// The retries of a hop; `nil` if it is not retried.
    func retries(of request: TransportRequest) -> HopRetries? {
        if let own = own(request) { own.retries } else { retries }
    }
}

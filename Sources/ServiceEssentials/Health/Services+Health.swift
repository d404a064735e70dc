public import EssentialsCurl
public import EssentialsFetching
public import EssentialsLocator
public import EssentialsReachability
public import EssentialsRequests
import EssentialsTransport

extension HTTPDataRequestService: HealthReporting {
    /// `failed` after a shutdown; `degraded` if a circuit breaker is open, or if a request has waited for a connection for ten
    /// seconds, or if pins have expired. The facts are the number of running requests, those that wait, and the date at which
    /// the first pins expire.
    public func health() async -> ServiceHealth {
        guard !isClosed else { return ServiceHealth(.failed, "It was shut down.") }
        var health = ServiceHealth(.ok, facts: ["requests": "\(requestsInFlight)"])
        if let load = await transportLoad { health.add(load) }
        health.add(pinExpiry)
        let open = (limits?.openOrigins ?? []).map(\.description).sorted()
        if let first = open.first {
            health.worsen("Circuit breakers are open: \(open.count), such as that of \(first).")
            health.facts["open breakers"] = "\(open.count)"
        }
        return health
    }
}

extension CurlTransport: HealthReporting {
    /// `degraded` if a request has waited for a connection for ten seconds, or if pins have expired.
    public func health() async -> ServiceHealth {
        var health = ServiceHealth(.ok)
        health.add(await load)
        health.add(trustPolicy.pinExpiry(by: .system))
        return health
    }
}

extension ReachabilityTracker: HealthReporting {
    /// `degraded` without a route.
    public func health() async -> ServiceHealth { ServiceHealth(reachable: isReachable()) }
}

extension EnvironmentReachability: HealthReporting {
    /// `degraded` without a route to the server of the environment.
    public func health() async -> ServiceHealth { ServiceHealth(reachable: isReachable()) }
}

extension Outbox: HealthReporting {
    /// `degraded` if entries were given up, and wait for the application's decision; `failed` if its directory cannot be opened,
    /// or after its end. The facts are the numbers of entries. The first call opens the outbox.
    public func health() async -> ServiceHealth {
        let entries: [OutboxEntry]
        do throws(RequestFailure) { entries = try await self.entries } catch {
            return ServiceHealth(.failed, error.message, facts: ["reason": error.reason.name])
        }
        let failed = entries.count { if case .failed = $0.state { true } else { false } }
        var health = ServiceHealth(.ok, facts: ["entries": "\(entries.count)"])
        if failed > 0 {
            health.worsen("Entries were given up: \(failed).")
            health.facts["given up"] = "\(failed)"
        }
        return health
    }
}

extension ServiceHealth {
    /// The longest wait for a connection that is no sign of an overload.
    private static let patience = Duration.seconds(10)

    fileprivate init(reachable isReachable: Bool) {
        self = isReachable ? ServiceHealth(.ok) : ServiceHealth(.degraded, "There is no route to the server.")
    }

    /// Adds that it works only in part.
    fileprivate mutating func worsen(_ text: String) {
        (status, message) = (max(status, .degraded), message.map { "\($0) \(text)" } ?? text)
    }

    fileprivate mutating func add(_ expiry: (date: String, isOver: Bool)?) {
        guard let expiry else { return }
        facts["pins expire"] = expiry.date
        guard expiry.isOver else { return }
        worsen("Pins have expired on \(expiry.date): they are not checked, or their hosts are refused.")
    }

    fileprivate mutating func add(_ load: TransportLoad) {
        facts["in flight"] = "\(load.inFlight)"
        facts["waiting"] = "\(load.waiting)"
        guard load.waiting > 0 else { return }
        facts["longest wait"] = "\(load.longestWait)"
        if load.longestWait > Self.patience { worsen("A request has waited for a connection for \(load.longestWait).") }
    }
}

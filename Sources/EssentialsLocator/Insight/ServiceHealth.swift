/// A service that says whether it works, for the health route of a server.
///
/// ```swift
/// extension JobQueue: HealthReporting {
///     public func health() async -> ServiceHealth {
///         let count = await waitingJobs
///         return ServiceHealth(count > 1_000 ? .degraded : .ok, facts: ["waiting": "\(count)"])
///     }
/// }
/// ```
public protocol HealthReporting: Sendable {
    /// Says how the service is at this moment, from what it knows, without asking others over the network.
    ///
    /// ``ServiceLocator/health(within:)`` calls it at any time, several times at once.
    func health() async -> ServiceHealth
}

/// How a service is.
public struct ServiceHealth: Sendable, Hashable, Codable {
    /// Whether a service works.
    public enum Status: String, Sendable, Hashable, Codable, Comparable {
        /// It works.
        case ok
        /// It works in part, or slowly, or has not said how it is.
        case degraded
        /// It does not work, so the program should receive no more work.
        case failed

        /// Orders the values from well to bad.
        public static func < (one: Status, other: Status) -> Bool { one.rank < other.rank }

        private var rank: Int {
            switch self {
            case .ok: 0
            case .degraded: 1
            case .failed: 2
            }
        }
    }

    /// Whether it works.
    public var status: Status
    /// What is wrong; `nil` if nothing is, or if the status says all.
    public var message: String?
    /// Further facts, such as the length of a queue. They contain no secrets.
    public var facts: [String: String]

    /// Creates a value.
    public init(_ status: Status, _ message: String? = nil, facts: [String: String] = [:]) {
        (self.status, self.message, self.facts) = (status, message, facts)
    }
}

/// How the services of a locator are. It is encoded as JSON in two lines of a server's route.
///
/// ```swift
/// let report = await locator.health()
/// respond(report.isReady ? 200 : 503, try encoder.encode(report))
/// ```
public struct HealthReport: Sendable, Hashable, Codable {
    /// A service.
    public struct Entry: Sendable, Hashable, Codable {
        /// The types and names for which it is registered.
        public let service: String
        /// How it is.
        public let health: ServiceHealth
    }

    /// The name of the locator.
    public let locator: String
    /// Whether the program should receive work: it is not ending, and no service has failed. The answer of a readiness probe.
    public let isReady: Bool
    /// Whether the locator has not been closed. The answer of a liveness probe.
    public let isAlive: Bool
    /// The worst status; `ok` without a service.
    public let status: ServiceHealth.Status
    /// The services that say how they are, in the order of their construction.
    public let services: [Entry]

    init(locator: String, isEnding: Bool, isClosed: Bool, _ services: [Entry]) {
        status = services.map(\.health.status).max() ?? .ok
        isReady = !isEnding && !isClosed && status != .failed
        isAlive = !isClosed
        (self.locator, self.services) = (locator, services)
    }
}

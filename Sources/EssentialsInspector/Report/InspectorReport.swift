public import EssentialsHTTP
import EssentialsLocator
import EssentialsPersistence
import FoundationEssentials

/// What an inspector knows of a program at one moment.
///
/// ```swift
/// let report = await inspector.report(of: locator)
/// let data = try JSONEncoder().encode(report)
/// let page = report.page
/// ```
///
/// A report is plain data, which can be encoded and sent. It contains no secrets that have names; see `HARRecorder`.
public struct InspectorReport: Sendable, Codable {
    /// The version of the format.
    public let version: Int
    /// When it was made.
    public let made: String
    /// The name and the version of the program; empty if they are unknown.
    public var program: String
    /// The exchanges.
    public var har: HAR
    /// The events of requests, resources and stores, the oldest first; `nil` for a report of a HAR file.
    public var events: [Event]?
    /// The moment up to which the report is, from which a live page goes on; `nil` for a report of a HAR file.
    public internal(set) var cursor: String?
    /// The stores; `nil` without one.
    public var stores: [Store]?
    /// The connections; `nil` without a locator, or if it has no transport that knows them.
    public internal(set) var connections: Connections?
    /// The limits of each origin; `nil` if there are none.
    public internal(set) var limits: [Limit]?
    /// The resources of all services, the observed ones first, and at most 500; `nil` without a resource service.
    public internal(set) var resources: [Resource]?
    /// The caches; `nil` without one.
    public internal(set) var caches: [Cache]?
    /// The services; `nil` without a locator.
    public var locator: Drawing?
    /// How the services are; `nil` without a locator.
    public var health: Health?

    /// Creates a report with exchanges alone, such as of a HAR file.
    public init(_ har: HAR = HAR(), program: String = "") {
        (version, self.program, self.har) = (1, program, har)
        made = InternetDate.text(Date.now, milliseconds: true) ?? ""
    }

    /// Something that happened.
    public struct Event: Sendable, Hashable, Codable {
        /// The time in milliseconds since 1970.
        public let at: Double
        /// The layer in which it happened: `request`, `load` or `store`.
        public let layer: String
        /// The call of a request; `nil` for others.
        public let call: String?
        /// A description in one line.
        public let text: String
    }

    /// A store.
    public struct Store: Sendable, Hashable, Codable {
        /// Its name, which is the path of its file if it has one.
        public let name: String
        /// `open`, `closed`, or why it could not be opened.
        public private(set) var state = ""
        /// The size of its log after the last save; `nil` if it is unknown.
        public private(set) var logBytes: Int64?
        /// The number of pending rows of all scopes.
        public private(set) var pendingRows = 0
        /// The scopes with pending rows.
        public private(set) var scopes: [Scope] = []

        /// A scope.
        public struct Scope: Sendable, Hashable, Codable {
            /// Its name.
            public let name: String
            /// The number of its pending rows.
            public let rows: Int
        }

        private static let maximumScopes = 100

        init(name: String) { self.name = name }

        mutating func note(_ event: StoreEvent.Kind) {
            switch event {
            case .opened: state = "open"
            case .openingFailed(let reason): state = reason.name
            case .closed: (state, scopes, pendingRows) = ("closed", [], 0)
            case .discarded(let scope, _): set(scope, rows: 0)
            case .called(let call):
                if let bytes = call.logBytes { logBytes = bytes }
                set(call.scope, rows: call.pendingRows)
            }
        }

        private mutating func set(_ scope: String, rows: Int) {
            scopes.removeAll { $0.name == scope }
            if rows > 0, scopes.count < Self.maximumScopes { scopes.append(Scope(name: scope, rows: rows)) }
            pendingRows = scopes.reduce(0) { $0 + $1.rows }
        }
    }

    /// A drawing.
    public struct Drawing: Sendable, Hashable, Codable {
        /// The drawing as SVG.
        public let svg: String
    }

    /// How the services of a program are.
    public struct Health: Sendable, Hashable, Codable {
        /// The worst of all: `ok`, `degraded` or `failed`.
        public let status: String
        /// Whether the program should receive work.
        public let isReady: Bool
        /// The services that say how they are.
        public let services: [Service]

        /// A service.
        public struct Service: Sendable, Hashable, Codable {
            /// The types and names for which it is registered.
            public let name: String
            /// `ok`, `degraded` or `failed`.
            public let status: String
            /// What it says of itself, and what is wrong as `message`.
            public let facts: [String: String]
        }

        init(_ report: HealthReport) {
            (status, isReady) = (report.status.rawValue, report.isReady)
            services = report.services.map { entry in
                var facts = entry.health.facts
                if let message = entry.health.message { facts["message"] = message }
                return Service(name: entry.service, status: entry.health.status.rawValue, facts: facts)
            }
        }
    }
}

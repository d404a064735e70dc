extension InspectorReport {
    /// The connections of the transports.
    public struct Connections: Sendable, Hashable, Codable {
        /// The number of requests that have a connection or are opening one.
        public var running = 0
        /// The number of requests that wait for a connection.
        public var queued = 0
        /// How long the oldest of them has waited.
        public var longestWaitSeconds = 0.0
        /// The number of connections that have carried a request so far.
        public var opened = 0
        /// The number of these that were closed.
        public var closed = 0
        /// The origins with open connections or waiting requests.
        public var open: [Origin] = []

        /// The connections to an origin.
        public struct Origin: Sendable, Hashable, Codable {
            /// The origin.
            public let origin: String
            /// The number of connections that carry a request.
            public let active: Int
            /// The number of connections that carry none.
            public let idle: Int
            /// The number of requests that the open connections have carried.
            public let served: Int
            /// The age of the oldest connection.
            public let ageSeconds: Double
            /// The number of requests that wait for one.
            public let waiting: Int
            /// How long the oldest of them has waited.
            public let longestWaitSeconds: Double
        }
    }

    /// The use of an origin's limits.
    public struct Limit: Sendable, Hashable, Codable {
        /// The origin.
        public let origin: String
        /// The state of the circuit breaker: `closed`, `open` or `halfOpen`.
        public let circuit: String
        /// The number of requests that are being sent.
        public let running: Int
        /// The number of requests in the line.
        public let waiting: Int
        /// What is left of the rate, and the time until a probe.
        public let note: String
    }

    /// A resource.
    public struct Resource: Sendable, Hashable, Codable {
        /// The address without its query.
        public let url: String
        /// `loading`, `fresh`, `stale`, `failed` or `empty`.
        public let state: String
        /// The age of the content; `nil` without content.
        public let ageSeconds: Double?
        /// How long it stays fresh; `nil` if it is not.
        public let freshSeconds: Double?
        /// The number of observers.
        public let observers: Int
        /// The reason of the failure of the last load.
        public let failure: String?
    }

    /// A cache.
    public struct Cache: Sendable, Hashable, Codable {
        /// The types and names for which it, or the service that has it, is registered.
        public let name: String
        /// The number of entries.
        public let entries: Int
        /// Their size.
        public let bytes: Int
        /// What else is known.
        public let note: String
    }
}

extension RequestFailure {
    /// The phase of a request in which it failed.
    public struct Phase: Sendable, Hashable, CustomStringConvertible {
        /// A stable name, for logs and metrics.
        public let name: String

        /// Nothing was sent, and no connection was requested.
        public static let preparation = Phase(name: "preparation")
        /// The request was waiting in the queue.
        public static let queue = Phase(name: "queue")
        /// The host's addresses were being looked up.
        public static let nameResolution = Phase(name: "nameResolution")
        /// The connection was being opened.
        public static let connect = Phase(name: "connect")
        /// The TLS handshake was running.
        public static let handshake = Phase(name: "handshake")
        /// The request was being sent.
        public static let sending = Phase(name: "sending")
        /// The request was sent, and no byte of a response had arrived.
        public static let waiting = Phase(name: "waiting")
        /// The response was being received.
        public static let receiving = Phase(name: "receiving")
        /// The response was complete, and its body was being decoded.
        public static let decoding = Phase(name: "decoding")

        /// The text that logs show.
        public var description: String { name }
    }
}

#if Server || Inspector
    import EssentialsHTTP
    import EssentialsRequests

    /// How an attempt has ended, as metrics and traces show it.
    struct AttemptEnd: Sendable {
        /// `nil` without a response.
        private let response: ObservedResponse?
        /// The reason of the failure that is shown; `nil` if there was none.
        private(set) var reason: String?
        /// The end of the body, if that was streamed.
        private var ending: RequestEvent.Ending?
        /// Whether the size of the body is known: not if a stage has read or left it for another attempt.
        var isBodyKnown = true

        /// An attempt that has failed in the transport.
        init(_ failure: RequestFailure) { (response, reason) = (nil, failure.reason.name) }

        /// An attempt with a response.
        init(_ response: ObservedResponse) { self.response = response }

        /// The status of the response; `nil` without one.
        var status: Int? { response?.status.code }
        /// The HTTP version, such as `1.1` or `2`; empty if it is unknown.
        var version: String { connection.map(Self.version) ?? "" }
        /// What went wrong: the reason of a failure, or the status of a response from 400 on; `nil` if nothing did. An error
        /// status says more than a failure that only names it, or one that comes after it.
        var error: String? {
            if let status, status >= 400 { return "\(status)" }
            return reason
        }
        /// The metrics; those of a streamed body that was not read to its end are incomplete.
        var metrics: TransportMetrics {
            // The body of a response that is a failure was read by a stage.
            if let metrics = ending?.metrics { return metrics }
            var metrics = ending?.progress?.response?.metrics ?? response?.metrics ?? TransportMetrics()
            if let count = ending?.bytesRead { metrics.bodyBytesReceived = Int(clamping: count) }
            return metrics
        }
        /// The connection; `nil` without a response. It is made each time.
        var connection: ConnectionFacts? { response?.connection }

        /// The end of a body that was streamed.
        mutating func end(_ ending: RequestEvent.Ending) {
            self.ending = ending
            if let failure = ending.failure { fail(failure) }
        }

        /// What went wrong.
        mutating func fail(_ failure: RequestFailure) { reason = reason ?? failure.reason.name }

        /// The HTTP version of a connection.
        static func version(of connection: ConnectionFacts) -> String {
            let name = connection.protocolName
            return name.hasPrefix("HTTP/") ? String(name.dropFirst(5)) : ""
        }
    }

    extension HTTPRequest.Method {
        /// The methods that are attributes. All others are `_OTHER`, because a caller can invent any number of them.
        private static let known = Set(
            [HTTPRequest.Method.get, .head, .post, .put, .delete, .connect, .options, .trace, .patch].map(\.rawValue))

        /// The method as an attribute.
        var attribute: String { Self.known.contains(rawValue) ? rawValue : other }
    }

    /// The value of an attribute in place of those that are too many.
    let other = "_OTHER"
#endif

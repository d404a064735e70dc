#if Server || Inspector
    import EssentialsHTTP
    import EssentialsRequests

    /// How an attempt has ended, as metrics and traces show it.
    struct AttemptEnd: Sendable {
        /// The status of the response; `nil` without one.
        var status: Int?
        /// The HTTP version, such as `1.1` or `2`; empty if it is unknown.
        var version = ""
        /// What went wrong: the reason of a failure, or the status of a response from 400 on; `nil` if nothing did.
        var error: String?
        /// The metrics; those of a streamed body that was not read to its end are incomplete.
        var metrics = TransportMetrics()
        /// Whether the size of the body is known: not if a stage has read or left it for another attempt.
        var isBodyKnown = true
        /// The connection; `nil` without a response.
        var connection: ConnectionFacts?

        /// An attempt that has failed in the transport.
        init(_ failure: RequestFailure) { error = failure.reason.name }

        /// An attempt with a response.
        init(_ response: ObservedResponse) {
            let code = response.status.code
            (status, metrics, connection) = (code, response.metrics, response.connection)
            version = Self.version(of: response.connection.protocolName)
            error = code >= 400 ? "\(code)" : nil
        }

        /// The end of a body that was streamed.
        mutating func end(_ ending: RequestEvent.Ending) {
            // The body of a response that is a failure was read by a stage.
            if let metrics = ending.metrics ?? ending.progress?.response?.metrics { self.metrics = metrics }
            if let count = ending.bytesRead, ending.metrics == nil { metrics.bodyBytesReceived = Int(clamping: count) }
            if let failure = ending.failure { fail(failure) }
        }

        /// What went wrong. An error status says more than a failure that only names it, or one that comes after it.
        mutating func fail(_ failure: RequestFailure) { error = error ?? failure.reason.name }

        private static func version(of name: String) -> String {
            name.hasPrefix("HTTP/") ? String(name.dropFirst(5)) : ""
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

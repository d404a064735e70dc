#if Server || Inspector
    public import EssentialsHTTP
    import EssentialsRequests

    /// The requests that carry the context of their trace.
    ///
    /// ```swift
    /// let ours = try HostPattern("**.internal.example.com")
    /// let traces = TracingObserver(propagation: .hosts([ours]))
    /// ```
    ///
    /// A context can hold baggage, such as the number of an account, that another company's server should not read.
    public struct TracePropagation: Sendable, Hashable {
        private enum Rule: Sendable, Hashable {
            case environment, all, none
            case hosts([HostPattern])
        }

        private let rule: Rule

        /// Those to the origin of the environment. They lose the context with a redirect to another origin.
        public static let environment = TracePropagation(rule: .environment)
        /// All.
        public static let all = TracePropagation(rule: .all)
        /// None. Spans are made all the same.
        public static let none = TracePropagation(rule: .none)

        /// Those to the hosts that match a pattern, such as `*.example.com` for one more label, or `**.example.com` for any
        /// number of them.
        public static func hosts(_ patterns: [HostPattern]) -> TracePropagation {
            TracePropagation(rule: .hosts(patterns))
        }

        /// Whether an attempt carries the context.
        func includes(_ attempt: ObservedAttempt) -> Bool {
            switch rule {
            case .environment: return attempt.isOfEnvironment
            case .all: return true
            case .none: return false
            case .hosts(let patterns): return patterns.contains { $0.matches(attempt.request.origin.host) }
            }
        }
    }
#endif

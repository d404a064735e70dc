#if Server
    import EssentialsHTTP
    import EssentialsRequests

    /// The requests that carry the context of their trace.
    ///
    /// ```swift
    /// let traces = TracingObserver(propagation: .hosts(["*.internal.example.com"]))
    /// ```
    ///
    /// A context can hold baggage, such as the number of an account, that another company's server should not read.
    public struct TracePropagation: Sendable, Hashable {
        private enum Rule: Sendable, Hashable {
            case environment, all, none
            case hosts([String])
        }

        private let rule: Rule

        /// Those to the origin of the environment. They lose the context with a redirect to another origin.
        public static let environment = TracePropagation(rule: .environment)
        /// All.
        public static let all = TracePropagation(rule: .all)
        /// None. Spans are made all the same.
        public static let none = TracePropagation(rule: .none)

        /// Those to some hosts.
        ///
        /// - Parameter hosts: The names in lower case, such as `api.example.com`. One that begins with `*.` stands for all
        ///   names below it, and not for itself.
        public static func hosts(_ hosts: [String]) -> TracePropagation { TracePropagation(rule: .hosts(hosts)) }

        /// Whether an attempt carries the context.
        func includes(_ attempt: ObservedAttempt) -> Bool {
            switch rule {
            case .environment: return attempt.isOfEnvironment
            case .all: return true
            case .none: return false
            case .hosts(let hosts):
                let name = attempt.request.origin.host.text
                return hosts.contains { host in
                    host.hasPrefix("*.")
                        ? name.hasSuffix(host.dropFirst()) && name.utf8.count >= host.utf8.count : name == host
                }
            }
        }
    }
#endif

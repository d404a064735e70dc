import EssentialsTools
public import EssentialsTransport

/// Transports for requests with different trust policies: one for each policy, created when it is first needed.
///
/// ```swift
/// let transports = CurlTransports(trust: policy)
/// request.options.trust = partnersPolicy
/// let response = try await transports.send(request)
/// ```
///
/// The server of a request is judged by the policy in the request's options. A request without one uses the policy of
/// the initialiser. Transports share nothing: no connection or TLS session of one policy serves a request of another.
/// At most 16 policies are kept. A further one replaces the least recently used policy, whose running requests have
/// five minutes to finish. It can be called from any task.
public final class CurlTransports: TrustBearing, LoadReporting {
    /// A transport that is created outside the lock of all entries.
    private final class Entry: Sendable {
        private let transport = Mutex<CurlTransport?>(nil)

        func transport(_ make: () throws(RequestFailure) -> CurlTransport) throws(RequestFailure) -> CurlTransport {
            try transport.withLock { transport throws(RequestFailure) in
                if let transport { return transport }
                let made = try make()
                transport = made
                return made
            }
        }

        var made: CurlTransport? { transport.withLock { $0 } }
    }

    private struct State {
        /// The policy and the transport of the last request. The next request nearly always uses the same ones.
        var last: (policy: TrustPolicy, transport: CurlTransport)?
        var entries: [TrustPolicy: Entry] = [:]
        /// The policies, least recently used first.
        var order: [TrustPolicy] = []
        var isClosed = false
    }

    static let maximum = 16
    /// How long the running requests of a replaced policy may take.
    static let grace = Duration.seconds(300)

    private let policy: TrustPolicy
    /// The same policy without the client's identity, for requests to any server.
    private let anonymousPolicy: TrustPolicy
    private let configuration: CurlTransport.Configuration
    private let reporter = TrustReporter()
    private let state = Mutex(State())

    /// Creates no transport until the first request.
    ///
    /// - Parameters:
    ///   - trust: The policy for requests without one.
    ///   - configuration: The configuration of every transport.
    public init(
        trust: TrustPolicy = .system, configuration: CurlTransport.Configuration = CurlTransport.Configuration()
    ) {
        policy = trust
        anonymousPolicy = trust.anonymous
        self.configuration = configuration
    }

    package var trustPolicy: TrustPolicy { policy }
    package var route: String { configuration.route }

    /// Sends a request; see the protocol.
    ///
    /// - Throws: also the failures of creating a transport,
    ///   ``CurlTransport/init(trust:configuration:)-(TrustPolicy,_)``.
    public func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
        try await transport(for: policy(for: request)).send(request)
    }

    /// Sends a request that can be cancelled from outside; see the protocol.
    ///
    /// - Throws: as ``send(_:)``.
    public func send(
        _ request: TransportRequest, cancellation: Cancellation
    ) async throws(RequestFailure) -> TransportResponse {
        try await transport(for: policy(for: request)).send(request, cancellation: cancellation)
    }

    /// The policy by which the server of a request is judged.
    private func policy(for request: TransportRequest) -> TrustPolicy {
        request.options.trust ?? (request.isForAnyServer ? anonymousPolicy : policy)
    }

    /// The transport for a policy. For the policy of the last call it costs a lock and a comparison of pointers.
    ///
    /// - Throws: the failures of creating it; `closed` after a shutdown.
    public func transport(for policy: TrustPolicy) throws(RequestFailure) -> CurlTransport {
        // `last` is set only while the transports are open.
        let last = state.withLock { state in
            state.last.flatMap { $0.policy.isCopy(of: policy) ? $0.transport : nil }
        }
        if let last { return last }
        let entry = try entry(for: policy)
        let transport = try entry.transport { () throws(RequestFailure) in
            try CurlTransport(trust: CompiledTrust(policy, reporter: reporter), configuration: configuration)
        }
        return try state.withLock { state throws(RequestFailure) in
            // A shutdown meanwhile did not see the transport, because it was still being created.
            guard !state.isClosed else { throw Self.closed }
            // The entry may have been replaced meanwhile.
            if state.order.last == policy, state.entries[policy] === entry { state.last = (policy, transport) }
            return transport
        }
    }

    /// The entry for a policy, which becomes the most recently used one.
    private func entry(for policy: TrustPolicy) throws(RequestFailure) -> Entry {
        let (entry, retired) = try state.withLock { state throws(RequestFailure) -> (Entry, Entry?) in
            guard !state.isClosed else { throw Self.closed }
            state.last = nil
            state.order.removeAll { $0 == policy }
            state.order.append(policy)
            if let entry = state.entries[policy] { return (entry, nil) }
            let entry = Entry()
            state.entries[policy] = entry
            guard state.order.count > Self.maximum else { return (entry, nil) }
            return (entry, state.entries.removeValue(forKey: state.order.removeFirst()))
        }
        if let retired = retired?.made { Task { await retired.shutdown(grace: Self.grace) } }
        return entry
    }

    private static var closed: RequestFailure {
        RequestFailure(.closed, "The transports were shut down.", phase: .queue)
    }

    /// Cancels the requests of all policies, and waits until all threads have ended. Further calls have no effect.
    public func shutdown() async { await shutdown(grace: .zero) }

    /// Refuses new requests as `closed`, lets running requests finish within the grace period, and shuts down.
    public func shutdown(grace: Duration) async {
        let entries = state.withLock { state in
            state.isClosed = true
            state.last = nil
            return Array(state.entries.values)
        }
        await withTaskGroup(of: Void.self) { group in
            for transport in entries.compactMap(\.made) {
                group.addTask { await transport.shutdown(grace: grace) }
            }
        }
    }

    /// The load of the transports of all policies.
    public var load: TransportLoad {
        get async {
            var sum = TransportLoad()
            for entry in state.withLock({ Array($0.entries.values) }) {
                if let transport = entry.made { sum.add(await transport.load) }
            }
            return sum
        }
    }

    /// The refusals under all policies, and those that report-only rules would have caused; see
    /// ``CompiledTrust/reports()``.
    public var trustReports: AsyncStream<TrustReport> { reporter.stream() }
}

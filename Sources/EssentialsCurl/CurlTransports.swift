public import EssentialsTransport
import Synchronization

/// Transports for requests with different trust policies: one for each, made when it is first needed.
///
/// ```swift
/// let transports = CurlTransports(trust: policy)
/// request.options.trust = partnersPolicy
/// let response = try await transports.send(request)
/// ```
///
/// A request is judged by the policy that it names, for all its attempts and hops, or else by the one that the initialiser
/// was given. Transports share nothing: no connection or TLS session of one policy serves a request of another. At most 16
/// policies are kept; the one that was used longest ago makes room for another, when what runs under it has ended.
/// Callable from any task.
public final class CurlTransports: Transport {
    /// A transport that is made outside the lock for all of them.
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
        var entries: [TrustPolicy: Entry] = [:]
        /// The policies, the one that was used last at the end.
        var order: [TrustPolicy] = []
        var isClosed = false
    }

    static let maximum = 16
    /// How long what runs under a policy may go on once the policy made room for another.
    static let grace = Duration.seconds(300)

    private let policy: TrustPolicy
    private let configuration: CurlTransport.Configuration
    private let reporter = TrustReporter()
    private let state = Mutex(State())

    /// Makes the way, and no transport yet.
    ///
    /// - Parameters:
    ///   - trust: By what requests are judged that name no policy.
    ///   - configuration: What holds for every transport.
    public init(
        trust: TrustPolicy = .system, configuration: CurlTransport.Configuration = CurlTransport.Configuration()
    ) {
        policy = trust
        self.configuration = configuration
    }

    /// Sends a request; as the protocol `Transport` says.
    ///
    /// - Throws: also what making a transport throws, ``CurlTransport/init(trust:configuration:)-(TrustPolicy,_)``.
    public func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
        try await transport(for: request.options.trust ?? policy).send(request)
    }

    /// The transport for a policy.
    ///
    /// - Throws: what making it throws; `closed` after a shutdown.
    public func transport(for policy: TrustPolicy) throws(RequestFailure) -> CurlTransport {
        let (entry, retired) = try state.withLock { state throws(RequestFailure) -> (Entry, Entry?) in
            guard !state.isClosed else {
                throw RequestFailure(.closed, "The transports were shut down.", phase: .queue)
            }
            // Nearly always there is one policy, or the same as before.
            if state.order.last == policy, let entry = state.entries[policy] { return (entry, nil) }
            state.order.removeAll { $0 == policy }
            state.order.append(policy)
            if let entry = state.entries[policy] { return (entry, nil) }
            let entry = Entry()
            state.entries[policy] = entry
            guard state.order.count > Self.maximum else { return (entry, nil) }
            return (entry, state.entries.removeValue(forKey: state.order.removeFirst()))
        }
        if let retired = retired?.made { Task { await retired.shutdown(grace: Self.grace) } }
        return try entry.transport { () throws(RequestFailure) in
            try CurlTransport(
                trust: CompiledTrust(policy, reporter: reporter), configuration: configuration)
        }
    }

    /// Cancels what runs and waits under all policies, and waits until all threads have ended. Idempotent.
    public func shutdown() async { await shutdown(grace: .zero) }

    /// Refuses new requests as `closed`, lets those that run or wait go on for so long, and ends.
    public func shutdown(grace: Duration) async {
        let entries = state.withLock { state in
            state.isClosed = true
            return Array(state.entries.values)
        }
        await withTaskGroup(of: Void.self) { group in
            for transport in entries.compactMap(\.made) {
                group.addTask { await transport.shutdown(grace: grace) }
            }
        }
    }

    /// Refusals under all policies, and what their report-only rules would have refused; see ``CompiledTrust/reports()``.
    public var trustReports: AsyncStream<TrustReport> { reporter.stream() }
}

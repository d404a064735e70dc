import EssentialsTools
public import EssentialsTransport
import Logging

/// Sends requests through libcurl, under one trust policy, on its own thread.
///
/// ```swift
/// let transport = try CurlTransport(trust: TrustPolicy(pins: [.publicKey("sha256/…"), .publicKey("sha256/…")]))
/// let response = try await transport.send(TransportRequest(.get, RequestURL("https://api.example.com/")))
/// await transport.shutdown()
/// ```
///
/// Connections are pooled, and requests share them over HTTP/2 if the server offers it. On a kept connection, the
/// policy is checked again for every request, before its first byte is sent. Create one transport and keep it, because
/// each one costs a thread, an epoll descriptor and its own connections. Releasing the last reference cancels all
/// requests and ends the thread in the background. ``shutdown()`` waits for its end.
///
/// If requests have several policies, ``CurlTransports`` keeps a transport for each policy.
///
/// **Fork.** A transport belongs to the process that created it. In a child after fork(2) without exec its thread does
/// not exist, and ``send(_:)`` fails as `closed`. A child that was forked before the first request can create its own
/// transport. A child that was forked after a request lacks the threads of Swift's task pool and of Dispatch. It never
/// runs a new task or calls a completion handler, and creating a transport fails as `closed`. Such a child can only
/// call exec(2), which closes all descriptors except the one that libcurl uses while it resolves a name.
public final class CurlTransport: TrustBearing, LoadReporting {
    private let configuration: Configuration
    private let trust: CompiledTrust
    private let proxies: ProxySetup
    private let shards: [EngineOwner]
    private let generation: Int

    /// Creates a transport from a policy.
    ///
    /// - Throws: The failures of ``CompiledTrust/init(_:)``; `resources` if there is no memory, descriptor or thread;
    ///   `closed` in a process that was forked from a process in which a request was sent.
    public convenience init(
        trust policy: TrustPolicy = .system, configuration: Configuration = Configuration()
    )
        throws(RequestFailure)
    {
        try self.init(trust: CompiledTrust(policy), configuration: configuration)
    }

    /// Creates a transport from a compiled policy, which several transports may share.
    ///
    /// - Throws: `resources` if there is no memory, descriptor or thread; `invalidRequest` for a value of the
    ///   configuration, or a proxy in the environment, that cannot be used; `closed` in a process that was forked from
    ///   a process in which a request was sent.
    public init(trust: CompiledTrust, configuration: Configuration = Configuration()) throws(RequestFailure) {
        guard !ProcessGeneration.hasLostTasks else { throw Failures.lostTasks }
        self.configuration = try configuration.checked()
        self.trust = trust
        // The environment is read only here, because a later read would race with code that changes it.
        let policy = configuration.unixSocket == nil ? configuration.proxy : .direct
        let resolved = try policy.resolved { name in getenv(name).map { String(cString: $0) } }
        proxies = ProxySetup(
            policy: resolved,
            trust: resolved.isDirect
                ? nil : Result { () throws(RequestFailure) in try CompiledTrust(configuration.proxyTrust) })
        generation = ProcessGeneration.current
        var shards: [EngineOwner] = []
        for part in configuration.divided() {
            shards.append(EngineOwner(try Engine(trust: trust, proxies: proxies, configuration: part)))
        }
        self.shards = shards
    }

    package var trustPolicy: TrustPolicy { trust.policy }
    package var route: String { configuration.route }

    /// Sends a request; see the protocol. It can be called from any task, and blocks no thread.
    public func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
        try await exchange(request, cancellation: nil)
    }

    /// Sends a request that can be cancelled from outside; see the protocol. It can be called from any task, and blocks
    /// no thread.
    public func send(
        _ request: TransportRequest, cancellation: Cancellation
    ) async throws(RequestFailure) -> TransportResponse {
        try await exchange(request, cancellation: cancellation)
    }

    private func exchange(
        _ request: TransportRequest, cancellation: Cancellation?
    ) async throws(RequestFailure) -> TransportResponse {
        let prepared = try prepare(request)
        let owner = owner(of: prepared.origin)
        let exchange = makeExchange(prepared, owner)
        let (engine, upload) = (owner.engine, exchange.upload)
        exchange.isAwaitedInPool = isInPool()
        var registration: Cancellation.Registration?
        let priority = request.raisablePriority
        var raises: RaisablePriority.Registration?
        await withTaskCancellationHandler {
            await withWaiter { continuation in
                exchange.continuation = continuation
                if engine.post(.start(exchange)) {
                    if let upload { engine.start(upload, for: exchange) }
                    registration = cancellation?.add { engine.cancel(exchange) }
                    raises = priority?.add { raised in
                        if raised > request.options.priority { engine.post(.raise(exchange, raised)) }
                    }
                } else {
                    exchange.setOutcome(.failure(Failures.closed(prepared)))
                    exchange.continuation.take()?.resume()
                }
            }
        } onCancel: {
            engine.cancel(exchange)
        }
        if let registration { cancellation?.remove(registration) }
        if let raises { priority?.remove(raises) }
        switch exchange.takeOutcome() {
        case .answer(let answer):
            let response = engine.answers.read(answer, of: exchange, under: trust)
            log(response, of: prepared)
            return response
        case .failure(let failure):
            log(failure, of: prepared)
            throw failure
        case nil: throw Failures.closed(prepared)
        }
    }

    /// Whether the caller runs in the common pool of tasks, and not on an actor or a custom executor.
    private func isInPool(isolation: (any Actor)? = #isolation) -> Bool {
        isolation == nil && withUnsafeCurrentTask { $0?.unownedTaskExecutor == nil }
    }

    /// Cancels all requests, closes all connections and waits for the end of the threads. It is idempotent, and may be
    /// called from any task.
    public func shutdown() async { await shutdown(grace: .zero) }

    /// Refuses new requests as `closed`, waits for the others until the grace period is over, cancels the rest, closes
    /// all connections and waits for the end of the threads. A second call can shorten the grace period of the first.
    public func shutdown(grace: Duration) async {
        for shard in shards { shard.engine.post(.shutdown(graceMilliseconds: Int64(grace.milliseconds))) }
        for shard in shards { await shard.engine.awaitTermination() }
    }

    /// The load of the transport, summed over its shards. It is zero after a shutdown.
    ///
    /// The engine's threads compute it, so the call waits for at most one turn of each of them.
    public var load: TransportLoad {
        get async {
            var sum = TransportLoad()
            for shard in shards { sum.add(await shard.engine.load()) }
            return sum
        }
    }

    /// The refusals of the transport's policy, and those that its report-only rules would have caused. See
    /// ``CompiledTrust/reports()``.
    public var trustReports: AsyncStream<TrustReport> { trust.reports() }

    /// Runs tasks on the engine's own thread, for requests to one origin.
    ///
    /// A task that prefers the executor (SE-0417) is resumed without a change of threads. It runs on the thread that
    /// does all input and output, so its computations and blocking calls delay every other request of the transport.
    /// Use it only for tasks that do little between their requests.
    ///
    /// ```swift
    /// let executor = transport.taskExecutor(for: url.origin)
    /// let response = try await withTaskExecutorPreference(executor) { try await transport.send(request) }
    /// ```
    ///
    /// After a shutdown, tasks that prefer this executor run on the common pool.
    public func taskExecutor(for origin: Origin) -> any TaskExecutor { owner(of: origin).engine }

    /// Returns the header lines of a request as they are sent, including those that the transport adds.
    package func fieldLines(of request: TransportRequest) throws(RequestFailure) -> [String] {
        try prepare(request).fieldLines
    }

    /// Prepares a request, and refuses a request that this transport cannot send.
    func prepare(_ request: TransportRequest) throws(RequestFailure) -> PreparedRequest {
        let prepared: PreparedRequest
        let origin = request.url.origin
        do throws(RequestFailure) {
            if let wanted = request.options.trust, wanted != trust.policy { throw Failures.otherPolicy(origin) }
            if request.isForAnyServer, trust.policy.identity != nil {
                throw RequestFailure.identityForAnyServer(host: origin.host.text)
            }
            prepared = try PreparedRequest(
                request, trust: trust, userAgent: configuration.userAgent, proxies: proxies,
                unixSocket: configuration.unixSocket)
        } catch {
            trust.report(error, host: origin.host, port: origin.port)
            throw error.changed { $0.transmission = .unsent }
        }
        if origin.scheme == .http, prepared.isPinned { trust.reportPlaintext(host: origin.host, port: origin.port) }
        guard ProcessGeneration.current == generation else { throw Failures.forked(prepared) }
        ProcessGeneration.noteTasks()
        return prepared
    }

    /// Whether a shutdown has begun.
    var isClosed: Bool { shards.contains { $0.engine.isClosed } }

    /// The number of turns that the loops of the engine's threads have made. It shows a loop that never waits.
    package var turns: Int { shards.reduce(0) { $0 + $1.engine.turns.load(ordering: .relaxed) } }

    /// The number of times that the engine's threads have stopped watching a writable socket, because nothing was
    /// written.
    package var mutes: Int { shards.reduce(0) { $0 + $1.engine.mutes.load(ordering: .relaxed) } }

    /// Returns the shard that keeps the connections of an origin.
    func owner(of origin: Origin) -> EngineOwner {
        shards.count == 1 ? shards[0] : shards[Int(UInt(bitPattern: origin.hashValue) % UInt(shards.count))]
    }

    private func makeExchange(_ prepared: PreparedRequest, _ owner: EngineOwner) -> Exchange {
        Exchange(prepared: prepared, owner: owner)
    }

    private func log(_ response: TransportResponse, of prepared: PreparedRequest) {
        guard configuration.logger.logLevel <= .debug else { return }
        var metadata = metadata(of: prepared)
        metadata["status"] = "\(response.status.code)"
        configuration.logger.debug("response", metadata: metadata)
    }

    private func log(_ failure: RequestFailure, of prepared: PreparedRequest) {
        guard configuration.logger.logLevel <= .debug else { return }
        var metadata = metadata(of: prepared)
        metadata["reason"] = "\(failure.reason)"
        metadata["phase"] = "\(failure.phase)"
        configuration.logger.debug("failure", metadata: metadata)
    }

    private func metadata(of prepared: PreparedRequest) -> Logger.Metadata {
        ["method": "\(prepared.request.method.rawValue)", "url": "\(prepared.request.url.redacted)"]
    }
}

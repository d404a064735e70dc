public import EssentialsTransport
import Glibc
import Logging
import Synchronization

/// Sends requests through libcurl, under one trust policy, on a thread of its own.
///
/// ```swift
/// let transport = try CurlTransport(trust: TrustPolicy(pins: [.publicKey("sha256/…"), .publicKey("sha256/…")]))
/// let response = try await transport.send(TransportRequest(.get, RequestURL("https://api.example.com/")))
/// await transport.shutdown()
/// ```
///
/// Connections are pooled, multiplexed over HTTP/2 where the server offers it, and resumed; every request on them is
/// judged by the policy again before its first byte. Make one transport and keep it: each costs a thread, an epoll
/// descriptor and its own connections. Dropping the last reference cancels what runs and ends the thread in the
/// background; ``shutdown()`` waits for it.
///
/// Where requests have several policies, ``CurlTransports`` keeps a transport for each.
///
/// **Fork.** A transport belongs to the process that made it. In a child after fork(2) without exec its thread does not
/// exist, and ``send(_:)`` fails as `closed`. A child that was forked before the first request can make its own
/// transport. A child that was forked after a request lacks the threads of Swift's task pool and of Dispatch. It never
/// runs a new task or calls a completion handler, and making a transport fails as `closed`. Such a child can only call
/// exec(2), which closes all descriptors except one that libcurl uses while it resolves a name.
public final class CurlTransport: Transport {
    private let configuration: Configuration
    private let trust: CompiledTrust
    private let proxies: ProxySetup
    private let shards: [EngineOwner]
    private let generation: Int

    /// Makes a transport from a policy.
    ///
    /// - Throws: as ``CompiledTrust/init(_:)``; `connection` when the system gives no descriptor or thread; `closed` in a
    ///   process that was forked from one in which a request was sent.
    public convenience init(
        trust policy: TrustPolicy = .system, configuration: Configuration = Configuration()
    )
        throws(RequestFailure)
    {
        try self.init(trust: CompiledTrust(policy), configuration: configuration)
    }

    /// Makes a transport from a compiled policy, which several transports may share.
    ///
    /// - Throws: `connection` when the system gives no descriptor or thread, `invalidRequest` for a value of the
    ///   configuration, or a proxy in the environment, that cannot be used; `closed` in a process that was forked from one
    ///   in which a request was sent.
    public init(trust: CompiledTrust, configuration: Configuration = Configuration()) throws(RequestFailure) {
        guard !ProcessGeneration.hasLostTasks else { throw Failures.lostTasks }
        self.configuration = try configuration.checked()
        self.trust = trust
        // Read once, here: reading it later would race with whoever changes it.
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

    /// Sends a request; see the protocol. Callable from any task; nothing blocks.
    public func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
        try await exchange(request, cancellation: nil)
    }

    /// Sends a request that can be cancelled from outside; see the protocol. Callable from any task; nothing blocks.
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
        exchange.isOfCommonPool = isOfCommonPool()
        var registration: Cancellation.Registration?
        await withTaskCancellationHandler {
            await withWaiter { continuation in
                exchange.continuation = continuation
                if engine.post(.start(exchange)) {
                    if let upload { engine.start(upload, for: exchange) }
                    registration = cancellation?.add { engine.cancel(exchange) }
                } else {
                    exchange.setOutcome(.failure(Failures.closed(prepared)))
                    exchange.continuation.take()?.resume()
                }
            }
        } onCancel: {
            engine.cancel(exchange)
        }
        if let registration { cancellation?.remove(registration) }
        switch exchange.takeOutcome() {
        case .answer(let answer):
            let response = engine.answers.read(answer, of: exchange)
            log(response, of: prepared)
            return response
        case .failure(let failure):
            log(failure, of: prepared)
            throw failure
        case nil: throw Failures.closed(prepared)
        }
    }

    /// Whether the caller runs where all tasks run that want no place of their own.
    private func isOfCommonPool(isolation: (any Actor)? = #isolation) -> Bool {
        isolation == nil && withUnsafeCurrentTask { $0?.unownedTaskExecutor == nil }
    }

    /// Cancels what runs and waits, closes all connections and waits for the thread's end. Idempotent; from any task.
    public func shutdown() async { await shutdown(grace: .zero) }

    /// Refuses new requests as `closed`, lets those that run or wait go on for so long, cancels the rest, closes all
    /// connections and waits for the thread's end. A second call can shorten the grace of the first.
    public func shutdown(grace: Duration) async {
        for shard in shards { shard.engine.post(.shutdown(graceMilliseconds: Int64(grace.milliseconds))) }
        for shard in shards { await shard.engine.awaitTermination() }
    }

    /// How busy the transport is, all its shards together. Asks the engine's threads; zero after a shutdown.
    public var load: TransportLoad {
        get async {
            var sum = TransportLoad()
            for shard in shards {
                let load = await shard.engine.load()
                sum.inFlight += load.inFlight
                sum.waiting += load.waiting
                sum.longestWait = max(sum.longestWait, load.longestWait)
            }
            return sum
        }
    }

    /// Refusals under the transport's policy, and what its report-only rules would have refused; see
    /// ``CompiledTrust/reports()``.
    public var trustReports: AsyncStream<TrustReport> { trust.reports() }

    /// Runs tasks on the engine's own thread, for requests to one origin.
    ///
    /// A task that prefers it (SE-0417) is resumed without a change of threads, which saves a few microseconds for each
    /// request. In return its code runs where all input and output happens: whatever it computes or waits for on the
    /// thread holds up every other request of the transport. For tasks that do little between their requests.
    ///
    /// ```swift
    /// let executor = transport.taskExecutor(for: url.origin)
    /// let response = try await withTaskExecutorPreference(executor) { try await transport.send(request) }
    /// ```
    ///
    /// After a shutdown, tasks that prefer it run where all tasks run.
    public func taskExecutor(for origin: Origin) -> any TaskExecutor { owner(of: origin).engine }

    /// Lays a request out, and refuses what cannot be sent from here.
    func prepare(_ request: TransportRequest) throws(RequestFailure) -> PreparedRequest {
        let prepared: PreparedRequest
        let origin = request.url.origin
        do throws(RequestFailure) {
            if let wanted = request.options.trust, wanted != trust.policy { throw Failures.otherPolicy(origin) }
            prepared = try PreparedRequest(
                request, trust: trust, userAgent: configuration.userAgent, proxies: proxies,
                unixSocket: configuration.unixSocket)
        } catch {
            trust.report(error, host: origin.host, port: origin.port)
            throw error
        }
        if origin.scheme == .http, prepared.isPinned { trust.reportPlaintext(host: origin.host, port: origin.port) }
        guard ProcessGeneration.current == generation else { throw Failures.forked(prepared) }
        ProcessGeneration.noteTasks()
        return prepared
    }

    /// Whether a shutdown was asked for.
    var isClosed: Bool { shards.contains { $0.engine.isClosed } }

    /// How often the engine's threads have gone round their loops.
    package var turns: Int { shards.reduce(0) { $0 + $1.engine.turns.load(ordering: .relaxed) } }

    /// How often the engine's threads did not listen to a writable socket for a moment, because nothing was written.
    package var mutes: Int { shards.reduce(0) { $0 + $1.engine.mutes.load(ordering: .relaxed) } }

    /// How often the engine's threads have left the only processor to tasks until these had run.
    package var tasksTurns: Int {
        shards.reduce(0) { $0 + ($1.engine.tasksTurn?.completed.load(ordering: .relaxed) ?? 0) }
    }

    /// The shard of an origin, which keeps its connections.
    private func owner(of origin: Origin) -> EngineOwner {
        shards.count == 1 ? shards[0] : shards[Int(UInt(bitPattern: origin.hashValue) % UInt(shards.count))]
    }

    private func makeExchange(_ prepared: PreparedRequest, _ owner: EngineOwner) -> Exchange {
        var upload: UploadPump?
        if case .stream(let length, _, let open) = prepared.request.body.content {
            upload = UploadPump(length: length, open: open)
        }
        let exchange = Exchange(prepared: prepared, upload: upload, owner: owner)
        if prepared.isStreaming { exchange.openBody() }
        return exchange
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

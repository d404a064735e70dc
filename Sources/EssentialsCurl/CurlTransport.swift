public import EssentialsHTTP
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
public final class CurlTransport: Transport {
    private let configuration: Configuration
    private let trust: CompiledTrust
    private let owner: EngineOwner

    /// Makes a transport from a policy.
    ///
    /// - Throws: as ``CompiledTrust/init(_:)``, and `connection` when the system gives no descriptor or thread.
    public convenience init(
        trust policy: TrustPolicy = .system, configuration: Configuration = Configuration()
    )
        throws(RequestFailure)
    {
        try self.init(trust: CompiledTrust(policy), configuration: configuration)
    }

    /// Makes a transport from a compiled policy, which several transports may share.
    ///
    /// - Throws: `connection` when the system gives no descriptor or thread, `invalidRequest` for a user agent that is no
    ///   header value.
    public init(trust: CompiledTrust, configuration: Configuration = Configuration()) throws(RequestFailure) {
        if let userAgent = configuration.userAgent { _ = try HTTPField.checked(name: "User-Agent", value: userAgent) }
        self.configuration = configuration
        self.trust = trust
        owner = EngineOwner(try Engine(trust: trust, configuration: configuration))
    }

    /// Sends a request; as the protocol `Transport` says. Callable from any task; nothing blocks.
    public func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
        let prepared = try PreparedRequest(request, policy: trust.policy, userAgent: configuration.userAgent)
        let exchange = makeExchange(prepared)
        let engine = owner.engine
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                exchange.continuation = continuation
                if engine.post(.start(exchange)) {
                    exchange.upload?.start(
                        send: { engine.post(.upload(exchange, $0)) }, fail: { engine.post(.uploadFailed(exchange)) })
                } else {
                    exchange.setOutcome(.failure(Failures.closed(prepared)))
                    exchange.continuation.take()?.resume()
                }
            }
        } onCancel: {
            engine.cancel(exchange)
        }
        guard let outcome = exchange.takeOutcome() else { throw Failures.closed(prepared) }
        return try log(outcome, of: prepared).get()
    }

    /// Cancels what runs, closes all connections and waits for the thread's end. Idempotent; from any task.
    public func shutdown() async {
        owner.engine.post(.shutdown)
        await owner.engine.awaitTermination()
    }

    /// How often the engine's thread has gone round its loop.
    package var turns: Int { owner.engine.turns.load(ordering: .relaxed) }

    private func makeExchange(_ prepared: PreparedRequest) -> Exchange {
        var upload: UploadPump?
        if case .stream(_, let open) = prepared.request.body.content { upload = UploadPump(open: open) }
        guard prepared.isStreaming else { return Exchange(prepared: prepared, upload: upload, body: nil) }
        let link = ExchangeLink()
        // The reader's hold keeps the engine alive, and not the other way round.
        let pipe = BodyPipe(
            requests: BodyPipe.Requests(
                read: { [owner] in if let exchange = link.exchange { owner.engine.post(.read(exchange)) } },
                cancel: { [owner] in if let exchange = link.exchange { owner.engine.cancel(exchange) } }))
        let exchange = Exchange(prepared: prepared, upload: upload, body: pipe)
        link.exchange = exchange
        return exchange
    }

    private func log(
        _ outcome: Result<TransportResponse, RequestFailure>, of prepared: PreparedRequest
    ) -> Result<TransportResponse, RequestFailure> {
        guard configuration.logger.logLevel <= .debug else { return outcome }
        var metadata: Logger.Metadata = [
            "method": "\(prepared.request.method.rawValue)", "url": "\(prepared.request.url.redacted)",
        ]
        switch outcome {
        case .success(let response):
            metadata["status"] = "\(response.status.code)"
            configuration.logger.debug("response", metadata: metadata)
        case .failure(let failure):
            metadata["reason"] = "\(failure.reason)"
            metadata["phase"] = "\(failure.phase)"
            configuration.logger.debug("failure", metadata: metadata)
        }
        return outcome
    }
}

/// Ends an engine when nobody refers to it any more.
private final class EngineOwner: Sendable {
    let engine: Engine

    init(_ engine: Engine) { self.engine = engine }

    deinit {
        engine.post(.shutdown)
        engine.abandonThread()
    }
}

/// Leads from a pipe to its exchange, which it belongs to.
private final class ExchangeLink: @unchecked Sendable {
    // Argument for @unchecked: set once, before the exchange is posted; loading a weak reference is atomic.
    weak var exchange: Exchange?
}

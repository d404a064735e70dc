public import EssentialsHTTP
import EssentialsTools

/// How a chain continues after its first request has ended.
///
/// ```swift
/// let request = cart.startLoad().chained { outcome in
///     if case .failure(let failure) = outcome, failure.reason == .status { return .pass(to: backup.startLoad()) }
///     return .keep
/// }
/// ```
public enum ChainStep<Content: Sendable>: Sendable {
    /// The outcome of the first request is the outcome of the chain.
    case keep
    /// The chain ends with another outcome.
    case use(Result<ResourceResponse<Content>, RequestFailure>)
    /// The chain ends with the outcome of another request, which is started.
    case pass(to: ResourceRequest<Content>)
}

extension ResourceRequest {
    /// Returns a request that begins with this one and continues as a closure decides.
    ///
    /// Starting the chain starts this request. If this request was already started, so was the chain. Cancelling the
    /// chain cancels the request that is running, and the closure is not called. If only the first request is
    /// cancelled, the closure receives `cancelled`. The progress of the chain covers all requests. ``repeated()``
    /// repeats the first request and the closure.
    ///
    /// - Parameter next: Decides what follows, after the first request has ended.
    public func chained(
        _ next: @escaping @Sendable (Result<ResourceResponse<Content>, RequestFailure>) async -> ChainStep<Content>
    ) -> ResourceRequest {
        ResourceRequest(.chain(of: (storage, next)))
    }
}

extension RequestStorage {
    /// Returns a request that begins with another one and continues as a closure decides.
    static func chain(of link: Link) -> RequestStorage {
        let chain = RequestStorage(link) { chain in
            // Without a link, the chain was released at the moment at which its first request was started.
            guard let (first, next) = chain.link else { return {} }
            let run = ChainRun<Content>(first)
            chain.whenCancelled { run.take() }
            if chain.reportsProgress {
                // This is the share of the first request. The rest is for a request that may follow.
                first.observeProgress { chain.deliver(progress: min($0 * 0.8, 0.8)) }
            }
            let task = Task { await run.finish(chain, next) }
            return {
                run.take()?.cancel()
                task.cancel()
            }
        }
        link.first.whenStarted { [weak chain] in chain }
        return chain
    }
}

/// The running request of a chain.
private final class ChainRun<Content: Sendable>: Sendable {
    private let present: Mutex<RequestStorage<Content>?>

    init(_ first: RequestStorage<Content>) { present = Mutex(first) }

    /// Waits for the first request, and continues as the closure decides. No task needs to wait for the chain.
    func finish(
        _ chain: RequestStorage<Content>,
        _ next: @Sendable (RequestStorage<Content>.Outcome) async -> ChainStep<Content>
    ) async {
        guard let first = present.withLock({ $0 }) else { return }
        let outcome = await first.outcome(keepsLoad: false)
        guard isActive else { return }
        switch await next(outcome) {
        case .keep: chain.end(outcome)
        case .use(let other): chain.end(other)
        case .pass(let second):
            guard goOn(with: second.storage) else { return second.cancel() }
            if chain.reportsProgress {
                second.onProgress { if $0 < 1 { chain.deliver(progress: 0.8 + $0 * 0.2) } }
            }
            chain.end(await second.storage.outcome(keepsLoad: false))
        }
    }

    /// Whether the chain was not cancelled.
    private var isActive: Bool { present.withLock { $0 != nil } }

    /// Continues with another request.
    ///
    /// - Returns: Whether the chain was not cancelled.
    private func goOn(with request: RequestStorage<Content>) -> Bool {
        present.withLock { present in
            guard present != nil else { return false }
            present = request
            return true
        }
    }

    /// Ends the run, and returns the request to cancel; `nil` if the run had already ended.
    func take() -> RequestStorage<Content>? {
        present.withLock { present in
            defer { present = nil }
            return present
        }
    }
}

public import EssentialsHTTP
import EssentialsTools

/// What follows after a request of a chain has ended.
///
/// ```swift
/// let request = cart.startLoad().chained { outcome in
///     if case .failure(let failure) = outcome, failure.reason == .status { return .pass(to: backup.startLoad()) }
///     return .keep
/// }
/// ```
public enum ChainStep<Content: Sendable>: Sendable {
    /// The outcome of the first request is that of the chain.
    case keep
    /// Another outcome.
    case use(Result<ResourceResponse<Content>, RequestFailure>)
    /// The outcome of another request, which is started.
    case pass(to: ResourceRequest<Content>)
}

extension ResourceRequest {
    /// A request that begins with this one and goes on as a closure says.
    ///
    /// Starting it starts this request, and if this request was started, it has been started too. Cancelling it cancels
    /// whichever request runs, and the closure is not called. If only the first request is cancelled, the closure
    /// receives `cancelled`. Its progress goes through all requests. ``repeated()`` repeats the first one and the closure.
    ///
    /// - Parameter next: Decides what follows, after the first request has ended.
    public func chained(
        _ next: @escaping @Sendable (Result<ResourceResponse<Content>, RequestFailure>) async -> ChainStep<Content>
    ) -> ResourceRequest {
        ResourceRequest(.chain(of: (box, next)))
    }
}

extension RequestBox {
    /// A request that begins with another one and goes on as a closure says.
    static func chain(of link: Link) -> RequestBox {
        let chain = RequestBox(link) { chain in
            // Without it the chain was dropped at the moment in which its first request was started.
            guard let (first, next) = chain.link else { return {} }
            let run = ChainRun<Content>(first)
            chain.whenCancelled { run.take() }
            if chain.reportsProgress {
                // The part for the first request; what is left is for the one that may follow.
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

/// The request of a chain that runs.
private final class ChainRun<Content: Sendable>: Sendable {
    private let present: Mutex<RequestBox<Content>?>

    init(_ first: RequestBox<Content>) { present = Mutex(first) }

    /// Waits for the first request, and goes on as the closure says. Nobody needs to wait for the chain.
    func finish(
        _ chain: RequestBox<Content>,
        _ next: @Sendable (RequestBox<Content>.Outcome) async -> ChainStep<Content>
    ) async {
        guard let first = present.withLock({ $0 }) else { return }
        let outcome = await first.outcome(keepsLoad: false)
        guard isActive else { return }
        switch await next(outcome) {
        case .keep: chain.end(outcome)
        case .use(let other): chain.end(other)
        case .pass(let second):
            guard goOn(with: second.box) else { return second.cancel() }
            if chain.reportsProgress {
                second.onProgress { if $0 < 1 { chain.deliver(progress: 0.8 + $0 * 0.2) } }
            }
            chain.end(await second.box.outcome(keepsLoad: false))
        }
    }

    /// Whether the chain was not cancelled.
    private var isActive: Bool { present.withLock { $0 != nil } }

    /// Goes on with another request.
    ///
    /// - Returns: Whether the chain was not cancelled.
    private func goOn(with request: RequestBox<Content>) -> Bool {
        present.withLock { present in
            guard present != nil else { return false }
            present = request
            return true
        }
    }

    /// Ends the run, and returns the request that is to be cancelled; `nil` if the run was ended before.
    func take() -> RequestBox<Content>? {
        present.withLock { present in
            defer { present = nil }
            return present
        }
    }
}

public import EssentialsHTTP
import EssentialsTools

/// A handle to a request with a completion handler: it reports the progress of the request and cancels it.
///
/// ```swift
/// let token = requests.get("report", deserializeTo: Report.self) { result in show(result) }
/// token.cancel()          // the handler receives the failure `cancelled`
/// ```
///
/// Two tokens are equal if they belong to the same request. Releasing a token does not cancel its request. Tokens can
/// be used from any thread.
public final class CancellableToken: Sendable {
    /// The state of a request.
    public enum State: Sendable, Hashable {
        /// Nothing has been sent yet, because the request was created with `autoResume: false`.
        case suspended
        /// The completion handler has not been called yet.
        case running
        /// ``CancellableToken/cancel(silently:)`` was called before the request ended.
        case cancelled
        /// The completion handler was called or is about to be called.
        case finished
    }

    private struct Storage {
        var state = State.running
        var isSilent = false
        var cancel: (@Sendable () -> Void)?
        /// Starts a suspended request, or ends it if it is cancelled.
        var start: (@Sendable (CancellableToken) -> Void)?
        var progress: TransferProgress?
        var observers: [AsyncStream<TransferProgress>.Continuation] = []
        var hasEnded = false
    }

    private static let count = Atomic<UInt64>(0)

    /// A number that is unique among the tokens of this process.
    public let id = CancellableToken.count.wrappingAdd(1, ordering: .relaxed).newValue
    private let storage = Mutex(Storage())

    init() {}

    deinit {
        // A token that was never resumed still has its observers.
        for observer in storage.withLock({ $0.observers }) { observer.finish() }
    }

    /// Cancels the request. It never blocks, does not call the handler itself, and does nothing if called again.
    ///
    /// If it is called on the handler's own serial queue, no success is delivered after it returns. If it is called
    /// elsewhere, the handler may already be running.
    ///
    /// - Parameter silently: Whether the handler is not called at all. The default is `false`: the handler receives the
    ///   failure `cancelled`.
    public func cancel(silently: Bool = false) {
        let cancel: (@Sendable () -> Void)? = storage.withLock { storage in
            guard storage.state == .running || storage.state == .suspended else { return nil }
            storage.state = .cancelled
            storage.isSilent = silently
            guard let start = storage.start.take() else { return storage.cancel.take() }
            return { start(self) }
        }
        cancel?()
    }

    /// Sends a request that was created with `autoResume: false`. It does nothing if called again, after
    /// ``cancel(silently:)``, and for other requests.
    public func resume() {
        let start: (@Sendable (CancellableToken) -> Void)? = storage.withLock { storage in
            guard storage.state == .suspended else { return nil }
            storage.state = .running
            return storage.start.take()
        }
        start?(self)
    }

    /// The state of the request.
    public var state: State { storage.withLock { $0.state } }
    /// Whether the request was cancelled before it ended.
    public var isCancelled: Bool { state == .cancelled }
    /// Whether the completion handler was called or is about to be called.
    public var isFinished: Bool { state == .finished }

    /// The latest progress of a download, or of the upload of a file, stream or multipart body. `nil` before the
    /// transfer has begun, and for other uploads without a progress callback.
    public var progress: TransferProgress? { storage.withLock { $0.progress } }

    /// A new stream of the latest progress and all later values. It keeps only the newest unread value, and ends with
    /// the request.
    public var progressUpdates: AsyncStream<TransferProgress> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: TransferProgress.self, bufferingPolicy: .bufferingNewest(1))
        let hasEnded = storage.withLock { storage in
            if let progress = storage.progress { continuation.yield(progress) }
            if !storage.hasEnded { storage.observers.append(continuation) }
            return storage.hasEnded
        }
        if hasEnded { continuation.finish() }
        return stream
    }

    // MARK: The request's side

    /// Keeps the request from starting until ``resume()`` or ``cancel(silently:)``, which call the action once.
    func suspend(_ start: @escaping @Sendable (CancellableToken) -> Void) {
        storage.withLock { storage in
            storage.state = .suspended
            storage.start = start
        }
    }

    /// Sets the action that cancels the request, and runs it at once if the token is already cancelled.
    func attach(_ cancel: @escaping @Sendable () -> Void) {
        let cancelsNow = storage.withLock { storage in
            if storage.state == .running { storage.cancel = cancel }
            return storage.state == .cancelled
        }
        if cancelsNow { cancel() }
    }

    /// Stores the progress and passes it on to the streams.
    func reached(_ progress: TransferProgress) {
        storage.withLock { storage in
            storage.progress = progress
            for observer in storage.observers { observer.yield(progress) }
        }
    }

    /// Ends the request and returns the result for the handler, or `nil` if the handler must not be called. Called
    /// once, on the handler's queue.
    func finish<Value>(with result: Result<Value, RequestFailure>) -> Result<Value, RequestFailure>? {
        let (state, isSilent, observers) = storage.withLock { storage in
            if storage.state == .running { storage.state = .finished }
            storage.cancel = nil
            storage.start = nil
            storage.hasEnded = true
            defer { storage.observers = [] }
            return (storage.state, storage.isSilent, storage.observers)
        }
        for observer in observers { observer.finish() }
        guard state == .cancelled else { return result }
        if isSilent { return nil }
        if case .failure(let failure) = result, failure.reason == .cancelled { return result }
        return .failure(RequestFailure(.cancelled, "The request was cancelled.", phase: .receiving))
    }
}

extension CancellableToken: Hashable {
    /// Whether both are the same token.
    public static func == (one: CancellableToken, other: CancellableToken) -> Bool { one.id == other.id }
    /// Hashes ``id``.
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

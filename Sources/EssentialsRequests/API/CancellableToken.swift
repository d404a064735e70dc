public import EssentialsHTTP
import Synchronization

/// Stands for a request that was started with a completion handler: tells how far it is, and cancels it.
///
/// ```swift
/// let token = requests.get("report", deserializeTo: Report.self) { result in … }
/// token.cancel()          // the handler receives the failure `cancelled`
/// ```
///
/// Two tokens are equal when they stand for the same request. Dropping a token cancels nothing. From any thread.
public final class CancellableToken: Sendable {
    /// Where a request is.
    public enum State: Sendable, Hashable {
        /// Its handler was not called yet.
        case running
        /// ``CancellableToken/cancel(silently:)`` came before the end.
        case cancelled
        /// Its handler was called, or is about to be.
        case finished
    }

    private struct Storage {
        var state = State.running
        var isSilent = false
        var cancel: (@Sendable () -> Void)?
        var progress: TransferProgress?
        var observers: [AsyncStream<TransferProgress>.Continuation] = []
        var hasEnded = false
    }

    private static let count = Atomic<UInt64>(0)

    /// The token's number, which no other has in this process.
    public let id = CancellableToken.count.wrappingAdd(1, ordering: .relaxed).newValue
    private let storage = Mutex(Storage())

    init() {}

    /// Cancels the request. Any number of times; it never blocks and never calls the handler itself.
    ///
    /// Called on the handler's own serial queue, no success is delivered after it has returned; from elsewhere the
    /// handler may already be running.
    ///
    /// - Parameter silently: Whether the handler is then not called at all.
    public func cancel(silently: Bool = false) {
        let cancel: (@Sendable () -> Void)? = storage.withLock { storage in
            guard storage.state == .running else { return nil }
            storage.state = .cancelled
            storage.isSilent = silently
            return storage.cancel.take()
        }
        cancel?()
    }

    /// Where the request is.
    public var state: State { storage.withLock { $0.state } }
    /// Whether ``cancel(silently:)`` came before the end.
    public var isCancelled: Bool { state == .cancelled }
    /// Whether the handler was called or is about to be.
    public var isFinished: Bool { state == .finished }

    /// How far a download, or the upload of a file, stream or multipart body, has come; nil before it has begun and for
    /// other requests.
    public var progress: TransferProgress? { storage.withLock { $0.progress } }

    /// The progress from now on; of several values that nobody has read yet, the newest. Ends with the request.
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

    /// Names what cancels; called at once when ``cancel(silently:)`` came first.
    func attach(_ cancel: @escaping @Sendable () -> Void) {
        let cancelsNow = storage.withLock { storage in
            if storage.state == .running { storage.cancel = cancel }
            return storage.state == .cancelled
        }
        if cancelsNow { cancel() }
    }

    /// The transfer has come so far.
    func reached(_ progress: TransferProgress) {
        storage.withLock { storage in
            storage.progress = progress
            for observer in storage.observers { observer.yield(progress) }
        }
    }

    /// What the handler is to receive; nil when it is not to be called. Called once, on the handler's queue.
    func finish<Value>(with result: Result<Value, RequestFailure>) -> Result<Value, RequestFailure>? {
        let (state, isSilent, observers) = storage.withLock { storage in
            if storage.state == .running { storage.state = .finished }
            storage.cancel = nil
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
    /// Hashes the number.
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

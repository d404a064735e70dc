package import Dispatch
import EssentialsHTTP

/// Runs the work of one request and then calls its completion handler on a serial queue that targets the caller's
/// queue.
///
/// The handler is called exactly once, or not at all if the request was cancelled silently.
package struct CallbackRun: Sendable {
    package let token: CancellableToken
    /// The request's own serial queue. Its callbacks never overlap and keep their order, whichever queue it targets.
    private let serial: DispatchQueue

    package init(on queue: DispatchQueue) {
        self.init(token: CancellableToken(), serial: DispatchQueue(label: "essentials.request", target: queue))
    }

    private init(token: CancellableToken, serial: DispatchQueue) {
        self.token = token
        self.serial = serial
    }

    /// Creates a report that updates the token and calls the callback on the queue, before the completion handler.
    func report(
        every interval: Duration, _ callback: (@Sendable (TransferProgress) -> Void)?
    ) -> ProgressReport {
        ProgressReport(every: interval) { [token, serial] progress in
            token.reached(progress)
            guard let callback else { return }
            serial.async { if token.state == .running { callback(progress) } }
        }
    }

    /// Calls a further callback on the queue, before the completion handler, unless the request was cancelled by then.
    package func notify(_ callback: @escaping @Sendable () -> Void) {
        serial.async { [token] in if token.state == .running { callback() } }
    }

    /// Starts the work in a task and returns the token that cancels it. The work begins on the thread of the caller, so that
    /// it uses the environment and the credentials of that moment, and leaves the thread at its first wait.
    ///
    /// - Parameters:
    ///   - completion: The handler.
    ///   - autoResume: Whether the work starts now instead of when the token is resumed.
    ///   - work: Sends the request of the run that it receives. It must not capture the run: a token that is never
    ///     resumed would then keep itself and the request in memory.
    package func start<Value: Sendable>(
        _ completion: @escaping @Sendable (Result<Value, RequestFailure>) -> Void, autoResume: Bool = true,
        _ work: @escaping @Sendable (CallbackRun) async throws(RequestFailure) -> Value
    ) -> CancellableToken {
        guard autoResume else {
            token.suspend { [serial] token in
                let run = CallbackRun(token: token, serial: serial)
                // A token that was cancelled before it was resumed still calls its handler.
                guard !token.isCancelled else { return run.deliver(.failure(Self.cancelled), completion) }
                run.begin(completion, work)
            }
            return token
        }
        begin(completion, work)
        return token
    }

    private static var cancelled: RequestFailure { RequestFailure(.cancelled, "The request was cancelled.") }

    private func begin<Value: Sendable>(
        _ completion: @escaping @Sendable (Result<Value, RequestFailure>) -> Void,
        _ work: @escaping @Sendable (CallbackRun) async throws(RequestFailure) -> Value
    ) {
        let task = Task.immediate {
            let result: Result<Value, RequestFailure>
            do throws(RequestFailure) {
                result = .success(try await work(self))
            } catch {
                result = .failure(error)
            }
            deliver(result, completion)
        }
        token.attach { task.cancel() }
    }

    private func deliver<Value: Sendable>(
        _ result: Result<Value, RequestFailure>,
        _ completion: @escaping @Sendable (Result<Value, RequestFailure>) -> Void
    ) {
        serial.async { [token] in if let result = token.finish(with: result) { completion(result) } }
    }
}

import Dispatch
import EssentialsHTTP

/// Runs a request's work and calls a completion handler exactly once, on a queue of its own that leads to the caller's.
struct CallbackRun: Sendable {
    let token = CancellableToken()
    /// Serial, so that a request's callbacks never overlap and keep their order, whatever queue it leads to.
    private let serial: DispatchQueue

    init(on queue: DispatchQueue) { serial = DispatchQueue(label: "essentials.request", target: queue) }

    /// A report that leads to the token, and to a callback on the queue, which comes before the completion.
    func report(
        every interval: Duration, _ callback: (@Sendable (TransferProgress) -> Void)?
    ) -> ProgressReport {
        ProgressReport(every: interval) { [token, serial] progress in
            token.reached(progress)
            guard let callback else { return }
            serial.async { if token.state == .running { callback(progress) } }
        }
    }

    /// Begins.
    func start<Value: Sendable>(
        _ completion: @escaping @Sendable (Result<Value, RequestFailure>) -> Void,
        _ work: @escaping @Sendable () async throws(RequestFailure) -> Value
    ) -> CancellableToken {
        let task = Task { [token, serial] in
            let result: Result<Value, RequestFailure>
            do throws(RequestFailure) {
                result = .success(try await work())
            } catch {
                result = .failure(error)
            }
            serial.async { if let result = token.finish(with: result) { completion(result) } }
        }
        token.attach { task.cancel() }
        return token
    }
}

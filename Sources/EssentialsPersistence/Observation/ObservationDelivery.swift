import Dispatch
import EssentialsTools

/// Calls the handler of an observation on its queue, one call after the other.
final class ObservationDelivery<Value: Sendable>: Sendable {
    private let queue: DispatchQueue
    private let handler: Mutex<(@Sendable (Result<Value, PersistenceFailure>) -> Void)?>

    init(_ queue: DispatchQueue?, _ handler: @escaping @Sendable (Result<Value, PersistenceFailure>) -> Void) {
        self.queue = queue ?? DispatchQueue(label: "ServiceEssentials.persistence.observation")
        self.handler = Mutex(handler)
    }

    /// Makes no further call, and releases the handler.
    func cancel() { handler.withLock { $0 = nil } }

    func deliver(_ observation: QueryObservation<Value>) async {
        var values = observation.makeAsyncIterator()
        do throws(PersistenceFailure) {
            while let value = try await values.next() { await call(.success(value)) }
        } catch {
            await call(.failure(error))
        }
        cancel()
    }

    private func call(_ result: Result<Value, PersistenceFailure>) async {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                let handler = handler.withLock { $0 }
                handler?(result)
                continuation.resume()
            }
        }
    }
}

/// Wakes a waiting observer when something has changed or its scope has ended.
///
/// All changes before the next wait are one wake-up.
final class WakeUps: Sendable {
    private let stream: AsyncStream<Void>
    private let observations: [PersistenceObservation]

    /// Observes a scope.
    ///
    /// - Parameters:
    ///   - service: The scope.
    ///   - isHeard: Receives each change, one at a time, on any thread, and returns whether it wakes the observer.
    /// - Throws: A failure with the reason `closed`.
    init(
        _ service: any PersistenceService, _ isHeard: @escaping @Sendable (PersistenceChange) -> Bool
    ) throws(PersistenceFailure) {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.stream = stream
        let changes = try service.observeChanges { if isHeard($0) { continuation.yield() } }
        let states = service.observeState { if $0 == .closed { continuation.finish() } }
        observations = [changes, states]
    }

    deinit { for observation in observations { observation.cancel() } }

    /// Waits for the next change. `false` if the scope was closed or the task cancelled.
    nonisolated(nonsending) func wait() async -> Bool {
        var iterator = stream.makeAsyncIterator()
        return await iterator.next(isolation: #isolation) != nil
    }
}

import EssentialsHTTP
import Synchronization

/// A streamed body that counts as a request in flight until it was read, or nobody reads it any more.
final class TrackedBody: ResponseBody.Source {
    private let source: any ResponseBody.Source
    private let inFlight: RequestsInFlight
    private let host: String?
    private let wasCancelled = Atomic(false)
    private let flight = Mutex<Flight?>(nil)

    init(
        _ source: any ResponseBody.Source, _ inFlight: RequestsInFlight, environment: EnvironmentSnapshot?,
        finishes: Bool, host: String?
    ) {
        self.source = source
        self.inFlight = inFlight
        self.host = host
        let flight = inFlight.keep(environment, finishes: finishes) { [weak self] in self?.cancelFromOutside() }
        self.flight.withLock { $0 = flight }
    }

    deinit { end() }

    func next() async throws(RequestFailure) -> BodyChunk? {
        do throws(RequestFailure) {
            if let chunk = try await source.next() { return chunk }
        } catch {
            end()
            throw wasCancelled.load(ordering: .acquiring) ? cancelled() : error
        }
        end()
        if wasCancelled.load(ordering: .acquiring) { throw cancelled() }
        return nil
    }

    func cancel() {
        source.cancel()
        end()
    }

    func abandon() {
        source.abandon()
        end()
    }

    var ending: ResponseEnding? { source.ending }

    private func cancelFromOutside() {
        wasCancelled.store(true, ordering: .releasing)
        source.cancel()
    }

    private func end() {
        if let flight = flight.withLock({ $0.take() }) { inFlight.end(flight) }
    }

    private func cancelled() -> RequestFailure {
        RequestFailure(
            .cancelled, "The service ended the request while its body was being read.", phase: .receiving, host: host)
    }
}

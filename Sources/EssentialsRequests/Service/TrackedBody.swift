import EssentialsHTTP
import EssentialsTools
import FoundationEssentials

/// A streamed body that counts as a request in flight until it was read or dropped.
final class TrackedBody: ResponseBody.Source {
    private let source: any ResponseBody.Source
    private let inFlight: RequestsInFlight
    private let host: String?
    private let cancellation: Cancellation
    private let place: Mutex<RequestsInFlight.Place?>
    private let reporter: RequestReporter
    /// What was read, for the report.
    private let progress = Mutex(Progress())

    private struct Progress {
        var count = 0
        /// The first bytes, if an observer wants them.
        var beginning = Data()
    }

    init(
        _ source: any ResponseBody.Source, of request: RequestsInFlight.Place, _ inFlight: RequestsInFlight,
        host: String?, _ reporter: RequestReporter
    ) {
        self.source = source
        self.inFlight = inFlight
        self.host = host
        self.reporter = reporter
        let place = inFlight.beginBody(of: request)
        cancellation = place.cancellation
        self.place = Mutex(place)
        // Called at once if the request was cancelled after its response came.
        _ = cancellation.add { [weak source] in source?.cancel() }
    }

    deinit { drop() }

    func next() async throws(RequestFailure) -> BodyChunk? {
        let failure: RequestFailure
        do throws(RequestFailure) {
            if let chunk = try await source.next() {
                if reporter.isOn { note(chunk) }
                return chunk
            }
            guard cancellation.isCancelled else {
                end(.completed, source.ending?.metrics)
                return nil
            }
            failure = cancelled()
        } catch {
            failure = cancellation.isCancelled ? cancelled() : error
        }
        end(.failed(failure))
        throw failure
    }

    func cancel() {
        source.cancel()
        drop()
    }

    func abandon() {
        source.abandon()
        drop()
    }

    var ending: ResponseEnding? { source.ending }

    private func drop() { end(.dropped) }

    private func note(_ chunk: BodyChunk) {
        let limit = reporter.bodyLimit
        progress.withLock { progress in
            progress.count += chunk.count
            guard progress.beginning.count < limit else { return }
            chunk.withUnsafeBytes { progress.beginning.append(contentsOf: $0.prefix(limit - progress.beginning.count)) }
        }
    }

    /// Ends the request, and reports its end once.
    private func end(_ outcome: RequestEvent.Ending.Outcome, _ metrics: TransportMetrics? = nil) {
        guard let place = place.withLock({ $0.take() }) else { return }
        if reporter.isOn {
            let (count, beginning) = progress.withLock { ($0.count, $0.beginning) }
            reporter.endedBody(outcome, read: Int64(count), metrics, beginning: beginning)
        }
        inFlight.end(place)
    }

    private func cancelled() -> RequestFailure {
        RequestFailure(
            .cancelled, "The service ended the request while its body was being read.", phase: .receiving, host: host)
    }
}

extension RequestsInFlight {
    /// The response, with a streamed body that counts as a request in flight and is cancelled with the service.
    func tracking(_ response: DataResponse, of place: Place, _ reporter: RequestReporter) -> DataResponse {
        guard case .stream(let source) = response.body.content else { return response }
        var response = response
        response.body = ResponseBody(
            source: TrackedBody(source, of: place, self, host: response.url?.origin.host.text, reporter))
        return response
    }
}

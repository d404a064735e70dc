import EssentialsHTTP
import EssentialsTools

/// A streamed body that counts as a request in flight until it was read or dropped.
final class TrackedBody: ResponseBody.Source {
    private let source: any ResponseBody.Source
    private let inFlight: RequestsInFlight
    private let host: String?
    private let cancellation: Cancellation
    private let place: Mutex<RequestsInFlight.Place?>
    private let log: RequestLog
    /// The number of bytes that were read, for the log.
    private let count = Atomic<Int>(0)

    init(
        _ source: any ResponseBody.Source, of request: RequestsInFlight.Place, _ inFlight: RequestsInFlight,
        host: String?, _ log: RequestLog
    ) {
        self.source = source
        self.inFlight = inFlight
        self.host = host
        self.log = log
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
                if log.isOn { count.add(chunk.count, ordering: .relaxed) }
                return chunk
            }
            guard cancellation.isCancelled else {
                end { log, count in log.finishedBody(source.ending?.metrics, read: count) }
                return nil
            }
            failure = cancelled()
        } catch {
            failure = cancellation.isCancelled ? cancelled() : error
        }
        end { log, count in log.failedBody(failure, read: count) }
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

    private func drop() { end { log, count in log.droppedBody(read: count) } }

    /// Ends the request, and logs its end once.
    private func end(_ write: (RequestLog, _ count: Int64) -> Void) {
        guard let place = place.withLock({ $0.take() }) else { return }
        if log.isOn { write(log, Int64(count.load(ordering: .relaxed))) }
        inFlight.end(place)
    }

    private func cancelled() -> RequestFailure {
        RequestFailure(
            .cancelled, "The service ended the request while its body was being read.", phase: .receiving, host: host)
    }
}

extension RequestsInFlight {
    /// The response, with a streamed body that counts as a request in flight and is cancelled with the service.
    func tracking(_ response: DataResponse, of place: Place, _ log: RequestLog) -> DataResponse {
        guard case .stream(let source) = response.body.content else { return response }
        var response = response
        response.body = ResponseBody(
            source: TrackedBody(source, of: place, self, host: response.url?.origin.host.text, log))
        return response
    }
}

import EssentialsHTTP
import Synchronization

/// A streamed body that counts as a request in flight until it was read or dropped.
final class TrackedBody: ResponseBody.Source {
    private let source: any ResponseBody.Source
    private let inFlight: RequestsInFlight
    private let host: String?
    private let cancellation: Cancellation
    private let place: Mutex<RequestsInFlight.Place?>

    init(
        _ source: any ResponseBody.Source, of request: RequestsInFlight.Place, _ inFlight: RequestsInFlight,
        host: String?
    ) {
        self.source = source
        self.inFlight = inFlight
        self.host = host
        let place = inFlight.beginBody(of: request)
        cancellation = place.cancellation
        self.place = Mutex(place)
        // Called at once if the request was cancelled after its response came.
        _ = cancellation.add { [weak source] in source?.cancel() }
    }

    deinit { end() }

    func next() async throws(RequestFailure) -> BodyChunk? {
        do throws(RequestFailure) {
            if let chunk = try await source.next() { return chunk }
        } catch {
            end()
            throw cancellation.isCancelled ? cancelled() : error
        }
        end()
        if cancellation.isCancelled { throw cancelled() }
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

    private func end() {
        if let place = place.withLock({ $0.take() }) { inFlight.end(place) }
    }

    private func cancelled() -> RequestFailure {
        RequestFailure(
            .cancelled, "The service ended the request while its body was being read.", phase: .receiving, host: host)
    }
}

extension RequestsInFlight {
    /// The response, with a streamed body that counts as a request in flight and is cancelled with the service.
    func tracking(_ response: DataResponse, of place: Place) -> DataResponse {
        guard case .stream(let source) = response.body.content else { return response }
        var response = response
        response.body = ResponseBody(
            source: TrackedBody(source, of: place, self, host: response.url?.origin.host.text))
        return response
    }
}

import EssentialsHTTP

/// Adds the fields of observers to each attempt.
final class ObserversStage: Stage {
    private let observers: [any RequestObserver]
    private let next: RemainingStages

    init(observers: [any RequestObserver], next: RemainingStages) { (self.observers, self.next) = (observers, next) }

    func send(
        _ request: TransportRequest, _ record: ExchangeRecord
    ) async throws(RequestFailure) -> TransportResponse {
        let origin = record.environment?.baseURL.origin
        let isOfEnvironment = !record.hasLeftOrigin && request.url.origin == origin
        guard let attempt = record.reporter.attempt(request, isOfEnvironment: isOfEnvironment) else {
            return try await next.send(request, record)
        }
        var carrying = request
        for observer in observers {
            // A field that is there stays, also one of an observer before this one.
            let present = carrying.headerFields
            for field in observer.fields(of: attempt) where !present.contains(field.name) {
                carrying.headerFields.append(field)
            }
        }
        return try await next.send(carrying, record)
    }
}

import EssentialsHTTP
import EssentialsTools

extension CacheExchange {
    /// Validates in the background a stale response that was served. Nothing happens if that is being done already, or if
    /// too many validations are running.
    ///
    /// The exchange belongs to the service. It does not end with the request, and a shutdown ends it.
    func validateInBackground(_ index: Int) {
        let (entry, key) = (stored.responses[index], flightKey(index))
        // Each use of such a response needs a validation of its own.
        guard !entry.head.requiresValidation, let place = stage.background.begin(in: record.environment) else { return }
        // The environment may have changed before the validation was among those that the change cancels.
        if record.cancellation.isCancelled { place.cancellation.cancel() }
        guard case .lead(let flight) = cache.flights.arrive(key) else {
            if let flight = cache.flights.running(key) { announce(flight, for: entry) }
            return stage.background.end(place)
        }
        announce(flight, for: entry)
        let background = BackgroundExchange(self, place, entry)
        let task = Task.detached { [stage] in
            let outcome = await background.outcome()
            // Not counted any more when those who have waited for its end go on.
            stage.background.end(place)
            background.cache.flights.end(flight, key, outcome)
        }
        let timer = Task.detached { [clock = stage.clock] in
            // The sleep is cancelled and throws when the validation has ended.
            guard (try? await clock.sleep(for: BackgroundValidations.time)) != nil else { return }
            place.cancellation.cancel()
        }
        flight.outcome.whenProvided { _ in timer.cancel() }
        _ = place.cancellation.add { task.cancel() }
    }

    /// Lets those who are served the stale response find the one that replaces or confirms it.
    private func announce(_ flight: CacheFlights.Flight, for entry: StoredResponse) {
        cache.updates.add(StoredUpdates.Update(key: lookup.key, flight: flight), to: entry.identity.load)
    }
}

/// A validation that no request waits for.
private struct BackgroundExchange: Sendable {
    private let stage: CacheStage
    private let key: ResponseKey
    private let partitions: CachePartitions
    private let entry: StoredResponse
    private let request: TransportRequest
    private let rules: ExchangeRules
    private let environment: EnvironmentSnapshot?
    private let submission: Submission
    private let hasLeftOrigin: Bool
    private let place: RequestsInFlight.Place
    private let template: String?

    init(_ exchange: CacheExchange, _ place: RequestsInFlight.Place, _ entry: StoredResponse) {
        let record = exchange.record
        (stage, key, self.entry, self.place) = (exchange.stage, exchange.lookup.key, entry, place)
        template = record.reporter.template(of: exchange.request)
        partitions = exchange.lookup.partitions
        var request = exchange.request
        request.raisablePriority = nil
        request.options.delivery = .collected(upTo: min(exchange.cache.store.largest, BackgroundValidations.largest))
        request.options.totalTimeout = min(
            BackgroundValidations.time, request.options.totalTimeout ?? BackgroundValidations.time)
        self.request = request
        var rules = record.rules
        (rules.downloadProgress, rules.cachePolicy) = (nil, .standard)
        self.rules = rules
        (environment, submission, hasLeftOrigin) = (record.environment, record.submission, record.hasLeftOrigin)
    }

    var cache: ResponseCache { partitions.cache }

    func outcome() async -> CacheFlights.Outcome {
        let record = ExchangeRecord(
            request, rules, id: place.id, environment: environment, submission: submission,
            cancellation: place.cancellation)
        record.hasLeftOrigin = hasLeftOrigin
        record.deadline = SharedDeadline(of: request, clock: stage.clock.clock)
        let lookup = CacheStageLookup(key, request, record, partitions, isOffline: false, stage.next)
        let exchange = CacheExchange(stage, lookup, await cache.store.lookup(key), request, record)
        // Another request may have validated the response since it was served.
        guard await exchange.isCurrent(entry) else { return .stored(exchange.newest(after: entry)) }
        let reporter = stage.background.reporter(place, request, template: template)
        record.reporter = reporter
        do throws(RequestFailure) {
            let isValidated = try await exchange.validateAgain()
            reporter.completed()
            guard isValidated else { return .failed }
            let facts = record.cacheFacts
            return .stored(facts?.use.isStored == true ? facts?.identity : nil)
        } catch {
            reporter.failed(error)
            return exchange.isOwn(error) ? .left : .failed
        }
    }
}

extension CacheExchange {
    /// The identity of the newest response that was stored after another one; `nil` if there is none.
    fileprivate func newest(after entry: StoredResponse) -> ResponseIdentity? {
        stored.responses.map(\.identity).filter { $0.load > entry.identity.load }.max { $0.load < $1.load }
    }

    /// Asks the server about what is stored.
    ///
    /// - Returns: `false` if the server has an error, which never replaces what is stored.
    fileprivate func validateAgain() async throws(RequestFailure) -> Bool {
        let fetch = await fetch(.stale)
        let conditions = CacheRules.conditions(for: lookup.request, stored: heads)
        record.reporter.begins(request)
        var response = try await sent(conditions)
        let isError = response.statusCode >= 500
        if !isError { response = try await stored(response, of: fetch, conditions) }
        record.tellCache()
        record.reporter.received(DataResponse(response), record)
        await BodyDrain(clock: stage.clock.clock).drain(response.body, record.cancellation)
        return !isError
    }
}

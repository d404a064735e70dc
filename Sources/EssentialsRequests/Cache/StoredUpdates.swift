import EssentialsHTTP
import EssentialsStorage
import EssentialsTools

/// The validations in the background, running ones and those that have ended lately. Each is found by the number of the
/// stale response that it replaces or confirms.
///
/// The number is known only to the callers that were served the stale response, so no caller finds a response of another
/// partition.
final class StoredUpdates: Sendable {
    struct Update: Sendable {
        let key: ResponseKey
        let flight: CacheFlights.Flight
    }

    /// The maximum number of validations that are found.
    static let maximum = 1_024

    private let updates = Mutex(
        LeastRecentlyUsed<UInt64, Update>(maximumCount: StoredUpdates.maximum, maximumBytes: .max))

    /// Adds the validation of a response with this load number.
    func add(_ update: Update, to load: UInt64) { updates.withLock { _ = $0.insert(update, for: load, bytes: 0) } }

    /// The validation of a response with this load number; `nil` if there is none.
    func update(to load: UInt64) -> Update? { updates.withLock { $0.use(load) } }

    /// Forgets validations. Their responses are then delivered to nobody.
    func remove(where isRemoved: (ResponseKey) -> Bool) {
        let removed = updates.withLock { updates in
            updates.keys.compactMap { load in
                updates.use(load).flatMap { isRemoved($0.key) ? updates.remove(load) : nil }
            }
        }
        withExtendedLifetime(removed) {}
    }
}

extension ResponseCache {
    /// The responses by which validations in the background replace or confirm a stored response, one after the other.
    ///
    /// - Parameter load: The number of the response that the caller has.
    func updates(of url: RequestURL, after load: UInt64, _ clock: RequestClock) -> AsyncStream<DataResponse> {
        let last = Atomic<UInt64>(load)
        return AsyncStream { [self] in
            let response = await update(of: url, after: last.load(ordering: .relaxed), clock)
            if let identity = response?.identity { last.store(identity.load, ordering: .relaxed) }
            return response
        }
    }

    /// The response that is stored by the validation of a response; `nil` if there is none.
    private func update(of url: RequestURL, after load: UInt64, _ clock: RequestClock) async -> DataResponse? {
        guard let update = updates.update(to: load), update.key.url == url,
            case .stored(let identity?) = await update.flight.outcome.valueUnlessCancelled()
        else { return nil }
        let found = await store.lookup(update.key)
        guard let entry = found.responses.first(where: { $0.identity.body == identity.body }),
            entry.identity.load > load, let body = await store.body(of: entry, for: update.key)?.all()
        else { return nil }
        // A logout since then has forgotten the validation.
        guard updates.update(to: load) != nil, !update.key.owner.hasEnded else { return nil }
        var response = DataResponse(
            TransportResponse(
                entry.head.status, stored: entry.head.fields(isValidated: true),
                age: entry.head.use(at: clock.moment).servedAge, body: ResponseBody(body)),
            url: url)
        response.identity = entry.identity
        let use = CacheUse(
            .validated, CacheStatus(hitFor: entry.head.timeLeft(at: clock.moment)), isStored: true)
        response.cacheFacts = CacheFacts(use, entry.identity, isPersonal: entry.isPersonal)
        return response
    }
}

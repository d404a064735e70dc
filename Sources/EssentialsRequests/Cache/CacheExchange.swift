import EssentialsHTTP
import FoundationEssentials

/// Answers one request from what a lookup has found, or from the server. It is an object, because each of its many steps would
/// copy a value.
final class CacheExchange {
    let stage: CacheStage
    let lookup: CacheStageLookup
    let stored: ResponseLookup
    let request: TransportRequest
    let record: ExchangeRecord
    let options: CacheOptions
    let heads: [StoredHead]

    init(
        _ stage: CacheStage, _ lookup: CacheStageLookup, _ stored: ResponseLookup, _ request: TransportRequest,
        _ record: ExchangeRecord
    ) {
        self.stage = stage
        self.lookup = lookup
        self.stored = stored
        self.request = request
        self.record = record
        var options = lookup.partitions.cache.options
        options.isOffline = options.isOffline || lookup.isOffline
        self.options = options
        heads = stored.responses.map(\.head)
    }

    var cache: ResponseCache { lookup.partitions.cache }
    /// Whether the request stores the response itself; see ``CacheBinding``.
    var isBound: Bool { record.rules.boundContent != nil }

    /// The response, stored or from the server.
    ///
    /// - Parameter hasWaited: Whether the request has waited for a validation. It then asks the server itself if it cannot
    ///   use what is stored.
    /// - Returns: `nil` if the request has waited for the validation of another one, so that it is looked up again.
    func response(_ hasWaited: inout Bool) async throws(RequestFailure) -> TransportResponse? {
        let now = stage.clock.moment
        switch CacheRules.answer(to: lookup.request, stored: heads, now: now, options: options) {
        case .serve(let index, let use):
            if let response = try await served(index, use, isJustFound: true) { return response }
            // The body was removed after the lookup.
            return try await fetched(.uriMiss, conditions: [:], fallback: nil)
        case .notModified(let index, let use):
            return notModified(index, use)
        case .part(let index, let use, let range):
            if let response = try await part(range, of: index, use) { return response }
            return try await fetched(.uriMiss, conditions: [:], fallback: nil)
        case .serveAndValidate(let index, _)
        where isBound || stored.responses[index].body.map { $0.count > BackgroundValidations.largest } ?? false:
            // A body that is too large for a validation in the background would stay stale, and a bound request has to
            // judge it.
            let conditions = CacheRules.conditions(for: lookup.request, stored: heads)
            return try await fetched(.stale, conditions: conditions, fallback: index)
        case .serveAndValidate(let index, let use):
            guard let response = try await served(index, use, isJustFound: true) else {
                return try await fetched(.uriMiss, conditions: [:], fallback: nil)
            }
            validateInBackground(index)
            return response
        case .validate(_, _, let fallback) where !areFromHere:
            return try await fetched(.stale, conditions: policyFields, fallback: fallback)
        case .validate(let conditions, let index, let fallback):
            return try await validated(index, conditions, fallback, &hasWaited)
        case .forward(let reason, nil) where !hasWaited && isLeased(reason):
            return try await leased(reason, &hasWaited)
        case .forward(let reason, let fallback):
            return try await fetched(reason, conditions: policyFields, fallback: fallback)
        case .unavailable: throw Self.unavailable(request, isOffline: options.isOffline)
        }
    }

    /// The failure of a request that accepts only a stored response.
    static func unavailable(_ request: TransportRequest, isOffline: Bool) -> RequestFailure {
        RequestFailure(
            .notCached, "The request accepts only a stored response, and none is stored for it.",
            remedy: isOffline
                ? "The cache is offline. Set isOffline to false, so that the server is asked."
                : "Send it with another cache policy, so that the server is asked.",
            host: request.hostText, transmission: .unsent)
    }

    // MARK: Responses of the server

    /// The validation that the request can share with others; `nil` if it needs a validation of its own.
    ///
    /// A response that has to be validated for each use is not used by requests that came later than its validation. A
    /// response without a lifetime is stale again at once, so waiting for its validation would save nothing.
    private func sharedValidation(_ index: Int) -> CacheFlights.Key? {
        let head = stored.responses[index].head
        guard request.method == .get, lookup.request.policy == .standard, !head.requiresValidation,
            head.lifetime > .zero, !request.headerFields.contains(.cacheControl)
        else { return nil }
        return flightKey(index)
    }

    func flightKey(_ index: Int) -> CacheFlights.Key {
        CacheFlights.Key(key: lookup.key, body: stored.responses[index].identity.body)
    }

    /// Validates a stale response, or waits for a validation that is running.
    ///
    /// - Parameter fallback: The stored response that may be served instead of a failure; `nil` if none may.
    private func validated(
        _ index: Int, _ conditions: HTTPFields, _ fallback: Int?, _ hasWaited: inout Bool
    ) async throws(RequestFailure) -> TransportResponse? {
        guard !hasWaited, let key = sharedValidation(index) else {
            return try await fetched(.stale, conditions: conditions, fallback: fallback)
        }
        // The body of a streamed response is stored only when its reader has read it, so nobody waits for that.
        guard case .collected = request.options.delivery else {
            guard let flight = cache.flights.running(key) else {
                return try await fetched(.stale, conditions: conditions, fallback: fallback)
            }
            return try await follow(flight, fallback, &hasWaited)
        }
        switch cache.flights.arrive(key) {
        case .lead(let flight): return try await lead(flight, key, index, conditions, fallback, &hasWaited)
        case .follow(let flight): return try await follow(flight, fallback, &hasWaited)
        }
    }

    /// Validates a stale response for all requests that wait for it.
    private func lead(
        _ flight: CacheFlights.Flight, _ key: CacheFlights.Key, _ index: Int, _ conditions: HTTPFields,
        _ fallback: Int?, _ hasWaited: inout Bool
    ) async throws(RequestFailure) -> TransportResponse? {
        var outcome = CacheFlights.Outcome.left
        defer { cache.flights.end(flight, key, outcome) }
        // An earlier validation may have ended since the lookup.
        guard await isCurrent(stored.responses[index]) else {
            (outcome, hasWaited) = (.stored(nil), true)
            return nil
        }
        let lease = await cache.lease(lookup.key, for: Self.leaseTime)
        if lease == nil, await isReplaced(stored.responses[index].load, within: Self.leaseWait) {
            (outcome, hasWaited) = (.stored(nil), true)
            return nil
        }
        defer { if let lease { cache.end(lease, of: lookup.key) } }
        do throws(RequestFailure) {
            let response = try await fetched(.stale, conditions: conditions, fallback: fallback)
            outcome = record.cacheFacts?.trouble.map { .trouble($0) } ?? .stored(record.cacheFacts?.identity)
            return response
        } catch {
            outcome = isOwn(error) ? .left : .failed
            throw error
        }
    }

    /// How long another process is given to validate a response before this one does too.
    static let leaseTime = Duration.seconds(2)
    /// How long its result is waited for.
    private static let leaseWait = Duration.milliseconds(100)

    /// Whether another process may be asking the server for the same response, so that this one waits for it.
    private func isLeased(_ reason: ForwardReason) -> Bool {
        guard cache.store.leasesMisses, reason == .uriMiss || reason == .varyMiss, record.rules.joins,
            request.method == .get, !isBound,
            lookup.request.policy == .standard, case .collected = request.options.delivery
        else { return false }
        return !cache.unstored.contains(lookup.key)
    }

    /// Asks the server, unless another process is asking it and stores its response soon.
    private func leased(
        _ reason: ForwardReason, _ hasWaited: inout Bool
    ) async throws(RequestFailure) -> TransportResponse? {
        let newest = stored.responses.map(\.load).max() ?? 0
        let lease = await cache.lease(lookup.key, for: Self.leaseTime)
        defer { if let lease { cache.end(lease, of: lookup.key) } }
        let isThere: Bool
        if let lease {
            // Another process can have stored one, and ended its lease, since the lookup.
            isThere = lease.isFree ? false : await hasNewer(than: newest)
        } else {
            isThere = await isReplaced(newest, within: Self.leaseWait)
        }
        hasWaited = true
        guard !isThere else { return nil }
        let response = try await fetched(reason, conditions: policyFields, fallback: nil)
        // Nothing is gained by waiting for a response that is not stored.
        if record.cacheFacts?.use.isStored != true { cache.unstored.insert(lookup.key) }
        return response
    }

    /// Whether there is a newer response than the one with this number, also one of another process.
    private func hasNewer(than load: UInt64) async -> Bool {
        // What the memory has says nothing about other processes.
        guard await cache.sharedLookup(lookup.key).responses.contains(where: { $0.load > load }) else { return false }
        cache.forgetInMemory(lookup.key)
        return true
    }

    /// Waits until another process has stored a newer response than the one with this number, or confirmed it, up to a limit.
    private func isReplaced(_ load: UInt64, within limit: Duration) async -> Bool {
        let steps = 4
        let end = stage.clock.now + limit
        for _ in 0..<steps {
            guard (try? await stage.clock.sleep(for: limit / steps)) != nil else { return false }
            if await hasNewer(than: load) { return true }
            // A slow store is not waited for at each look.
            guard stage.clock.now < end else { return false }
        }
        return false
    }

    /// Whether a failure concerns this request alone: it was cancelled, its service was shut down, its credentials have
    /// ended, or its time is over.
    func isOwn(_ failure: RequestFailure) -> Bool {
        switch failure.reason {
        case .cancelled, .closed: true
        case .authorization: record.submission.hasEnded
        case .timeout: record.deadline.remaining.map { $0 <= SharedExchange.tolerance } ?? false
        default: false
        }
    }

    /// Whether nothing has replaced or confirmed a stored response since the lookup.
    func isCurrent(_ entry: StoredResponse) async -> Bool {
        await cache.store.lookup(lookup.key).responses.contains { $0.identity == entry.identity }
    }

    /// Waits for a validation that is running.
    private func follow(
        _ flight: CacheFlights.Flight, _ fallback: Int?, _ hasWaited: inout Bool
    ) async throws(RequestFailure) -> TransportResponse? {
        let start = ContinuousClock.now
        let verdict = await cache.flights.verdict(
            of: flight, within: record.deadline.remaining, stage.clock, record.cancellation)
        record.reporter.tell(.waited(.init(reason: .validation, duration: .now - start)))
        switch verdict {
        case .ended(.left): return nil
        case .ended(.trouble(let trouble)):
            if let fallback, let response = try await stale(fallback, insteadOf: trouble, .stale) { return response }
            hasWaited = true
            return nil
        case .ended(.stored), .ended(.failed):
            hasWaited = true
            return nil
        case .cancelled:
            throw RequestFailure(
                .cancelled, "The request was cancelled while it waited for the validation of another one.",
                phase: .waiting, host: request.hostText)
        case .expired:
            if let fallback, let response = try await stale(fallback, insteadOf: .failure(.timeout), .stale) {
                return response
            }
            throw RequestFailure(
                .timeout, "The validation that the request waited for did not end before its deadline.",
                phase: .waiting, host: request.hostText)
        }
    }

    /// What the policy of the request says to caches on the way, unless the request says it itself.
    private var policyFields: HTTPFields {
        guard let text = lookup.request.policy.cacheControl, !request.headerFields.contains(.cacheControl) else {
            return [:]
        }
        return [.cacheControl: text]
    }

    /// The response of the server, or the stored one that it confirms or that is served instead of a failure.
    ///
    /// - Parameter conditions: The fields that are added to the request.
    func fetched(
        _ reason: ForwardReason, conditions: HTTPFields, fallback: Int?
    ) async throws(RequestFailure) -> TransportResponse {
        let fetch = await fetch(reason)
        let response: TransportResponse
        do throws(RequestFailure) {
            response = try await sent(conditions)
        } catch {
            guard let fallback, error.reason != .cancelled,
                let instead = try await stale(fallback, insteadOf: .failure(error.trouble), reason)
            else { throw error }
            return instead
        }
        if let fallback, response.statusCode >= 500,
            let instead = try await stale(fallback, insteadOf: .status(response.statusCode), reason)
        {
            await BodyDrain(clock: stage.clock.clock).drain(response.body, record.cancellation)
            return instead
        }
        return try await stored(response, of: fetch, conditions)
    }

    /// A request to the server that begins now.
    func fetch(_ reason: ForwardReason) async -> CacheFetch {
        // In another order, an invalidation between both could be missed.
        var ticket = stored.ticket
        if ticket == nil { ticket = await cache.store.ticket(for: lookup.key) }
        return CacheFetch(number: cache.nextNumber(), ticket: ticket, reason: reason)
    }

    /// Sends the request with further fields.
    func sent(_ conditions: HTTPFields) async throws(RequestFailure) -> TransportResponse {
        record.attemptTime = AttemptTime()
        guard !conditions.isEmpty else { return try await stage.next.send(request, record) }
        var conditional = request
        for field in conditions { conditional.headerFields.append(field) }
        return try await stage.next.send(conditional, record)
    }

    /// The stored response that is served instead of a failure; `nil` if the failure counts.
    private func stale(
        _ index: Int, insteadOf trouble: CacheTrouble, _ reason: ForwardReason
    ) async throws(RequestFailure) -> TransportResponse? {
        let now = stage.clock.moment
        guard
            let use = CacheRules.mayServe(stored.responses[index].head, insteadOf: trouble, now: now, options: options)
        else { return nil }
        return try await served(index, use, trouble: trouble)
    }
}

extension RequestFailure {
    /// The reason that counts for stale responses. A proxy or a token server that cannot be reached is like the server itself.
    fileprivate var trouble: Reason { reason != .status && isOutage ? .connection : reason }
}

/// A request to the server whose response may be stored.
struct CacheFetch: Sendable {
    /// The number of the request.
    let number: UInt64
    /// What the response has to prove when it is stored; `nil` if it is not stored.
    let ticket: ResponseTicket?
    /// Why the request is sent.
    let reason: ForwardReason
}

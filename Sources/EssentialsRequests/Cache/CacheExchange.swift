import EssentialsHTTP
import FoundationEssentials

/// Answers one request from what a lookup has found, or from the server.
struct CacheExchange {
    private let stage: CacheStage
    private let lookup: CacheStageLookup
    private let stored: CacheLookup
    private let request: TransportRequest
    private let record: ExchangeRecord
    private let options: CacheOptions

    init(
        _ stage: CacheStage, _ lookup: CacheStageLookup, _ stored: CacheLookup, _ request: TransportRequest,
        _ record: ExchangeRecord
    ) {
        self.stage = stage
        self.lookup = lookup
        self.stored = stored
        self.request = request
        self.record = record
        options = stage.cache.options
    }

    private var cache: ResponseCache { stage.cache }
    private var heads: [StoredHead] { stored.entries.map(\.head) }

    /// The response, stored or from the server.
    ///
    /// - Parameter hasWaited: Whether the request has waited for a validation that has stored a response. It then asks the
    ///   server itself if it cannot use that.
    /// - Returns: `nil` if the request has waited for the validation of another one, so that it is looked up again.
    func response(_ hasWaited: inout Bool) async throws(RequestFailure) -> TransportResponse? {
        let now = stage.clock.moment
        switch CacheRules.answer(to: lookup.request, stored: heads, now: now, options: options) {
        case .serve(let index, let use):
            if let response = try await served(index, use, at: now) { return response }
            // The body was removed after the lookup.
            return try await fetched(.uriMiss, conditions: [:], fallback: nil)
        case .notModified(let index, let use):
            return notModified(index, use, at: now)
        case .part(let index, let use, let range):
            if let response = try await part(range, of: index, use, at: now) { return response }
            return try await fetched(.uriMiss, conditions: [:], fallback: nil)
        case .serveAndValidate(let index, _):
            // Nothing is validated in the background, so the server is asked first.
            let conditions = CacheRules.conditions(for: lookup.request, stored: heads)
            return try await validated(conditions, index, &hasWaited)
        case .validate(let conditions, let fallback):
            return try await validated(conditions, fallback, &hasWaited)
        case .forward(let reason, let fallback):
            return try await fetched(reason, conditions: policyFields, fallback: fallback)
        case .unavailable: throw unavailable
        }
    }

    // MARK: Stored responses

    /// The stored response; `nil` if its body is gone.
    private func served(
        _ index: Int, _ use: StoredUse, at now: CacheMoment, isValidated: Bool = false, head: StoredHead? = nil,
        load: UInt64? = nil, status: CacheStatus? = nil, part: ByteRange? = nil, trouble: CacheTrouble? = nil
    ) async throws(RequestFailure) -> TransportResponse? {
        let entry = stored.entries[index]
        let head = head ?? entry.head
        let data = request.method == .head ? Data() : await cache.store.body(of: entry, lookup.key)
        guard let data else { return nil }
        try record.submission.check(request)
        if part == nil { try check(data.count) }
        report(data)
        let outcome: CacheUse.Outcome = isValidated ? .validated : use.kind == .fresh ? .hit : .stale
        record.isFromCache = true
        record.cacheFacts = CacheFacts(
            CacheUse(
                outcome, status ?? CacheStatus(hitFor: use.timeLeft), age: use.age, timeLeft: use.timeLeft,
                isStored: true),
            ResponseIdentity(load: load ?? entry.identity.load, body: entry.identity.body), trouble: trouble)
        return TransportResponse(
            HTTPResponse(status: head.status, headerFields: head.servedFields(at: now, isValidated: isValidated)),
            body: ResponseBody(data))
    }

    /// Checks a stored body against the limit of the request.
    private func check(_ count: Int) throws(RequestFailure) {
        guard case .collected(let limit) = request.options.delivery, count > limit else { return }
        throw ResponseBody.tooLarge(limit).changed { $0.host = request.hostText }
    }

    /// A range of a stored response (RFC 9110, 14.2 and 15.5.17); `nil` if its body is gone.
    private func part(
        _ range: ByteRange, of index: Int, _ use: StoredUse, at now: CacheMoment
    ) async throws(RequestFailure) -> TransportResponse? {
        guard let whole = try await served(index, use, at: now, part: range), let data = whole.body.data else {
            return nil
        }
        var fields = whole.headerFields
        let bytes = range.resolved(length: Int64(data.count))
        guard let bytes else {
            fields = HTTPFields(fields.filter { !HTTPFields.ofBody.contains($0.name) })
            fields[.contentRange] = "bytes */\(data.count)"
            return TransportResponse(
                HTTPResponse(status: .rangeNotSatisfiable, headerFields: fields), body: ResponseBody(Data()))
        }
        try check(bytes.count)
        fields[.contentRange] = "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(data.count)"
        fields[.contentLength] = "\(bytes.count)"
        let start = data.startIndex
        let part = data[(start + Int(bytes.lowerBound))..<(start + Int(bytes.upperBound))]
        return TransportResponse(
            HTTPResponse(status: .partialContent, headerFields: fields), body: ResponseBody(Data(part)))
    }

    /// Reports the progress of a body that is there already.
    private func report(_ body: Data) {
        guard let progress = record.rules.downloadProgress?.forOperation() else { return }
        progress.begin(expected: Int64(body.count))
        progress.reached(Int64(body.count))
        progress.finish()
    }

    /// The response to a condition of the caller that a fresh response meets (RFC 9110, 13.2.2).
    private func notModified(_ index: Int, _ use: StoredUse, at now: CacheMoment) -> TransportResponse {
        let entry = stored.entries[index]
        record.isFromCache = true
        record.cacheFacts = CacheFacts(
            CacheUse(
                .hit, CacheStatus(hitFor: use.timeLeft), age: use.age, timeLeft: use.timeLeft, isStored: true),
            entry.identity)
        return TransportResponse(
            HTTPResponse(
                status: .notModified,
                headerFields: entry.head.servedFields(at: now, isValidated: false).ofNotModified),
            body: ResponseBody(Data()))
    }

    /// The failure of a request that accepts only a stored response.
    private var unavailable: RequestFailure {
        RequestFailure(
            .notCached, "The request accepts only a stored response, and none is stored for it.",
            remedy: options.isOffline
                ? "The cache is offline. Set isOffline to false, so that the server is asked."
                : "Send it with another cache policy, so that the server is asked.",
            host: request.hostText, transmission: .unsent)
    }

    // MARK: Responses of the server

    /// The validation that the request can share with others; `nil` if it needs a validation of its own.
    ///
    /// A response that has to be validated for each use is not used by requests that came later than its validation.
    private func sharedValidation(_ index: Int) -> CacheFlights.Key? {
        guard request.method == .get, lookup.request.policy == .standard,
            !stored.entries[index].head.requiresValidation, !request.headerFields.contains(.cacheControl)
        else { return nil }
        return CacheFlights.Key(key: lookup.key, body: stored.entries[index].identity.body)
    }

    /// Validates a stale response, or waits for a validation that is running.
    private func validated(
        _ conditions: HTTPFields, _ fallback: Int?, _ hasWaited: inout Bool
    ) async throws(RequestFailure) -> TransportResponse? {
        guard !hasWaited, let fallback, let key = sharedValidation(fallback) else {
            return try await fetched(.stale, conditions: conditions, fallback: fallback)
        }
        switch stage.flights.arrive(key) {
        case .lead(let flight):
            var outcome = CacheFlights.Outcome.failed
            defer { stage.flights.end(flight, key, outcome) }
            // An earlier validation may have ended since the lookup.
            let identity = stored.entries[fallback].identity
            guard await cache.store.lookup(lookup.key).entries.contains(where: { $0.identity == identity }) else {
                outcome = .stored
                return nil
            }
            let response = try await fetched(.stale, conditions: conditions, fallback: fallback)
            outcome = record.cacheFacts?.trouble.map { .trouble($0) } ?? .stored
            return response
        case .follow(let flight):
            let verdict = await stage.flights.verdict(
                of: flight, within: record.deadline.remaining, stage.clock, record.cancellation)
            switch verdict {
            case .ended(.stored):
                hasWaited = true
                return nil
            case .ended(.trouble(let trouble)):
                return try await stale(fallback, insteadOf: trouble, .stale)
            case .ended(.failed): return nil
            case .cancelled:
                throw RequestFailure(
                    .cancelled, "The request was cancelled while it waited for the validation of another one.",
                    phase: .waiting, host: request.hostText)
            case .expired:
                throw RequestFailure(
                    .timeout, "The validation that the request waited for did not end before its deadline.",
                    phase: .waiting, host: request.hostText)
            }
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
    private func fetched(
        _ reason: ForwardReason, conditions: HTTPFields, fallback: Int?
    ) async throws(RequestFailure) -> TransportResponse {
        let number = cache.nextNumber()
        let response: TransportResponse
        do throws(RequestFailure) {
            response = try await sent(conditions)
        } catch {
            guard let fallback, error.reason != .cancelled,
                let instead = try await stale(fallback, insteadOf: .failure(error.reason), reason)
            else { throw error }
            return instead
        }
        if let fallback, response.statusCode >= 500,
            let instead = try await stale(fallback, insteadOf: .status(response.statusCode), reason)
        {
            await BodyDrain(clock: stage.clock.clock).drain(response.body, record.cancellation)
            return instead
        }
        return try await stored(response, number, conditions, reason)
    }

    /// Sends the request with further fields.
    private func sent(_ conditions: HTTPFields) async throws(RequestFailure) -> TransportResponse {
        record.sentAt = nil
        record.recordsTimes = true
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
        guard let use = CacheRules.mayServe(stored.entries[index].head, insteadOf: trouble, now: now, options: options)
        else { return nil }
        return try await served(index, use, at: now, trouble: trouble)
    }

    /// Stores a response, or uses it to confirm a stored one.
    private func stored(
        _ response: TransportResponse, _ number: UInt64, _ conditions: HTTPFields, _ reason: ForwardReason
    ) async throws(RequestFailure) -> TransportResponse {
        let now = stage.clock.moment
        let isUnpacked = request.options.decompresses && response.headerFields.contains(.contentEncoding)
        let disposition = CacheRules.disposition(
            of: response.head, to: lookup.request, conditions: conditions, stored: heads,
            requestedAt: record.sentAt ?? now, now: now,
            sent: { [record, request] name in
                CacheStageLookup.constant(name, request) ?? record.sentFields.joined(name)
            }, isUnpacked: isUnpacked, options: options)
        switch disposition {
        case .store(let head, let replaced):
            return try await keep(response, head, replacing: replaced, number, reason)
        case .freshen(let index, let head):
            return try await freshened(response, index, head, number, conditions, reason, at: now)
        case .makeStale(let index):
            let entry = stored.entries[index]
            let stale = CacheEntry(
                head: entry.head.madeStale(options), identity: ResponseIdentity(load: number, body: entry.identity.body)
            )
            _ = await cache.store.freshen(stale, for: lookup.key, since: stored.ticket)
            return passed(response, number, reason, nil)
        case .fetchAgain:
            guard response.status == .notModified, !conditions.isEmpty else {
                return passed(response, number, reason, nil)
            }
            await BodyDrain(clock: stage.clock.clock).drain(response.body, record.cancellation)
            let again = try record.deadline.limited(
                request, between: "two attempts", after: "the server had confirmed a response that is not stored")
            return try await CacheExchange(stage, lookup, CacheLookup(ticket: stored.ticket), again, record)
                .fetched(reason, conditions: [:], fallback: nil)
        case .invalidate(let urls):
            for url in urls { await cache.store.invalidate(url) }
            return passed(response, number, reason, nil)
        case .pass(let why): return passed(response, number, reason, why)
        }
    }

    /// The response of the server, which is not stored.
    private func passed(
        _ response: TransportResponse, _ number: UInt64, _ reason: ForwardReason, _ why: NotStoredReason?
    ) -> TransportResponse {
        record.cacheFacts = CacheFacts(
            CacheUse(.missed, CacheStatus(forwarded: reason, status: response.statusCode, detail: why)),
            ResponseIdentity(load: number, body: number))
        return response
    }

    /// Stores a response with its body, and returns it.
    private func keep(
        _ response: TransportResponse, _ head: StoredHead, replacing replaced: Int?, _ number: UInt64,
        _ reason: ForwardReason
    ) async throws(RequestFailure) -> TransportResponse {
        if !record.submission.mayStore { return passed(response, number, reason, .otherCredentials) }
        if record.wasSigned, !lookup.key.partition.isNamed { return passed(response, number, reason, .signed) }
        guard case .collected = request.options.delivery else { return passed(response, number, reason, .streamed) }
        var response = response
        if !response.body.isWhole {
            guard record.rules.redirects.mayFollow(response) else {
                response = try await response.collected(for: request, record)
                return try await keep(response, head, replacing: replaced, number, reason)
            }
            // The body of a redirect is unwanted, so it never fails the request.
            let (data, isComplete) = await BodyDrain(clock: stage.clock.clock).keep(response.body, record.cancellation)
            guard isComplete else {
                response.body = ResponseBody(Data())
                return passed(response, number, reason, .incomplete)
            }
            response.body = ResponseBody(data)
        }
        guard let data = response.body.data, isWhole(data, of: response) else {
            return passed(response, number, reason, .incomplete)
        }
        let old = replaced.map { stored.entries[$0] }
        var body = number
        if let old, let former = await cache.store.body(of: old, lookup.key), former == data {
            body = old.identity.body
        }
        let entry = CacheEntry(head: head, identity: ResponseIdentity(load: number, body: body))
        let isStored = await cache.store.store(
            entry, data, for: lookup.key, replacing: old?.identity.body, since: stored.ticket)
        let now = stage.clock.moment
        record.cacheFacts = CacheFacts(
            CacheUse(
                .missed,
                CacheStatus(
                    forwarded: reason, status: response.statusCode, isStored: isStored,
                    detail: isStored ? nil : .refusedByStore),
                timeLeft: isStored ? head.timeLeft(at: now) : nil, isStored: isStored),
            entry.identity)
        return response
    }

    /// Whether a body has the announced length. The transport checks it too, unless it is a test double.
    private func isWhole(_ body: Data, of response: TransportResponse) -> Bool {
        guard request.method == .get, let text = response.headerFields[.contentLength],
            !response.headerFields.contains(.contentEncoding)
        else { return request.method == .get }
        return Int(text) == body.count
    }

    /// Replaces the head of a stored response by that of its confirmation.
    private func freshened(
        _ response: TransportResponse, _ index: Int, _ head: StoredHead, _ number: UInt64, _ conditions: HTTPFields,
        _ reason: ForwardReason, at now: CacheMoment
    ) async throws(RequestFailure) -> TransportResponse {
        let entry = CacheEntry(
            head: head, identity: ResponseIdentity(load: number, body: stored.entries[index].identity.body))
        let mayStore = record.submission.mayStore
        let isStored = mayStore ? await cache.store.freshen(entry, for: lookup.key, since: stored.ticket) : false
        // The condition was the caller's own, or the method was HEAD: the response is for the caller.
        guard response.status == .notModified,
            conditions.contains(.ifNoneMatch) || conditions.contains(.ifModifiedSince)
        else {
            _ = passed(response, number, reason, nil)
            return response
        }
        await BodyDrain(clock: stage.clock.clock).drain(response.body, record.cancellation)
        let use = head.use(at: now)
        let status = CacheStatus(
            forwarded: reason, status: response.statusCode, isStored: isStored, timeLeft: use.timeLeft)
        if let served = try await served(
            index, use, at: now, isValidated: true, head: head, load: number, status: status)
        {
            return served
        }
        // The body was evicted meanwhile.
        let again = try record.deadline.limited(
            request, between: "two attempts", after: "the stored response had been removed")
        return try await CacheExchange(stage, lookup, CacheLookup(ticket: stored.ticket), again, record)
            .fetched(reason, conditions: [:], fallback: nil)
    }
}

extension NotStoredReason {
    static let otherCredentials = NotStoredReason("the credentials have changed")
    static let signed = NotStoredReason("signed, and the account has no name")
    static let streamed = NotStoredReason("a streamed body")
    static let incomplete = NotStoredReason("the body is not whole")
    static let refusedByStore = NotStoredReason("too large, or invalidated meanwhile")
}

extension HTTPFields {
    /// The fields of a 304 for a stored response: those that describe its body are left out (RFC 9110, 15.4.5).
    fileprivate var ofNotModified: HTTPFields {
        HTTPFields(filter { !HTTPFields.ofBody.contains($0.name) })
    }
}

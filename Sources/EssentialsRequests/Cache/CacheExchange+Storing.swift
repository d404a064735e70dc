import EssentialsHTTP
import FoundationEssentials

/// Responses of the server: what is stored of them.
extension CacheExchange {
    /// Stores a response, or uses it to confirm a stored one.
    func stored(
        _ response: TransportResponse, _ number: UInt64, _ conditions: HTTPFields, _ reason: ForwardReason
    ) async throws(RequestFailure) -> TransportResponse {
        let now = stage.clock.moment
        let isUnpacked = request.options.decompresses && response.headerFields.contains(.contentEncoding)
        let disposition = CacheRules.disposition(
            of: response.head, to: lookup.request, conditions: conditions, stored: heads,
            requestedAt: record.attemptTime?.moment ?? now, now: now,
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
                head: entry.head.madeStale(options),
                identity: ResponseIdentity(load: number, body: entry.identity.body), isPersonal: entry.isPersonal)
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

    /// Whether the last attempt had credentials or other secrets.
    private var wasPersonal: Bool { stage.partitions.hasSecrets(record.sentFields) }

    /// Stores a response with its body, and returns it.
    private func keep(
        _ response: TransportResponse, _ head: StoredHead, replacing replaced: Int?, _ number: UInt64,
        _ reason: ForwardReason
    ) async throws(RequestFailure) -> TransportResponse {
        if !record.submission.mayStore { return passed(response, number, reason, .otherCredentials) }
        if record.wasSigned, !lookup.key.partition.isNamed { return passed(response, number, reason, .signed) }
        var response = response
        if !response.body.isWhole {
            guard record.rules.redirects.mayFollow(response) else {
                if case .streamed = request.options.delivery {
                    return storing(response, head, replacing: replaced, number, reason)
                }
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
        guard let data = response.body.data, expectedLength(of: response).map({ $0 == data.count }) ?? true else {
            return passed(response, number, reason, .incomplete)
        }
        let old = replaced.map { stored.entries[$0] }
        var body = number
        // A reader of the body also needs its status and type.
        if let old, old.head.status == head.status, old.head.fields[.contentType] == head.fields[.contentType],
            let former = await cache.store.body(of: old, lookup.key), former == data
        {
            body = old.identity.body
        }
        let entry = CacheEntry(
            head: head, identity: ResponseIdentity(load: number, body: body), isPersonal: wasPersonal)
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

    /// Stores a streamed response while its body is read, and returns it.
    private func storing(
        _ response: TransportResponse, _ head: StoredHead, replacing replaced: Int?, _ number: UInt64,
        _ reason: ForwardReason
    ) -> TransportResponse {
        guard case .stream(let source) = response.body.content,
            expectedLength(of: response).map({ $0 <= cache.store.largest }) ?? true,
            let place = cache.writers.enter(atMost: 4 * cache.store.largest)
        else { return passed(response, number, reason, .refusedByStore) }
        let entry = CacheEntry(
            head: head, identity: ResponseIdentity(load: number, body: number), isPersonal: wasPersonal)
        let pieces = StoredPieces(
            source,
            StoredPieces.Target(
                store: cache.store, entry: entry, key: lookup.key,
                replaced: replaced.map { stored.entries[$0].identity.body }, ticket: stored.ticket,
                submission: record.submission, expected: expectedLength(of: response), place: place),
            stage.clock.clock)
        var response = response
        response.body = ResponseBody(source: StoringBody(pieces))
        return passed(response, number, reason, .untilRead)
    }

    /// The announced length of the stored body; `nil` if it is not known. The transport checks it too, unless it is a test
    /// double.
    private func expectedLength(of response: TransportResponse) -> Int? {
        guard !response.headerFields.contains(.contentEncoding), let text = response.headerFields[.contentLength]
        else { return nil }
        return Int(text) ?? -1
    }

    /// Replaces the head of a stored response by that of its confirmation.
    private func freshened(
        _ response: TransportResponse, _ index: Int, _ head: StoredHead, _ number: UInt64, _ conditions: HTTPFields,
        _ reason: ForwardReason, at now: CacheMoment
    ) async throws(RequestFailure) -> TransportResponse {
        let old = stored.entries[index]
        let entry = CacheEntry(
            head: head, identity: ResponseIdentity(load: number, body: old.identity.body),
            isPersonal: old.isPersonal || wasPersonal)
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
            index, use, at: now, isValidated: true, head: head, load: number, isPersonal: entry.isPersonal,
            status: status, isStored: isStored)
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
    static let untilRead = NotStoredReason("stored when the body was read to its end")
    static let incomplete = NotStoredReason("the body is not whole")
    static let refusedByStore = NotStoredReason("too large, or invalidated meanwhile")
}

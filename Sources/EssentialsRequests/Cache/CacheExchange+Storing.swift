import EssentialsHTTP
import FoundationEssentials

/// Responses of the server: what is stored of them.
extension CacheExchange {
    /// Stores a response, or uses it to confirm a stored one.
    func stored(
        _ response: TransportResponse, of fetch: CacheFetch, _ conditions: HTTPFields
    ) async throws(RequestFailure) -> TransportResponse {
        let now = stage.clock.moment
        if let bound = record.bound, lookup.partitions.hasSecrets(record.sentFields) { bound.hadSecrets = true }
        let isUnpacked = request.options.decompresses && response.headerFields.contains(.contentEncoding)
        let disposition = CacheRules.disposition(
            of: isBound ? response.head.withoutPrivateFields : response.head, to: lookup.request,
            conditions: conditions, stored: heads, requestedAt: record.attemptTime?.moment ?? now, now: now,
            sent: { [record, request, lookup] name in lookup.selecting(name, request, in: record.sentFields) },
            isUnpacked: isUnpacked, options: options)
        switch disposition {
        case .store(let head, let replaced):
            if isBound { return await offered(response, head, replacing: replaced, fetch) }
            return try await keep(response, head, replacing: replaced, fetch)
        case .freshen where isBound && conditions.isEmpty:
            // Nobody has asked for a confirmation.
            return passed(response, fetch, nil)
        case .freshen(let index, let head):
            return try await freshened(response, index, head, fetch, conditions, at: now)
        case .makeStale(let index):
            if isBound { return await superseding(response, index, fetch, nil) }
            _ = await freshen(outdated(index, fetch), fetch)
            return passed(response, fetch, nil)
        case .fetchAgain:
            guard response.status == .notModified, !conditions.isEmpty else { return passed(response, fetch, nil) }
            await BodyDrain(clock: stage.clock.clock).drain(response.body, record.cancellation)
            return try await fetchedAgain(fetch, after: "the server had confirmed a response that is not stored")
        case .invalidate(let urls):
            for url in urls { await cache.store.invalidate(url) }
            return passed(response, fetch, nil)
        case .pass(let why):
            if isBound { return await superseding(response, lookup.request.newest(of: heads), fetch, why) }
            return passed(response, fetch, why)
        }
    }

    /// Asks the server again for the whole response.
    private func fetchedAgain(
        _ fetch: CacheFetch, after reason: String
    ) async throws(RequestFailure) -> TransportResponse {
        let again = try record.deadline.limited(request, between: "two attempts", after: reason)
        return try await CacheExchange(stage, lookup, ResponseLookup(ticket: fetch.ticket), again, record)
            .fetched(fetch.reason, conditions: [:], fallback: nil)
    }

    /// The response of the server, which is not stored.
    ///
    /// - Parameter offer: What a bound request may change.
    func passed(
        _ response: TransportResponse, _ fetch: CacheFetch, _ why: NotStoredReason?, _ offer: OfferedChange.Kind? = nil
    ) -> TransportResponse {
        let change = offer.flatMap { kind in
            fetch.ticket.map { OfferedChange(kind, lookup.key, $0, record.submission, in: cache.store) }
        }
        record.cacheFacts = CacheFacts(
            CacheUse(.missed, CacheStatus(forwarded: fetch.reason, status: response.statusCode, detail: why)),
            ResponseIdentity(load: fetch.number, body: fetch.number), offer: change)
        return response
    }

    /// Whether the last attempt had credentials or other secrets.
    var wasPersonal: Bool { record.bound?.hadSecrets == true || lookup.partitions.hasSecrets(record.sentFields) }

    /// Stores a response with its body, and returns it.
    private func keep(
        _ response: TransportResponse, _ head: StoredHead, replacing replaced: Int?, _ fetch: CacheFetch
    ) async throws(RequestFailure) -> TransportResponse {
        if !record.submission.mayStore { return passed(response, fetch, .otherCredentials) }
        if record.wasSigned, !lookup.key.owner.isNamed { return passed(response, fetch, .signed) }
        var response = response
        if !response.body.isWhole {
            guard record.rules.redirects.mayFollow(response) else {
                if case .streamed = request.options.delivery {
                    return await storing(response, head, replacing: replaced, fetch)
                }
                response = try await response.collected(for: request, record)
                return try await keep(response, head, replacing: replaced, fetch)
            }
            // The body of a redirect is unwanted, so it never fails the request.
            let (data, isComplete) = await BodyDrain(clock: stage.clock.clock).keep(response.body, record.cancellation)
            guard isComplete else {
                response.body = ResponseBody(Data())
                return passed(response, fetch, .incomplete)
            }
            response.body = ResponseBody(data)
        }
        guard let data = response.body.data, expectedLength(of: response).map({ $0 == data.count }) ?? true else {
            return passed(response, fetch, .incomplete)
        }
        let old = replaced.map { stored.responses[$0] }
        let entry = StoredResponse(
            head: head,
            identity: ResponseIdentity(load: fetch.number, body: await bodyNumber(of: head, data, old) ?? fetch.number),
            isPersonal: wasPersonal)
        let isStored = await store(entry, data, replacing: old, fetch)
        record.cacheFacts = CacheFacts(
            CacheUse(
                .missed,
                CacheStatus(
                    forwarded: fetch.reason, status: response.statusCode, isStored: isStored,
                    detail: isStored ? nil : .refusedByStore),
                timeLeft: isStored ? head.timeLeft(at: stage.clock.moment) : nil, isStored: isStored),
            entry.identity)
        return response
    }

    /// The number of the body of the response that is replaced, if the new one has the same body; otherwise `nil`.
    private func bodyNumber(of head: StoredHead, _ data: Data, _ old: StoredResponse?) async -> UInt64? {
        // A reader of the body also needs its status and type.
        guard let old, old.head.status == head.status,
            old.head.fields.joined(.contentType) == head.fields.joined(.contentType),
            let former = await cache.store.body(of: old, for: lookup.key), former.count == data.count,
            former.data != nil || former.count <= StoredContent.pieceSize, await former.all() == data
        else { return nil }
        return old.identity.body
    }

    private func store(
        _ entry: StoredResponse, _ data: Data, replacing old: StoredResponse?, _ fetch: CacheFetch
    ) async -> Bool {
        guard let ticket = fetch.ticket else { return false }
        return await cache.store.store(
            entry, data, for: lookup.key, replacing: old?.identity.body, since: ticket)
    }

    func freshen(_ entry: StoredResponse, _ fetch: CacheFetch) async -> Bool {
        guard let ticket = fetch.ticket else { return false }
        return await cache.store.freshen(entry, for: lookup.key, since: ticket)
    }

    /// Stores a streamed response while its body is read, and returns it.
    private func storing(
        _ response: TransportResponse, _ head: StoredHead, replacing replaced: Int?, _ fetch: CacheFetch
    ) async -> TransportResponse {
        let expected = expectedLength(of: response)
        guard case .stream(let source) = response.body.content, let ticket = fetch.ticket,
            expected.map({ $0 <= cache.store.largest }) ?? true, let place = cache.writers.enter()
        else { return passed(response, fetch, .refusedByStore) }
        let entry = StoredResponse(
            head: head, identity: ResponseIdentity(load: fetch.number, body: fetch.number), isPersonal: wasPersonal)
        let writer = await cache.store.begin(
            entry, for: lookup.key, replacing: replaced.map { stored.responses[$0].identity.body }, since: ticket)
        guard let writer else { return passed(response, fetch, .refusedByStore) }
        let pieces = StoredPieces(
            source,
            StoredPieces.Target(
                writer: writer, limit: min(expected ?? .max, cache.store.largest), submission: record.submission,
                expected: expected, place: place),
            stage.clock.clock)
        var response = response
        response.body = ResponseBody(source: StoringBody(pieces))
        return passed(response, fetch, .untilRead)
    }

    /// The announced length of the stored body; `nil` if it is not known. The transport checks it too, unless it is a test
    /// double.
    private func expectedLength(of response: TransportResponse) -> Int? {
        guard !response.headerFields.contains(.contentEncoding), let text = response.headerFields.joined(.contentLength)
        else { return nil }
        return Int(text) ?? -1
    }

    /// Replaces the head of a stored response by that of its confirmation.
    private func freshened(
        _ response: TransportResponse, _ index: Int, _ head: StoredHead, _ fetch: CacheFetch,
        _ conditions: HTTPFields, at now: CacheMoment
    ) async throws(RequestFailure) -> TransportResponse {
        let old = stored.responses[index]
        let head = isBound ? afterRedirects(head) : head
        var entry = StoredResponse(
            head: head, identity: ResponseIdentity(load: fetch.number, body: old.identity.body),
            isPersonal: old.isPersonal || wasPersonal)
        entry.target = old.target
        let isStored = record.submission.mayStore ? await freshen(entry, fetch) : false
        // The condition was the caller's own, or the method was HEAD: the response is for the caller.
        guard response.status == .notModified,
            conditions.contains(.ifNoneMatch) || conditions.contains(.ifModifiedSince)
        else { return passed(response, fetch, nil) }
        await BodyDrain(clock: stage.clock.clock).drain(response.body, record.cancellation)
        let use = head.use(at: now)
        let status = CacheStatus(
            forwarded: fetch.reason, status: response.statusCode, isStored: isStored, timeLeft: use.timeLeft)
        if let served = try await served(
            index, use, isValidated: true, head: head, load: fetch.number, isPersonal: entry.isPersonal,
            status: status, isStored: isStored)
        {
            return served
        }
        // The body was evicted meanwhile.
        return try await fetchedAgain(fetch, after: "the stored response had been removed")
    }
}

extension NotStoredReason {
    static let otherCredentials = NotStoredReason("the credentials have changed")
    static let signed = NotStoredReason("signed, and the account has no name")
    static let untilRead = NotStoredReason("stored when the body was read to its end")
    static let incomplete = NotStoredReason("the body is not whole")
    static let refusedByStore = NotStoredReason("too large, or invalidated meanwhile")
}

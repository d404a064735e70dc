import EssentialsHTTP
import FoundationEssentials

/// Responses from the cache.
extension CacheExchange {
    /// The stored response; `nil` if its body is gone.
    ///
    /// - Parameter isJustFound: Whether nothing was waited for since the lookup. Otherwise the response may have been removed
    ///   meanwhile.
    func served(
        _ index: Int, _ use: StoredUse, at now: CacheMoment, isJustFound: Bool = false, isValidated: Bool = false,
        head: StoredHead? = nil, load: UInt64? = nil, isPersonal: Bool? = nil, status: CacheStatus? = nil,
        isStored: Bool = true, part: ByteRange? = nil, trouble: CacheTrouble? = nil
    ) async throws(RequestFailure) -> TransportResponse? {
        let entry = stored.entries[index]
        let head = head ?? entry.head
        guard let data = await body(of: entry, isJustFound: isJustFound) else { return nil }
        try record.submission.check(request)
        // The body of a redirect that is followed is unwanted, as it is when it comes from the server.
        let isFollowed = record.rules.redirects.mayFollow(head.status, head.fields)
        if part == nil, !isFollowed {
            try check(data.count)
            report(data.count)
        }
        let outcome: CacheUse.Outcome = isValidated ? .validated : use.kind == .fresh ? .hit : .stale
        record.isFromCache = true
        record.cacheFacts = CacheFacts(
            CacheUse(
                outcome, status ?? CacheStatus(hitFor: use.timeLeft), age: use.age, timeLeft: use.timeLeft,
                isStored: isStored),
            ResponseIdentity(load: load ?? entry.identity.load, body: entry.identity.body),
            isPersonal: isPersonal ?? entry.isPersonal, trouble: trouble)
        return TransportResponse(
            head.status, stored: head.fields(isValidated: isValidated), age: head.servedAge(at: now),
            body: part == nil ? delivered(data) : ResponseBody(data))
    }

    private func body(of entry: CacheEntry, isJustFound: Bool) async -> Data? {
        if request.method == .head { return Data() }
        // With several variants, the store has to know which one is used.
        if isJustFound, stored.entries.count == 1, let body = entry.body { return body }
        return await cache.store.body(of: entry, lookup.key)
    }

    /// The body as the request wants it delivered.
    private func delivered(_ data: Data) -> ResponseBody {
        guard case .streamed = request.options.delivery else { return ResponseBody(data) }
        return ResponseBody(source: ServedBody(data, host: request.hostText))
    }

    /// Checks a stored body against the limit of the request.
    private func check(_ count: Int) throws(RequestFailure) {
        guard case .collected(let limit) = request.options.delivery, count > limit else { return }
        throw ResponseBody.tooLarge(limit).changed { $0.host = request.hostText }
    }

    /// A range of a stored response (RFC 9110, 14.2 and 15.5.17); `nil` if its body is gone.
    func part(
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
        report(bytes.count)
        let part = data[(start + Int(bytes.lowerBound))..<(start + Int(bytes.upperBound))]
        return TransportResponse(
            HTTPResponse(status: .partialContent, headerFields: fields), body: delivered(Data(part)))
    }

    /// Reports the progress of a body that is there already.
    private func report(_ count: Int) {
        guard let progress = record.rules.downloadProgress?.forOperation() else { return }
        progress.begin(expected: Int64(count))
        progress.reached(Int64(count))
        progress.finish()
    }

    /// The response to a condition of the caller that a fresh response meets (RFC 9110, 13.2.2).
    func notModified(_ index: Int, _ use: StoredUse, at now: CacheMoment) -> TransportResponse {
        let entry = stored.entries[index]
        record.isFromCache = true
        record.cacheFacts = CacheFacts(
            CacheUse(
                .hit, CacheStatus(hitFor: use.timeLeft), age: use.age, timeLeft: use.timeLeft, isStored: true),
            entry.identity, isPersonal: entry.isPersonal)
        return TransportResponse(
            .notModified, stored: entry.head.fields(isValidated: false).ofNotModified,
            age: entry.head.servedAge(at: now), body: ResponseBody(Data()))
    }
}

extension HTTPFields {
    /// The fields of a 304 for a stored response: those that describe its body are left out (RFC 9110, 15.4.5).
    fileprivate var ofNotModified: HTTPFields {
        HTTPFields(filter { !HTTPFields.ofBody.contains($0.name) })
    }
}

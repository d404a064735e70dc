import EssentialsHTTP
import FoundationEssentials

/// Responses from the cache.
extension CacheExchange {
    /// The stored response; `nil` if its body is gone.
    ///
    /// - Parameters:
    ///   - isJustFound: Whether nothing was waited for since the lookup. Otherwise the response may have been removed
    ///     meanwhile.
    ///   - content: The body, if it was found already.
    ///   - isPart: Whether a part of the response is made of it.
    func served(
        _ index: Int, _ use: StoredUse, isJustFound: Bool = false, isValidated: Bool = false,
        head: StoredHead? = nil, load: UInt64? = nil, isPersonal: Bool? = nil, status: CacheStatus? = nil,
        isStored: Bool = true, content: StoredContent? = nil, isPart: Bool = false, trouble: CacheTrouble? = nil
    ) async throws(RequestFailure) -> TransportResponse? {
        let entry = stored.responses[index]
        let head = head ?? entry.head
        var content = content
        if content == nil { content = await body(of: entry, isJustFound: isJustFound) }
        guard let content else { return nil }
        // The body of a redirect that is followed is unwanted, as it is when it comes from the server.
        let isWanted = !isPart && !record.rules.redirects.mayFollow(head.status, head.fields)
        if isWanted { try check(content.count) }
        // A bound request reads the file.
        let file = isBound ? content.file : nil
        guard let body = file == nil ? await delivered(content, 0..<content.count) : ResponseBody(Data()) else {
            return nil
        }
        try record.submission.check(request)
        if isWanted { report(content.count) }
        let outcome: CacheUse.Outcome = isValidated ? .validated : use.kind == .fresh ? .hit : .stale
        record.isFromCache = true
        record.cacheFacts = CacheFacts(
            CacheUse(
                outcome, status ?? CacheStatus(hitFor: use.timeLeft), age: use.age, timeLeft: use.timeLeft,
                isStored: isStored),
            ResponseIdentity(load: load ?? entry.identity.load, body: entry.identity.body),
            isPersonal: isPersonal ?? entry.isPersonal, trouble: trouble, file: file)
        return TransportResponse(
            head.status, stored: head.fields(isValidated: isValidated), age: use.servedAge, body: body)
    }

    private func body(of entry: StoredResponse, isJustFound: Bool) async -> StoredContent? {
        if request.method == .head { return StoredContent(Data()) }
        // With several variants, the store has to know which one is used.
        if isJustFound, stored.responses.count == 1, let body = entry.body { return body }
        return await cache.store.body(of: entry, for: lookup.key)
    }

    /// A part of a body as the request wants it delivered; `nil` if its bytes are gone.
    private func delivered(_ content: StoredContent, _ range: Range<Int>) async -> ResponseBody? {
        if case .streamed = request.options.delivery {
            let body = ServedBody(content, range, host: request.hostText)
            return await body.prepare() ? ResponseBody(source: body) : nil
        }
        if let data = content.data, data.count == range.count { return ResponseBody(data) }
        // A part is copied, so that it does not keep the whole.
        return await content.bytes(in: range).map { ResponseBody(Data($0)) }
    }

    /// Checks a stored body against the limit of the request.
    private func check(_ count: Int) throws(RequestFailure) {
        guard case .collected(let limit) = request.options.delivery, count > limit else { return }
        throw ResponseBody.tooLarge(limit).changed { $0.host = request.hostText }
    }

    /// A range of a stored response (RFC 9110, 14.2 and 15.5.17); `nil` if its body is gone.
    func part(
        _ range: ByteRange, of index: Int, _ use: StoredUse
    ) async throws(RequestFailure) -> TransportResponse? {
        guard let content = await body(of: stored.responses[index], isJustFound: true),
            let whole = try await served(index, use, content: StoredContent(Data()), isPart: true)
        else { return nil }
        let length = content.count
        var fields = whole.headerFields
        guard let bytes = range.resolved(length: Int64(length)).map({ Int($0.lowerBound)..<Int($0.upperBound) }) else {
            fields = HTTPFields(fields.filter { !HTTPFields.ofBody.contains($0.name) })
            fields[.contentRange] = "bytes */\(length)"
            return TransportResponse(
                HTTPResponse(status: .rangeNotSatisfiable, headerFields: fields), body: ResponseBody(Data()))
        }
        try check(bytes.count)
        guard let body = await delivered(content, bytes) else { return nil }
        try record.submission.check(request)
        fields[.contentRange] = "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(length)"
        fields[.contentLength] = "\(bytes.count)"
        report(bytes.count)
        return TransportResponse(HTTPResponse(status: .partialContent, headerFields: fields), body: body)
    }

    /// Reports the progress of a body that is there already.
    private func report(_ count: Int) {
        guard let progress = record.rules.downloadProgress?.forOperation() else { return }
        progress.begin(expected: Int64(count))
        progress.reached(Int64(count))
        progress.finish()
    }

    /// The response to a condition of the caller that a fresh response meets (RFC 9110, 13.2.2).
    func notModified(_ index: Int, _ use: StoredUse) -> TransportResponse {
        let entry = stored.responses[index]
        record.isFromCache = true
        record.cacheFacts = CacheFacts(
            CacheUse(
                .hit, CacheStatus(hitFor: use.timeLeft), age: use.age, timeLeft: use.timeLeft, isStored: true),
            entry.identity, isPersonal: entry.isPersonal)
        return TransportResponse(
            .notModified, stored: entry.head.fields(isValidated: false).ofNotModified,
            age: use.servedAge, body: ResponseBody(Data()))
    }
}

extension HTTPFields {
    /// The fields of a 304 for a stored response: those that describe its body are left out (RFC 9110, 15.4.5).
    fileprivate var ofNotModified: HTTPFields {
        HTTPFields(filter { !HTTPFields.ofBody.contains($0.name) })
    }
}

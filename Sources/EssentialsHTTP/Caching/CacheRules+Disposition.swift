import EssentialsTransport

/// What a cache does with a response.
package enum CacheDisposition: Sendable, Hashable {
    /// The response is stored, in place of the stored one at an index.
    case store(StoredHead, replacing: Int?)
    /// The stored response at the index has a new head. Its body stays.
    case freshen(Int, StoredHead)
    /// A 304 confirms nothing that is stored, so that the request is sent again without the conditions of the cache.
    case fetchAgain
    /// What is stored for these URLs is removed.
    case invalidate([RequestURL])
    /// The stored response at the index is out of date; see ``StoredHead/madeStale(_:)``.
    case makeStale(Int)
    /// Nothing is stored, and nothing changes.
    case pass(NotStoredReason)
}

extension CacheRules {
    /// The delay of a response if a clock was set meanwhile: the response is stale.
    private static let unknownDelay = Duration.seconds(CacheDirectives.maximumSeconds)

    /// What a cache does with a response.
    ///
    /// - Parameters:
    ///   - request: The request as the caller and the preparation have made it.
    ///   - conditions: The fields that ``answer(to:stored:now:options:)`` has added; empty if it has added none.
    ///   - stored: The stored responses of the URL, in the partition of the request.
    ///   - requestedAt: When the request was sent the last time.
    ///   - now: When the response was received.
    ///   - sent: The value with which a field was sent, with its lines joined, and the credentials' scope for
    ///     `Authorization`.
    ///   - isUnpacked: Whether the body was decoded.
    package static func disposition(
        of response: HTTPResponse, to request: CacheRequest, conditions: HTTPFields, stored: [StoredHead],
        requestedAt: CacheMoment, now: CacheMoment, sent: (HTTPField.Name) -> String?, isUnpacked: Bool,
        options: CacheOptions
    ) -> CacheDisposition {
        guard response.status.code >= 200 else { return .pass(.status(response.status.code)) }
        guard InvalidationRules.isSafe(request.method) else {
            let urls = InvalidationRules.invalidURLs(after: response, to: request.url)
            return urls.isEmpty ? .pass(.method) : .invalidate(urls)
        }
        guard request.method == .get || request.method == .head else { return .pass(.method) }
        if request.policy == .bypass { return .pass(.bypass) }
        let exchange = Exchange(
            response: response, request: request, conditions: conditions, stored: stored,
            delay: now.elapsed(since: requestedAt) ?? unknownDelay, now: now, isUnpacked: isUnpacked, options: options)
        if CacheDirectives(ofRequest: request.fields).forbidsStoring { return .pass(.requestNoStore) }
        if request.method == .head { return exchange.headDisposition(sent) }
        if response.status == .notModified { return exchange.confirmation(sent) }
        return exchange.storing(sent)
    }
}

/// A request with its response, and what was stored before.
private struct Exchange {
    let response: HTTPResponse
    let request: CacheRequest
    let conditions: HTTPFields
    let stored: [StoredHead]
    let delay: Duration
    let now: CacheMoment
    let isUnpacked: Bool
    let options: CacheOptions

    private var fields: HTTPFields { response.headerFields }

    /// Freshens what a HEAD response confirms, and makes stale what it contradicts (RFC 9111, 4.3.5).
    func headDisposition(_ sent: (HTTPField.Name) -> String?) -> CacheDisposition {
        guard response.status == .ok else { return .pass(.status(response.status.code)) }
        guard let index = request.newest(of: stored), stored[index].status == .ok else { return .pass(.method) }
        switch ConditionalRules.isConfirmed(stored[index], byHead: fields) {
        case nil: return .pass(.unchanged)
        case false?: return .makeStale(index)
        case true?:
            if CacheDirectives(of: fields).forbidsStoring { return .pass(.noStore) }
            return .freshen(index, freshened(index, sent))
        }
    }

    /// Freshens what a 304 confirms.
    func confirmation(_ sent: (HTTPField.Name) -> String?) -> CacheDisposition {
        let indices = request.matches(in: stored)
        guard conditions.contains(.ifNoneMatch) || conditions.contains(.ifModifiedSince) else {
            // It is the response to a condition of the caller.
            guard let index = ConditionalRules.confirmed(by: fields, among: indices, of: stored) else {
                return .pass(.status(304))
            }
            return .freshen(index, freshened(index, sent))
        }
        guard let index = ConditionalRules.confirmed(by: fields, conditions, among: indices, of: stored) else {
            return .fetchAgain
        }
        return .freshen(index, freshened(index, sent))
    }

    private func freshened(_ index: Int, _ sent: (HTTPField.Name) -> String?) -> StoredHead {
        let old = stored[index]
        let merged = ConditionalRules.merged(old.fields, with: fields, at: now.date)
        return StoredHead(
            status: old.status, fields: merged,
            // A response that depends on more than fields is not used for later requests, wherever it is filed.
            selection: VaryRules.selection(of: merged, sent) ?? old.selection,
            age: Freshness.age(
                of: ConditionalRules.dated(fields, at: now.date), receivedAt: now.date, delay: delay),
            moment: now, isUnpacked: old.isUnpacked, options: options)
    }

    /// Stores a whole response.
    func storing(_ sent: (HTTPField.Name) -> String?) -> CacheDisposition {
        let directives = CacheDirectives(of: fields)
        let hasAuthorization = request.fields.contains(.authorization) || sent(.authorization) != nil
        if let refusal = StoringRules.refusal(
            of: response, directives, hasAuthorization: hasAuthorization, options)
        {
            return passing(refusal)
        }
        guard let selection = VaryRules.selection(of: fields, sent) else { return passing(.varies) }
        let head = StoredHead(
            status: response.status, fields: fields.withoutConnection, selection: selection,
            age: Freshness.age(of: fields, receivedAt: now.date, delay: delay), moment: now,
            isUnpacked: isUnpacked && fields.contains(.contentEncoding), options: options)
        guard StoringRules.isUseful(head, isPublic: directives.isPublic, options) else { return passing(.noFreshness) }
        return .store(head, replacing: replaced(by: head))
    }

    /// The stored response that a new one replaces: that of the same selection, or else the one that would have been used
    /// for the request.
    private func replaced(by head: StoredHead) -> Int? {
        stored.firstIndex { $0.isVariant(like: head) } ?? request.newest(of: stored)
    }

    /// A response that is not stored. If it shows that the server has something else now, or refuses what is stored, that is
    /// not used without the server any more.
    private func passing(_ reason: NotStoredReason) -> CacheDisposition {
        let isNewState: Bool
        switch response.status.code {
        case 206: isNewState = false
        case 200..<300, 301, 308, 401, 403, 404, 410, 451: isNewState = true
        default: isNewState = false
        }
        guard isNewState, let index = request.newest(of: stored),
            stored[index].use(at: now).kind == .fresh || stored[index].allowsStale
        else { return .pass(reason) }
        return .makeStale(index)
    }
}

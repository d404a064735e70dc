import EssentialsHTTP

/// Adds the cookies of a hop's settings to each attempt, and stores those of each response.
///
/// The stage is below the redirects, the retries, the tokens and Digest, so that each hop gets its own cookies, and those of
/// a redirect, of a 401 and of a response that is retried are kept. Signatures cover the field, so a service that signs
/// requests has a second stage above the signatures, which adds the field instead.
///
/// A request that was submitted before a login gets no cookies after it: its response would be taken for one that belongs to
/// nobody.
final class CookieStage: Stage {
    /// Whether the stage adds the field to requests.
    let adds: Bool
    /// Whether the stage stores the cookies of responses.
    let stores: Bool
    let next: RemainingStages

    init(adds: Bool, stores: Bool, next: RemainingStages) {
        self.adds = adds
        self.stores = stores
        self.next = next
    }

    func isUsed(by request: TransportRequest, _ record: ExchangeRecord) -> Bool {
        record.rules.usesCookies && record.rules.has { $0.hasCookies }
    }

    func fieldToCome(
        _ name: HTTPField.Name, _ request: TransportRequest, _ record: ExchangeRecord
    ) -> String? {
        guard adds, name == .cookie, isUsed(by: request, record), !record.submission.isFollowed,
            let field = record.rules.hop(request).cookies?.field(for: request.url, countsAsUse: false)
        else { return nil }
        var fields = request.headerFields
        field.add(to: &fields)
        return fields.joined(name)
    }

    func send(
        _ request: TransportRequest, _ record: ExchangeRecord
    ) async throws(RequestFailure) -> TransportResponse {
        guard let storage = record.rules.hop(request).cookies else { return try await next.send(request, record) }
        let response: TransportResponse
        // In this order: the session whose cookies are in the field began before credentials were set, or they were set.
        if adds, let field = storage.field(for: request.url), !record.submission.isFollowed {
            var request = request
            let omitted = field.add(to: &request.headerFields)
            if omitted > 0 { record.reporter.leftOut(cookies: omitted) }
            response = try await next.send(request, record)
        } else {
            response = try await next.send(request, record)
        }
        if stores, response.hasSetCookie, !record.submission.hasEnded {
            let refusals =
                if let jar = storage as? CookieJar {
                    jar.store(response.headerFields, from: request.url, since: record.submission.begun)
                } else {
                    storage.store(response.headerFields, from: request.url)
                }
            if !refusals.isEmpty { record.reporter.refused(refusals) }
        }
        return response
    }
}

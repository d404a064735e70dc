import EssentialsHTTP

/// Responses to requests with a ``CacheBinding``, which store them themselves.
extension CacheExchange {
    /// The response of the server, which the request may store.
    func offered(
        _ response: TransportResponse, _ head: StoredHead, replacing replaced: Int?, _ fetch: CacheFetch
    ) async -> TransportResponse {
        guard head.status.code == 200 || head.status.code == 203 else {
            return await superseding(response, replaced, fetch, .noContent)
        }
        // Nothing says for whom a signature is.
        if record.wasSigned, lookup.key.account?.isShared == true {
            return await superseding(response, replaced, fetch, .signed)
        }
        var entry = StoredResponse(
            head: afterRedirects(head), identity: ResponseIdentity(load: fetch.number, body: fetch.number),
            isPersonal: wasPersonal)
        entry.target = target
        return passed(
            response, fetch, .untilRead,
            .store(
                entry, replacing: replaced.map { stored.responses[$0].identity.body },
                outdated: replaced.map { outdated($0, fetch) }))
    }

    /// The response of the server, which is not stored, and after which a stored one may not be used without the server any
    /// more.
    func superseding(
        _ response: TransportResponse, _ index: Int?, _ fetch: CacheFetch, _ why: NotStoredReason?
    ) async -> TransportResponse {
        // A redirect says nothing about the content.
        guard let index, !record.rules.redirects.mayFollow(response) else { return passed(response, fetch, why) }
        switch response.statusCode {
        // The reader decides whether a success is what was asked for.
        case 200..<300: return passed(response, fetch, why, .makeStale(outdated(index, fetch)))
        case 401, 403, 404, 410, 451:
            if record.submission.mayStore { _ = await freshen(outdated(index, fetch), fetch) }
        default: break
        }
        return passed(response, fetch, why)
    }

    /// A stored response that is not used without the server any more.
    func outdated(_ index: Int, _ fetch: CacheFetch) -> StoredResponse {
        let old = stored.responses[index]
        var outdated = StoredResponse(
            head: old.head.madeStale(options),
            identity: ResponseIdentity(load: fetch.number, body: old.identity.body), isPersonal: old.isPersonal)
        outdated.target = old.target
        return outdated
    }

    /// Where the request goes, without query; `nil` if that is the URL of the key.
    private var target: String? {
        let here = Self.withoutQuery(request.url)
        return here == Self.withoutQuery(lookup.key.url) ? nil : here
    }

    private static func withoutQuery(_ url: RequestURL) -> String { "\(url.origin)\(url.path)" }

    /// Whether the stored responses came from where the request goes now, so that the server there knows their validators.
    var areFromHere: Bool { !isBound || stored.responses.allSatisfy { $0.target == target } }

    /// The head of a response. One that redirects have led to is stale at once, because they can lead elsewhere the next time.
    func afterRedirects(_ head: StoredHead) -> StoredHead { record.hops.isEmpty ? head : head.agedOut(options) }
}

extension HTTPResponse {
    /// The head without what concerns the exchange and its user alone.
    var withoutPrivateFields: HTTPResponse {
        var head = self
        for name in [HTTPField.Name.setCookie, .authenticationInfo, .wwwAuthenticate, .proxyAuthenticate] {
            head.headerFields[name] = nil
        }
        return head
    }
}

extension NotStoredReason {
    static let noContent = NotStoredReason("no content")
}

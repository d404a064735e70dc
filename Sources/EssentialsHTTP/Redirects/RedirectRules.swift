/// Decides whether a response is a redirect to follow (RFC 9110, 15.4), without sending anything.
package enum RedirectRules {
    /// What to do with a response.
    package enum Outcome: Sendable {
        /// The response is not a redirect, or the policy returns it to the caller.
        case deliver
        /// Send this request, and add the hop to the history.
        case follow(TransportRequest, RedirectHop)
        /// The request fails.
        case fail(RequestFailure)
    }

    /// Judges a response.
    ///
    /// - Parameters:
    ///   - request: The request that the response belongs to.
    ///   - status: The response's status.
    ///   - headerFields: The response's fields, which are read only for a redirect.
    ///   - policy: The redirect policy.
    ///   - history: The redirects that led to the request, the oldest first.
    package static func outcome(
        of request: TransportRequest, status: HTTPResponse.Status, headerFields: @autoclosure () -> HTTPFields,
        policy: RedirectPolicy, history: [RedirectHop]
    ) -> Outcome {
        guard let limit = policy.limit, isFollowed(status.code) else { return .deliver }
        do throws(RequestFailure) {
            guard let location = try location(in: headerFields(), from: request.url) else { return .deliver }
            let url = try RedirectLocation.resolve(location, against: request.url)
            let next = nextRequest(after: request, status: status, to: url, policy: policy)
            let hop = RedirectHop(from: request.url, status: status, to: url, method: next.method)
            guard history.count < limit else { throw overLimit(limit, history: history, hop: hop) }
            guard !isDowngrade(hop) || policy.allowsDowngrade else { throw downgrade(hop) }
            if policy.decide != nil {
                // The closure may keep the request and send it itself, so its body behaves as the request says.
                var shown = next
                shown.unwantedBodies = []
                let proposal = RedirectProposal(hop: hop, request: shown, history: history)
                guard try decision(of: policy, about: proposal) else { return .deliver }
            }
            if policy.keepsBodyInOrigin, hop.leavesOrigin, !next.body.isEmpty { throw bodyStays(hop) }
            guard next.body.isReplayable else { throw notReplayable(hop) }
            return .follow(next, hop)
        } catch {
            return .fail(error)
        }
    }

    /// Whether a status is a redirect to follow. 300 leaves the choice to the user, 304 concerns a cache, and 305 and
    /// 306 are deprecated (RFC 9110, 15.4).
    package static func isFollowed(_ statusCode: Int) -> Bool {
        switch statusCode {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }

    /// The value of `Location`; `nil` without the field. Repeated equal values are accepted.
    private static func location(in fields: HTTPFields, from url: RequestURL) throws(RequestFailure) -> [UInt8]? {
        var found: [UInt8]?
        for field in fields[fields: .location] {
            let value = field.withUnsafeBytesOfValue { Array($0) }
            guard found == nil || found == value else {
                throw RequestFailure(
                    .protocolViolation, "\(url.origin) sent more than one redirect URL.",
                    remedy: "Report this to the operators of the server: a response has one Location field.",
                    phase: .receiving, host: url.origin.host.text)
            }
            found = value
        }
        return found
    }

    private static func isDowngrade(_ hop: RedirectHop) -> Bool {
        hop.from.origin.scheme == .https && hop.to.origin.scheme == .http
    }

    /// Whether to follow the redirect; `false` to return the response.
    private static func decision(
        of policy: RedirectPolicy, about proposal: RedirectProposal
    ) throws(RequestFailure) -> Bool {
        guard let decide = policy.decide else { return true }
        let decision: RedirectDecision
        do {
            decision = try decide(proposal)
        } catch let failure as RequestFailure {
            throw failure
        } catch {
            throw refused(proposal.hop, "The policy's closure threw an error.", underlying: error)
        }
        switch decision {
        case .follow: return true
        case .stop: return false
        case .refuse(let why): throw refused(proposal.hop, why, underlying: nil)
        }
    }
}

// MARK: - The next request

extension RedirectRules {
    /// Fields that describe a body. They are dropped together with it (RFC 9110, 15.4, item 5).
    private static let contentFields = names([
        "Content-Type", "Content-Encoding", "Content-Language", "Content-Location", "Content-Length", "Content-Range",
        "Content-Disposition", "Content-MD5", "Content-Digest", "Repr-Digest", "Digest", "Last-Modified",
        "Transfer-Encoding", "Trailer", "Expect",
    ])

    /// Fields that are specific to an origin (RFC 9110, 15.4, item 2). `Referer` may contain the path and query of a
    /// page.
    private static let originFields = names([
        "Authorization", "Proxy-Authorization", "Cookie", "Cookie2", "WWW-Authenticate", "Proxy-Authenticate",
        "Authentication-Info", "Proxy-Authentication-Info", "Host", "Referer",
    ])

    private static func names(_ texts: [String]) -> Set<HTTPField.Name> { Set(texts.compactMap { HTTPField.Name($0) }) }

    /// Creates the next request from the previous one, never from the first one, so that a removed field is not
    /// restored.
    private static func nextRequest(
        after request: TransportRequest, status: HTTPResponse.Status, to url: RequestURL, policy: RedirectPolicy
    ) -> TransportRequest {
        var next = request
        next.url = url
        if isRetrieval(status, after: request.method) {
            next.method = request.method == .head ? .head : .get
            // A GET without a body stays as it is, with all of its fields.
            if next.method != request.method || !request.body.isEmpty {
                next.body = .none
                next.headerFields.removeAll { contentFields.contains($0.name) }
            }
        }
        if url.origin != request.url.origin {
            next.headerFields.removeAll { staysInOrigin($0.name, policy) }
        }
        return next
    }

    private static func staysInOrigin(_ name: HTTPField.Name, _ policy: RedirectPolicy) -> Bool {
        if originFields.contains(name) || policy.sensitiveFields.contains(name) { return true }
        return !policy.sharedFields.contains(name) && SecretName.isSecret(name.canonicalName, .sent)
    }

    /// Whether the redirect changes the method to GET (RFC 9110, 15.4.2 to 15.4.4).
    private static func isRetrieval(_ status: HTTPResponse.Status, after method: HTTPRequest.Method) -> Bool {
        status.code == 303 || (status.code == 301 || status.code == 302) && method == .post
    }
}

// MARK: - Failures

extension RedirectRules {
    /// The maximum number of origins in a message.
    private static let shownOrigins = 12

    private static func overLimit(_ limit: Int, history: [RedirectHop], hop: RedirectHop) -> RequestFailure {
        // Redirects within an origin are one entry.
        var origins: [String] = []
        for origin in (history + [hop]).map(\.from.origin) + [hop.to.origin] where origins.last != "\(origin)" {
            origins.append("\(origin)")
        }
        guard origins.count > 1 else {
            return failure(
                .redirectLimit, hop, "More redirects than the \(limit) allowed, all within \(hop.to.origin).")
        }
        if origins.count > shownOrigins {
            origins.replaceSubrange(shownOrigins / 2..<origins.count - shownOrigins / 2, with: ["…"])
        }
        return failure(
            .redirectLimit, hop, "More redirects than the \(limit) allowed: \(origins.joined(separator: " → ")).")
    }

    private static func downgrade(_ hop: RedirectHop) -> RequestFailure {
        failure(
            .redirectRefused, hop, "\(hop.from.origin) redirects to \(hop.to.origin), which does not use TLS.",
            remedy: "Have the server redirect to https, or set the redirect policy's allowsDowngrade.")
    }

    private static func refused(_ hop: RedirectHop, _ why: String, underlying: (any Error)?) -> RequestFailure {
        failure(
            .redirectRefused, hop, "The redirect from \(hop.from.origin) to \(hop.to.origin) was refused: \(why)",
            underlying: underlying)
    }

    private static func bodyStays(_ hop: RedirectHop) -> RequestFailure {
        failure(
            .redirectRefused, hop,
            "\(hop.from.origin) redirects with the status \(hop.status.code), so the body would go to "
                + "\(hop.to.origin), but an interceptor has changed it.",
            remedy:
                "Have the interceptor add a header field, which stays in the origin, or use the target's origin as the "
                + "base URL if it may see the body.")
    }

    private static func notReplayable(_ hop: RedirectHop) -> RequestFailure {
        failure(
            .notReplayable, hop,
            "\(hop.from.origin) redirects with the status \(hop.status.code), so the body would go to \(hop.to.origin) "
                + "again, but it is a stream.")
    }

    private static func failure(
        _ reason: RequestFailure.Reason, _ hop: RedirectHop, _ message: String, remedy: String? = nil,
        underlying: (any Error)? = nil
    ) -> RequestFailure {
        RequestFailure(
            reason, message, remedy: remedy, phase: .receiving, host: hop.from.origin.host.text,
            underlying: underlying)
    }
}

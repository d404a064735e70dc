import EssentialsTransport

/// What a cache does with a request.
package enum CacheAnswer: Sendable, Hashable {
    /// The stored response at an index is served.
    case serve(Int, StoredUse)
    /// The stored response is served, and validated in the background.
    case serveAndValidate(Int, StoredUse)
    /// The caller has what is stored, so that the response is 304.
    case notModified(Int, StoredUse)
    /// A part of the stored response is served: 206, or 416 if the body has no such bytes.
    case part(Int, StoredUse, ByteRange)
    /// The server is asked about the stored response at the index, with these fields beside those of the request. If that
    /// fails, ``CacheRules/mayServe`` decides about the stored response at the second index.
    case validate(conditions: HTTPFields, Int, fallback: Int?)
    /// The request is sent as it is, with the ``CachePolicy/cacheControl`` of its policy.
    case forward(ForwardReason, fallback: Int?)
    /// Only a stored response is wanted, and there is none.
    case unavailable
}

/// A failure or a status in place of which a stored response may be served.
package enum CacheTrouble: Sendable, Hashable {
    case failure(RequestFailure.Reason)
    case status(Int)
}

/// What a cache does with requests and responses ([RFC 9111](https://www.rfc-editor.org/rfc/rfc9111)). Where a rule is in
/// doubt, the response is not stored, or the server is asked.
package enum CacheRules {
    /// What a cache does with a request.
    ///
    /// - Parameters:
    ///   - stored: The stored responses of the URL, in the partition of the request.
    package static func answer(
        to request: CacheRequest, stored: [StoredHead], now: CacheMoment, options: CacheOptions
    ) -> CacheAnswer {
        let demands = RequestDemands(request.fields)
        let wantsStored =
            options.isOffline || request.policy == .onlyIfStored || demands.directives.requiresStored
        if demands.hasRange, let part = part(for: request, demands, stored, now, options) { return part }
        if let reason = passing(request, demands, options) {
            return wantsStored ? .unavailable : .forward(reason, fallback: nil)
        }
        guard let index = request.newest(of: stored) else {
            return wantsStored ? .unavailable : .forward(stored.isEmpty ? .uriMiss : .varyMiss, fallback: nil)
        }
        let use = stored[index].use(at: now)
        switch verdict(on: stored[index], use, request, demands, now, options) {
        case .serve:
            let isUnchanged = demands.hasCondition && ConditionalRules.isUnchanged(stored[index], for: request.fields)
            return isUnchanged ? .notModified(index, use) : .serve(index, use)
        case .serveAndValidate where !wantsStored: return .serveAndValidate(index, use)
        case .serveAndValidate, .ask:
            if wantsStored { return .unavailable }
            return asking(request, demands, stored, index, use)
        }
    }

    /// The fields that ask the server whether the stored responses are still right; they are empty without a validator.
    package static func conditions(for request: CacheRequest, stored: [StoredHead]) -> HTTPFields {
        ConditionalRules.conditions(for: request.matches(in: stored), of: stored)
    }

    /// The use of a stored response in place of a failure or a status; `nil` if it must not be served
    /// (RFC 9111, 4.2.4, and RFC 5861, 4).
    package static func mayServe(
        _ entry: StoredHead, insteadOf trouble: CacheTrouble, now: CacheMoment, options: CacheOptions
    ) -> StoredUse? {
        guard entry.allowsStale else { return nil }
        let isUnreachable: Bool
        switch trouble {
        case .failure(let reason):
            guard unreachable.contains(reason) else { return nil }
            isUnreachable = true
        case .status(let code):
            guard [500, 502, 503, 504].contains(code) else { return nil }
            isUnreachable = false
        }
        let use = entry.use(at: now)
        if use.kind == .fresh || isUnreachable && options.staleWhenUnreachable { return use }
        return entry.staleIfError > .zero && .zero - use.timeLeft <= entry.staleIfError ? use : nil
    }

    /// The failures after which the server may never have seen the request, or was not able to respond.
    private static let unreachable: Set<RequestFailure.Reason> = [
        .connection, .nameResolution, .timeout, .interrupted, .circuitOpen,
    ]

    /// Why a request passes the cache without a look at what is stored; `nil` if it does not.
    private static func passing(
        _ request: CacheRequest, _ demands: RequestDemands, _ options: CacheOptions
    ) -> ForwardReason? {
        guard request.method == .get || request.method == .head else { return .method }
        if request.policy == .bypass && !options.isOffline || demands.directives.forbidsStoring { return .bypass }
        return demands.hasRange || demands.hasIfRange || demands.hasServerCondition ? .request : nil
    }

    /// A part of a fresh response. Nothing is known of parts of what was unpacked, and the response to a condition is not a
    /// part (RFC 9110, 14.2).
    private static func part(
        for request: CacheRequest, _ demands: RequestDemands, _ stored: [StoredHead], _ now: CacheMoment,
        _ options: CacheOptions
    ) -> CacheAnswer? {
        guard request.method == .get, request.policy != .bypass, !demands.directives.forbidsStoring,
            !demands.hasCondition, !demands.hasServerCondition,
            let range = request.fields[.range].flatMap({ ByteRange($0) }), let index = request.newest(of: stored)
        else { return nil }
        let head = stored[index]
        let use = head.use(at: now)
        guard head.status == .ok, !head.isUnpacked, use.kind == .fresh,
            verdict(on: head, use, request, demands, now, options) == .serve
        else { return nil }
        if demands.hasIfRange, request.fields[.ifRange] != ResumeValidator(head.fields)?.text { return nil }
        return .part(index, use, range)
    }

    private enum Verdict { case serve, serveAndValidate, ask }

    private static func verdict(
        on head: StoredHead, _ use: StoredUse, _ request: CacheRequest, _ demands: RequestDemands,
        _ now: CacheMoment, _ options: CacheOptions
    ) -> Verdict {
        if options.isOffline { return .serve }
        let directives = demands.directives
        let isFresh = use.kind == .fresh
        if directives.restrictsUse {
            if directives.requiresValidation { return .ask }
            if let limit = directives.maximumAge {
                guard let age = head.age(at: now), age <= .seconds(limit) else { return .ask }
            }
            if let time = directives.minimumFreshness, use.timeLeft < .seconds(time) { return .ask }
        }
        switch request.policy {
        case .reload, .bypass: return .ask
        case .revalidate: return isFresh && head.isImmutable ? .serve : .ask
        case .preferStored: return .serve
        case .standard, .onlyIfStored: break
        }
        if isFresh { return .serve }
        guard head.allowsStale else { return .ask }
        let staleness = .zero - use.timeLeft
        if let limit = directives.maximumStaleness, staleness <= .seconds(limit) { return .serve }
        // A request that says what it accepts accepts no more than that.
        let mayWait = !directives.restrictsUse && !demands.hasCondition && request.method == .get
        let isInWindow = head.staleWhileRevalidate > .zero && staleness <= head.staleWhileRevalidate
        return mayWait && isInWindow ? .serveAndValidate : .ask
    }

    /// How the server is asked about a stored response that is not served without it.
    private static func asking(
        _ request: CacheRequest, _ demands: RequestDemands, _ stored: [StoredHead], _ index: Int, _ use: StoredUse
    ) -> CacheAnswer {
        let reason = use.kind == .fresh ? ForwardReason.request : .stale
        // The caller gets the response to its own condition.
        if request.policy == .reload || demands.hasCondition { return .forward(reason, fallback: nil) }
        let mayFallBack =
            request.policy != .revalidate && !demands.directives.restrictsUse && stored[index].allowsStale
        let fallback = mayFallBack ? index : nil
        var conditions = request.method == .get ? Self.conditions(for: request, stored: stored) : [:]
        guard !conditions.isEmpty else { return .forward(reason, fallback: fallback) }
        if let own = request.policy.cacheControl, !request.fields.contains(.cacheControl) {
            conditions[.cacheControl] = own
        }
        return .validate(conditions: conditions, index, fallback: fallback)
    }
}

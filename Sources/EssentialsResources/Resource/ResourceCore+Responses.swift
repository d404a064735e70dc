import EssentialsHTTP
import EssentialsRequests
import EssentialsTools

extension ResourceCore {
    /// How a response has reached the resource.
    enum Arrival {
        /// A load has received it.
        case load(LoadRun)
        /// The response cache has received it, to replace the stale response that a load with this number has shown.
        case update(since: UInt64)

        /// The load; `nil` if there is none.
        var run: LoadRun? {
            if case .load(let run) = self { run } else { nil }
        }
    }

    /// Makes a response the content, unless something newer has changed it, and ends its load. The projections are made
    /// first, outside the lock. If the views cannot read the response, its load fails and nothing is replaced, neither
    /// here nor in the caches; see ``ReadingRules``.
    ///
    /// - Parameters:
    ///   - isOwn: Whether the request was a GET of this resource, and not a caller's own request.
    ///   - changes: The changes of the caches if the response becomes the content.
    @discardableResult
    func commit(
        _ response: LoadedResponse, isOwn: Bool, _ changes: CacheChanges?, _ arrival: Arrival,
        _ service: HTTPResourceService
    ) -> ResourceMachine.Verdict {
        let (value, use) = (response.result.value, response.result.origin.storedUse)
        let provenance = Provenance(of: use)
        var projections: [any AnyProjection] = []
        var known = 0
        var verdict: ResourceMachine.Verdict?
        var refusal: RequestFailure?
        // Handles for further types may be created meanwhile, so the number of views is compared under the lock.
        while verdict == nil {
            let (views, layers) = contents.withLock { ($0.views, $0.layers) }
            // The views have moved to another resource, because both have the same URL now. The loads of both have
            // ended.
            guard views.count >= known else {
                verdict = .unknown
                break
            }
            for view in views[known...] {
                if let projection = view.snapshot.project(value, service.codecs) { projections.append(projection) }
            }
            known = views.count
            let content = LayeredContent(layers: layers, server: projections)
            let shown = content.shown
            (verdict, refusal) = changing { contents in
                guard contents.views.count == known, contents.hasLayers(layers) else { return (nil, nil) }
                if let refusal = ReadingRules.refusal(of: projections, by: contents.views) {
                    return (.superseded, refusal)
                }
                let verdict = contents.end(arrival, response.result.origin.identity)
                guard verdict == .commits else { return (verdict, nil) }
                changes?.add()
                contents.kept = KeptValue(value.kept)
                let isInvalid = contents.machine.isInvalid
                contents.replace(content, shown: shown, .newContent(provenance)) { facts in
                    facts.entity = response.entity
                    facts.provenance = provenance
                    facts.isOfServer = isOwn
                    facts.confirm(
                        at: response.content.time - (use?.age ?? .zero), isInvalid ? nil : response.freshUntil)
                    facts.isInvalid = isInvalid
                }
                let version = contents.facts.contentVersion
                contents.knownBody = response.result.origin.identity.map {
                    KnownBody(body: $0.body, contentVersion: version)
                }
                return (verdict, nil)
            }
        }
        if let refusal {
            // An unreadable response that came in the background changes nothing. The next load reports the failure.
            if let run = arrival.run { fail(refusal, run, service) }
            return .superseded
        }
        changes?.work()
        service.table.recount(self)
        arrival.run?.end(.loaded(value, projections))
        return verdict ?? .unknown
    }

    /// Records a response that says that the content has not changed, and ends its load.
    ///
    /// - Parameter places: The places of the entity in the caches.
    /// - Returns: The verdict; `nil` if the response confirms something other than the current content, so that the
    ///   load continues.
    @discardableResult
    func confirm(
        _ confirmation: ResourceExchange.Confirmation, _ places: CachePlaces?, _ arrival: Arrival,
        _ service: HTTPResourceService
    ) -> ResourceMachine.Verdict? {
        let (now, date) = (service.time.now, service.clock.date)
        let (fields, origin) = (confirmation.headerFields, confirmation.origin)
        let rules = service.effective(for: self).freshness
        typealias Confirmed = (verdict: ResourceMachine.Verdict, projections: [any AnyProjection])
        let confirmed = changing { contents -> Confirmed? in
            let projections = contents.layered.server
            guard let entity = contents.facts.entity, contents.isConfirmed(by: confirmation) else {
                // A stored response that is older than the content is superseded, and need not be requested again.
                guard let identity = origin.identity, identity.load < contents.machine.response else { return nil }
                return (contents.end(arrival, identity), projections)
            }
            let verdict = contents.end(arrival, origin.identity)
            guard verdict == .commits else { return (verdict, projections) }
            let renewed = entity.revalidated(by: fields, date: date)
            let content = rules.content(with: renewed.headerFields, confirmedBy: fields, origin, at: now, date)
            let isInvalid = contents.machine.isInvalid
            places?.confirm(entity, by: fields, date: date, age: content.age)
            // The response of a cache is a complete one, so it determines where the content comes from.
            let provenance = origin.identity.map { _ in Provenance(of: origin.storedUse) }
            let event = arrival.run == nil ? provenance.map { ResourceEvent.newContent($0) } : nil
            contents.changeFacts(event ?? .notModified) { facts in
                facts.entity = renewed
                facts.provenance = provenance ?? facts.provenance
                facts.confirm(
                    at: now - (origin.storedUse?.age ?? .zero), isInvalid ? nil : rules.deadline(of: .content(content)))
                facts.isInvalid = isInvalid
            }
            return (verdict, projections)
        }
        guard let confirmed else { return nil }
        places?.work()
        arrival.run?.end(.notModified(confirmed.projections, fields))
        return confirmed.verdict
    }
}

extension ResourceCore.Contents {
    /// Ends a load with its response, or records a response that came without a load. If it does not count, the
    /// observers receive `superseded` for the load.
    fileprivate mutating func end(
        _ arrival: ResourceCore.Arrival, _ identity: ResponseIdentity?
    ) -> ResourceMachine.Verdict {
        let response = identity?.load ?? 0
        switch arrival {
        case .update(let number): return machine.update(since: number, response: response)
        case .load(let run):
            let verdict = machine.end(run.number, response: response)
            if verdict != .unknown { removeRuns { $0 === run } }
            if verdict == .superseded { changeFacts(.superseded) { _ in } }
            return verdict
        }
    }
}

extension Provenance {
    fileprivate init(of use: StoredResponseUse?) {
        self = use.map { .httpCache(age: $0.age, isStale: $0.isStale) } ?? .network
    }
}

extension ResourceFacts {
    /// Records that the server has sent or confirmed the content.
    fileprivate mutating func confirm(at time: Duration, _ freshUntil: Duration?) {
        contentTime = time
        failure = nil
        failureTime = nil
        self.freshUntil = freshUntil
    }
}

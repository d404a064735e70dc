import EssentialsHTTP

/// Writes of a resource, and the optimistic layers that they put on its content.
extension ResourceCore {
    /// The strong entity tag of the server's content; `nil` if there is none.
    var strongEntityTag: String? { reading { $0.facts.entity?.strongEntityTag } }

    /// Begins a write, and puts its layer on top of the content.
    ///
    /// - Throws: `resources` if there are too many layers, and `queueFull` if too many writes wait.
    func beginWrite(_ layer: OptimisticLayer?, _ options: WriteOptions) throws(RequestFailure) -> WriteTicket {
        let begun: Result<WriteTicket, RequestFailure>
        if let layer {
            begun = relayering {
                if $0.layers.count < ResourceMachine.maximumLayers { $0.layers.append(layer) }
            } _: { state, _, content, shown in
                var content = content
                return state.beginWrite(hasLayer: true, options) { state, number in
                    content.layers[content.layers.count - 1].number = number
                    state.replace(content, shown: shown, .layered) { _ in }
                }
            }
        } else {
            begun = reading { $0.beginWrite(hasLayer: false, options) { _, _ in } }
        }
        return try begun.get()
    }

    // MARK: Outcomes

    /// Whether a write has a layer. A wipe can remove the layer, and no layer is added later.
    private func hasLayer(_ number: UInt64) -> Bool {
        reading { state in state.layers.contains { $0.number == number } }
    }

    /// Ends a write that has failed or was cancelled, and removes its layer.
    func undoWrite(_ number: UInt64, _ failure: RequestFailure) {
        let next: WritingState.Waiting?
        if hasLayer(number) {
            next = relayering {
                _ = $0.remove(number)
            } _: { state, _, content, shown in
                state.endWrite(number, .failed) { state, verdict in
                    guard verdict == .undone else { return }
                    state.replace(content, shown: shown, .undone(failure)) { _ in }
                }
            }
        } else {
            next = reading { $0.endWrite(number, .failed) { _, _ in } }
        }
        next?.begin()
    }

    /// Ends a write after which the content is not known in full: its layer becomes part of the server's content, which
    /// is invalid from now on.
    ///
    /// - Parameter validators: The header fields of the response that describe the new content, if any.
    func settleWrite(_ number: UInt64, validators: HTTPFields, _ service: HTTPResourceService) {
        guard hasLayer(number) else {
            let next = changing { state in
                state.endWrite(number, .outdated) { state, verdict in
                    if verdict != .nothing { state.change(.invalidated) { $0.expire() } }
                }
            }
            next?.begin()
            return
        }
        let (now, date) = (service.time.now, service.clock.date)
        var isChanged = false
        let next = relayering {
            $0.settle(number)
        } _: { state, hasChanged, content, shown in
            state.endWrite(number, .outdated) { state, verdict in
                guard verdict != .nothing else { return }
                guard hasChanged else { return state.replace(content, shown: shown, .invalidated) { $0.expire() } }
                isChanged = true
                state.kept = nil
                state.replace(content, shown: shown, .newContent(.local)) { facts in
                    facts.entity = facts.entity?.changed(validators: validators, date: date)
                    facts.provenance = .local
                    facts.isOfServer = false
                    facts.contentTime = now
                    facts.expire()
                }
            }
        }
        if isChanged { service.table.recount(self) }
        next?.begin()
    }

    /// Ends a write after which the content is known.
    ///
    /// - Parameters:
    ///   - value: The content, which is that of the response or that of the request.
    ///   - isFresh: Whether the server has confirmed the content.
    ///   - isSent: Whether the content is that of the request. This decides which views must be able to read it; see
    ///     ``ReadingRules``.
    /// - Returns: Why the views cannot read the value, in which case nothing has happened; `nil` if the write has
    ///   ended.
    func commitWrite(
        _ number: UInt64, _ value: LoadedValue, _ entity: Entity, isFresh: Bool, isSent: Bool,
        _ service: HTTPResourceService
    ) -> RequestFailure? {
        let now = service.time.now
        let freshUntil = service.effective(for: self).freshness.deadline(of: .content(.init(time: now)))
        let provenance = isFresh ? Provenance.network : .local
        let (refusal, next) = replacing(with: value, service.codecs, without: number) {
            state, content, shown -> (RequestFailure?, WritingState.Waiting?) in
            let refusal =
                isSent
                ? ReadingRules.refusalOfSent(content.server, by: state.views)
                : ReadingRules.refusal(of: content.server, by: state.views)
            guard refusal == nil else { return (refusal, nil) }
            let next = state.endWrite(number, .content(isFresh: isFresh)) { state, verdict in
                guard case .commits(let isInvalid) = verdict else { return }
                state.kept = KeptValue(value.kept)
                state.replace(content, shown: shown, .newContent(provenance)) { facts in
                    (facts.entity, facts.provenance, facts.isOfServer) = (entity, provenance, isFresh)
                    facts.confirm(at: now, freshUntil, isInvalid: isInvalid)
                }
            }
            return (nil, next)
        }
        guard refusal == nil else { return refusal }
        service.table.recount(self)
        next?.begin()
        return nil
    }

    /// Ends a write after which the resource no longer exists. The layers of other writes stay, for content that comes
    /// later.
    func deleteContent(_ number: UInt64, _ service: HTTPResourceService) {
        let (next, ended) = relayering {
            _ = $0.remove(number)
            $0.server = []
        } _: { state, _, content, shown -> (WritingState.Waiting?, [Load]) in
            var ended: [Load] = []
            let next = state.endWrite(number, .deleted) { state, verdict in
                guard verdict != .nothing else { return }
                ended = state.takeLoads()
                state.kept = nil
                state.replace(content, shown: shown, .wiped(.deleted)) { facts in
                    facts = ResourceFacts(version: facts.version)
                }
            }
            return (next, ended)
        }
        service.table.recount(self)
        for load in ended { load.cancel() }
        next?.begin()
    }
}

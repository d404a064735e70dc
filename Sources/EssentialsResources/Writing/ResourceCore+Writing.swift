import EssentialsHTTP
import EssentialsTools
import FoundationEssentials

/// A write that has begun.
struct WriteTicket: Sendable {
    let number: UInt64
    /// The turn of the write, if it is sent at once.
    let turn: WriteTurn
    /// The turn, if other writes go first.
    let waiting: OneShot<WriteTurn>?
}

extension ResourceCore {
    // MARK: Beginning

    /// Begins a write, and puts its layer on top of the content.
    ///
    /// - Throws: `resources` if there are too many layers, and `queueFull` if too many writes wait.
    func beginWrite(_ layer: OptimisticLayer?, _ options: WriteOptions) throws(RequestFailure) -> WriteTicket {
        let begun: Result<WriteTicket, RequestFailure>
        if let layer {
            begun = relayering {
                if $0.layers.count < ResourceMachine.maximumLayers { $0.layers.append(layer) }
            } _: { contents, _, content, shown in
                var content = content
                return contents.beginWrite(hasLayer: true, options) { contents, number in
                    content.layers[content.layers.count - 1].number = number
                    contents.replace(content, shown: shown, .layered) { _ in }
                }
            }
        } else {
            begun = contents.withLock { $0.beginWrite(hasLayer: false, options) { _, _ in } }
        }
        return try begun.get()
    }

    // MARK: Outcomes

    /// Whether a write has a layer. A wipe can remove the layer, and no layer is added later.
    private func hasLayer(_ number: UInt64) -> Bool {
        contents.withLock { contents in contents.layers.contains { $0.number == number } }
    }

    /// Ends a write that has failed or was cancelled, and removes its layer.
    func undoWrite(_ number: UInt64, _ failure: RequestFailure) {
        let next: WritingState.Waiting?
        if hasLayer(number) {
            next = relayering {
                _ = $0.remove(number)
            } _: { contents, _, content, shown in
                contents.endWrite(number, .failed) { contents, verdict in
                    guard verdict == .undone else { return }
                    contents.replace(content, shown: shown, .undone(failure)) { _ in }
                }
            }
        } else {
            next = contents.withLock { $0.endWrite(number, .failed) { _, _ in } }
        }
        next?.begin()
    }

    /// Ends a write after which the content is not known in full: its layer becomes part of the server's content, which
    /// is invalid from now on.
    ///
    /// - Parameter validators: The header fields of the response that describe the new content, if any.
    func settleWrite(_ number: UInt64, validators: HTTPFields, _ service: HTTPResourceService) {
        guard hasLayer(number) else {
            let next = changing { contents in
                contents.endWrite(number, .outdated) { contents, verdict in
                    if verdict != .nothing { contents.changeFacts(.invalidated) { $0.expire() } }
                }
            }
            next?.begin()
            return
        }
        let (now, date) = (service.time.now, service.clock.date)
        var isChanged = false
        let next = relayering {
            $0.settle(number)
        } _: { contents, hasChanged, content, shown in
            contents.endWrite(number, .outdated) { contents, verdict in
                guard verdict != .nothing else { return }
                guard hasChanged else { return contents.replace(content, shown: shown, .invalidated) { $0.expire() } }
                isChanged = true
                contents.kept = nil
                contents.replace(content, shown: shown, .newContent(.local)) { facts in
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
            contents, content, shown -> (RequestFailure?, WritingState.Waiting?) in
            let refusal =
                isSent
                ? ReadingRules.refusalOfSent(content.server, by: contents.views)
                : ReadingRules.refusal(of: content.server, by: contents.views)
            guard refusal == nil else { return (refusal, nil) }
            let next = contents.endWrite(number, .content(isFresh: isFresh)) { contents, verdict in
                guard case .commits(let isInvalid) = verdict else { return }
                contents.kept = KeptValue(value.kept)
                contents.replace(content, shown: shown, .newContent(provenance)) { facts in
                    facts.entity = entity
                    facts.provenance = provenance
                    facts.isOfServer = isFresh
                    facts.contentTime = now
                    facts.failure = nil
                    facts.failureTime = nil
                    facts.isInvalid = isInvalid
                    facts.freshUntil = isInvalid ? nil : freshUntil
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
        } _: { contents, _, content, shown -> (WritingState.Waiting?, [LoadRun]) in
            var ended: [LoadRun] = []
            let next = contents.endWrite(number, .deleted) { contents, verdict in
                guard verdict != .nothing else { return }
                ended = contents.runs
                contents.removeRuns { _ in true }
                contents.kept = nil
                contents.replace(content, shown: shown, .wiped(.deleted)) { facts in
                    facts = ResourceFacts(version: facts.version)
                }
            }
            return (next, ended)
        }
        service.table.recount(self)
        for run in ended { run.cancel() }
        next?.begin()
    }
}

extension ResourceCore.Contents {
    /// Begins a write.
    ///
    /// - Parameter apply: Changes the state. It receives the number of the write.
    fileprivate mutating func beginWrite(
        hasLayer: Bool, _ options: WriteOptions, _ apply: (inout Self, UInt64) -> Void
    ) -> Result<WriteTicket, RequestFailure> {
        let turn = WriteTurn(entityTag: options.contains(.ifUnchanged) ? facts.entity?.strongEntityTag : nil)
        switch machine.beginWrite(hasLayer: hasLayer, isConcurrent: options.contains(.concurrent)) {
        case .sends(let number):
            apply(&self, number)
            return .success(WriteTicket(number: number, turn: turn, waiting: nil))
        case .waits(let number):
            let completion = OneShot<WriteTurn>()
            apply(&self, number)
            writes.waiting.append(.init(number: number, turn: turn, completion: completion))
            return .success(WriteTicket(number: number, turn: turn, waiting: completion))
        case .tooManyLayers:
            return .failure(
                RequestFailure(
                    .resources, "The resource has \(ResourceMachine.maximumLayers) optimistic changes already.",
                    remedy: "Wait for the writes before, or write without an optimistic change."))
        case .tooManyWrites:
            return .failure(
                RequestFailure(
                    .queueFull, "\(ResourceMachine.maximumWaitingWrites) writes of the resource wait already.",
                    remedy: "Wait for the writes before, or join several changes in one write."))
        }
    }
}

extension ResourceFacts {
    /// Marks the content as outdated.
    fileprivate mutating func expire() {
        isInvalid = true
        freshUntil = nil
    }
}

extension Entity {
    /// The entity tag, unless it is weak or has a control character. Only a strong one can be compared by the server
    /// (RFC 9110, 13.1.1).
    var strongEntityTag: String? {
        entityTag.flatMap { $0.hasPrefix("W/") || $0.utf8.contains(where: \.isFieldControl) ? nil : $0 }
    }

    /// The entity after a change whose result is not known in full. It has these validators instead of the old ones.
    func changed(validators: HTTPFields, date: Date) -> Entity {
        var fields = headerFields
        for name in [HTTPField.Name.eTag, .lastModified] { fields[fields: name] = validators[fields: name] }
        return Entity(mediaType: mediaType, headerFields: fields, date: date, byteCount: byteCount)
    }
}

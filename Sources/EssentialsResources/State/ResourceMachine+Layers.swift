/// The order of the writes of a resource, and of the optimistic layers that they have put on top of its content.
///
/// Writes are sent one after another in the order in which they began, unless they are concurrent. A write takes a
/// number when it begins and another one when it is sent. Its success takes the next number, so a load whose request
/// began before the success does not count any more.
extension ResourceMachine {
    /// A write that has begun and not ended.
    struct Write: Sendable, Equatable {
        let number: UInt64
        /// The number that it took when it was sent; zero while it waits for its turn.
        var sent: UInt64
        /// Whether it neither waits for other writes nor makes others wait.
        let isConcurrent: Bool
        /// Whether the content already shows its change.
        var hasLayer: Bool
        /// Whether the resource was wiped since, so that the outcome no longer changes the state.
        var isDetached = false
    }

    /// How a write begins.
    enum WriteStart: Sendable, Equatable {
        /// It is sent at once.
        case sends(UInt64)
        /// It is sent after the writes before it.
        case waits(UInt64)
        /// There are ``maximumLayers`` layers already, so it does not begin.
        case tooManyLayers
        /// The maximum number of writes is waiting, so it does not begin.
        case tooManyWrites
    }

    /// How a write ends.
    enum WriteEnd: Sendable, Equatable {
        /// The server's content is known.
        ///
        /// - Parameter isFresh: Whether it counts as confirmed by the server.
        case content(isFresh: Bool)
        /// The server has changed the content in a way that is not known in full.
        case outdated
        /// The server has removed the content.
        case deleted
        /// The write has failed or was cancelled.
        case failed
    }

    /// The effect of the end of a write on the resource.
    enum WriteVerdict: Sendable, Equatable {
        /// Content, or the layer, becomes part of the state.
        case commits(isInvalid: Bool)
        /// The layer is removed.
        case undone
        /// The state stays as it is.
        case nothing
    }

    /// The maximum number of layers of a resource.
    static let maximumLayers = 64
    /// The maximum number of writes that wait for their turn.
    static let maximumWaitingWrites = 256

    /// The numbers of the writes with a layer, in the order in which the layers are applied.
    var layers: [UInt64] { writes.isEmpty ? [] : writes.filter(\.hasLayer).map(\.number) }

    /// Begins a write.
    mutating func beginWrite(hasLayer: Bool, isConcurrent: Bool) -> WriteStart {
        if hasLayer, writes.count(where: \.hasLayer) >= Self.maximumLayers { return .tooManyLayers }
        let waits = !isConcurrent && writes.contains { !$0.isConcurrent }
        if waits, writes.count(where: { $0.sent == 0 }) >= Self.maximumWaitingWrites { return .tooManyWrites }
        let number = takeNumber()
        writes.append(
            Write(number: number, sent: waits ? 0 : number, isConcurrent: isConcurrent, hasLayer: hasLayer))
        return waits ? .waits(number) : .sends(number)
    }

    /// Ends a write.
    ///
    /// - Returns: The effect, and the number of the write whose turn it is now; `nil` if there is none.
    mutating func endWrite(_ number: UInt64, _ end: WriteEnd) -> (verdict: WriteVerdict, next: UInt64?) {
        guard let index = writes.firstIndex(where: { $0.number == number }) else { return (.nothing, nil) }
        let write = writes.remove(at: index)
        // An idle resource has no memory for writes.
        if writes.isEmpty { writes = [] }
        let verdict = write.isDetached ? .nothing : verdict(on: write, end)
        return (verdict, sendNext())
    }

    /// Removes all layers, so that the outcomes of the writes no longer change the state. The writes themselves
    /// continue.
    mutating func detachWrites() {
        for index in writes.indices {
            writes[index].hasLayer = false
            writes[index].isDetached = true
        }
    }

    private mutating func verdict(on write: Write, _ end: WriteEnd) -> WriteVerdict {
        switch end {
        case .failed: return write.hasLayer ? .undone : .nothing
        case .deleted:
            _ = wipeContent()
            return .commits(isInvalid: false)
        case .outdated:
            let number = takeNumber()
            invalidate(at: number)
            // Without a layer the content is as the server sent it, so the response to a running load may be shown.
            if write.hasLayer { commit(at: number) }
            return .commits(isInvalid: true)
        case .content(let isFresh):
            // A change that came after the request may be newer than its response, but this is unknown.
            let isOvertaken = committed > write.sent
            let number = takeNumber()
            commit(at: number)
            if !isFresh || isOvertaken {
                invalidate(at: number)
            } else if invalidated < write.sent {
                invalidate(at: 0)
            }
            return .commits(isInvalid: isInvalid)
        }
    }

    /// Sends the first waiting write, unless another write is being sent. Concurrent writes are not considered.
    private mutating func sendNext() -> UInt64? {
        guard let index = writes.firstIndex(where: { !$0.isConcurrent }), writes[index].sent == 0 else { return nil }
        writes[index].sent = takeNumber()
        return writes[index].number
    }
}

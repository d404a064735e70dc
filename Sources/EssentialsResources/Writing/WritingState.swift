import EssentialsHTTP
import EssentialsTools
import FoundationEssentials

/// The state of a resource's writes: the layers, the server's content below them, and the waiting writes.
///
/// It is kept behind one reference, because most resources have no running write.
struct WritingState: Sendable {
    /// The server's content for one content type that has layers.
    struct ServerContent: Sendable {
        let contentType: ObjectIdentifier
        let projection: (any AnyProjection)?
    }

    /// A write that waits for its turn.
    struct Waiting: Sendable {
        let number: UInt64
        var turn: WriteTurn
        let completion: OneShot<WriteTurn>
    }

    /// The layers in the order in which they are applied.
    private(set) var layers: [OptimisticLayer] = []
    private(set) var server: [ServerContent] = []
    var waiting: [Waiting] = []

    var isEmpty: Bool { layers.isEmpty && waiting.isEmpty }

    /// Replaces the layers and the content below them.
    mutating func set(_ content: LayeredContent) {
        layers = content.layers
        server = Set(layers.map(\.contentType)).map { type in
            ServerContent(contentType: type, projection: content.server.first { $0.contentType == type })
        }
    }
}

/// A write that has begun.
struct WriteTicket: Sendable {
    let number: UInt64
    /// The turn of the write, if it is sent at once.
    let turn: WriteTurn
    /// The turn, if other writes go first.
    let waiting: OneShot<WriteTurn>?
}

/// The facts that a write needs when its turn has come.
struct WriteTurn: Sendable {
    /// The strong entity tag of the content on which the write is based; `nil` if there is none.
    var entityTag: String?
    /// Whether the write must not be sent any more.
    var isRevoked = false
}

/// A ``WritingState`` behind a reference.
final class WritingBox: Sendable {
    let state: WritingState

    init(_ state: WritingState) { self.state = state }
}

/// The writes of a resource, and the layers that they have put on its content.
extension CoreState {
    /// The state of the writes, which exists only while there are layers or writes that wait.
    var writes: WritingState {
        get { writing?.state ?? WritingState() }
        set { writing = newValue.isEmpty ? nil : WritingBox(newValue) }
    }

    /// Removes the layers, because their content was removed.
    mutating func removeLayers() {
        if writing != nil { writes.set(LayeredContent(layers: [], server: [])) }
    }

    /// Prevents the waiting writes from being sent.
    mutating func revokeWaitingWrites() {
        guard writing != nil else { return }
        var state = writes
        for index in state.waiting.indices { state.waiting[index].turn.isRevoked = true }
        writes = state
    }

    /// Begins a write.
    ///
    /// - Parameter apply: Changes the state. It receives the number of the write.
    mutating func beginWrite(
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

    /// Ends a write.
    ///
    /// Waiting writes that are based on the content before this write are then based on the content after it.
    ///
    /// - Parameter apply: Changes the state according to the end of the write.
    /// - Returns: The write whose turn it is, which must begin without the lock; `nil` if there is none.
    mutating func endWrite(
        _ number: UInt64, _ end: ResourceMachine.WriteEnd,
        _ apply: (inout Self, ResourceMachine.WriteVerdict) -> Void
    ) -> WritingState.Waiting? {
        let (verdict, next) = machine.endWrite(number, end)
        let old = writing == nil ? nil : facts.entity?.entityTag
        apply(&self, verdict)
        guard writing != nil else { return nil }
        var state = writes
        state.waiting.removeAll { $0.number == number }
        if let old, let new = facts.entity?.entityTag, new != old, end != .failed {
            for index in state.waiting.indices where state.waiting[index].turn.entityTag == old {
                state.waiting[index].turn.entityTag = new
            }
        }
        let turn = state.waiting.firstIndex { $0.number == next }.map { state.waiting.remove(at: $0) }
        writes = state
        return turn
    }
}

extension WritingState.Waiting {
    /// Allows the write to be sent.
    func begin() { completion.provide(turn) }
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

/// A change of the content that is shown before the server has carried it out.
///
/// A layer changes content of one type, so only the views with that type show it. It is applied again, outside all
/// locks, whenever the content below it changes.
struct OptimisticLayer: Sendable {
    /// The number of the write to which the layer belongs.
    var number: UInt64 = 0
    /// The type of the content that it changes.
    let contentType: ObjectIdentifier
    private let change: @Sendable (any AnyProjection) -> any AnyProjection

    /// Creates a layer.
    ///
    /// - Parameter change: Changes the content. It must be pure.
    init<Content: Sendable>(_ change: @escaping @Sendable (inout Content) -> Void) {
        contentType = ObjectIdentifier(Content.self)
        self.change = { projection in
            guard let projection = projection as? Projection<Content>, case .success(var content) = projection.result
            else { return projection }
            change(&content)
            return Projection<Content>(result: .success(content))
        }
    }

    /// Applies the layer to content of any type. Content of another type, and a failure to read it, stay as they are.
    func applied(to projection: any AnyProjection) -> any AnyProjection {
        projection.contentType == contentType ? change(projection) : projection
    }
}

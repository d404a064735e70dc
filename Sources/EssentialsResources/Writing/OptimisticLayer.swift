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

/// The content of the server, and the layers on top of it.
struct LayeredContent: Sendable {
    /// The layers in the order in which they are applied.
    var layers: [OptimisticLayer]
    /// The server's content for each content type that has some.
    var server: [any AnyProjection]

    /// The content that the views show: the layers applied in order to the server's content.
    var shown: [any AnyProjection] {
        guard !layers.isEmpty else { return server }
        return server.map { projection in layers.reduce(projection) { $1.applied(to: $0) } }
    }

    /// Removes a layer.
    ///
    /// - Returns: The layer; `nil` if no layer has this number.
    mutating func remove(_ number: UInt64) -> OptimisticLayer? {
        layers.firstIndex { $0.number == number }.map { layers.remove(at: $0) }
    }

    /// Makes a layer part of the server's content.
    ///
    /// - Returns: Whether there is content that the layer has changed.
    mutating func settle(_ number: UInt64) -> Bool {
        guard let layer = remove(number) else { return false }
        server = server.map { layer.applied(to: $0) }
        return server.contains { $0.contentType == layer.contentType }
    }
}

/// The origin of a row that a scope sees.
///
/// ```swift
/// for row in try await edits.fetchWithOrigins(Film.all) where row.origin.isPending {
///     mark(row.model)
/// }
/// ```
public enum RowOrigin: Sendable, Hashable {
    /// A change that is pending in a scope.
    public struct Pending: Sendable, Hashable {
        /// The change of the row in the scope.
        public enum Kind: String, Sendable, Hashable {
            /// The scope has created the row.
            case inserted
            /// The scope has changed a row that it saw below itself.
            case updated
        }

        /// The level of the scope. The root scope has level 1.
        public let level: Int
        /// The name of the scope.
        public let scope: String
        /// The change of the row in the scope.
        public let kind: Kind

        /// Creates a description of a pending change.
        public init(level: Int, scope: String, kind: Kind) {
            self.level = level
            self.scope = scope
            self.kind = kind
        }
    }

    /// The row is in the store exactly as the scope sees it.
    case stored
    /// The row is pending in the scope or in a scope above it. If several have it, this is the nearest.
    case pending(Pending)

    /// Whether the row is pending.
    public var isPending: Bool { self != .stored }
}

/// A model, and the origin of its row.
public struct ModelWithOrigin<Model: PersistentModel>: Sendable {
    /// The model.
    public let model: Model
    /// The origin of its row.
    public let origin: RowOrigin

    /// Creates a pair.
    public init(_ model: Model, _ origin: RowOrigin) {
        self.model = model
        self.origin = origin
    }
}

extension ModelWithOrigin: Equatable where Model: Equatable {}
extension ModelWithOrigin: Hashable where Model: Hashable {}

extension PersistenceWork {
    /// The models that a query finds, in its order, each with the origin of its row. A change of the unit of work
    /// itself counts as a change of its scope.
    ///
    /// - Throws: The failures of ``fetch(_:)-(Query<Model>)``.
    public func fetchWithOrigins<Model: PersistentModel>(
        _ query: Query<Model>
    ) throws(PersistenceFailure) -> [ModelWithOrigin<Model>] {
        let found = try rows.rows(query.node)
        let coder = try coder(Model.self)
        var models: [ModelWithOrigin<Model>] = []
        models.reserveCapacity(found.count)
        for row in found {
            models.append(ModelWithOrigin(try coder.model(row), try rows.origin(of: coder.id(row), in: Model.table)))
        }
        return models
    }
}

extension PersistenceService {
    /// The models that a query finds, in its order, each with the origin of its row.
    public func fetchWithOrigins<Model: PersistentModel>(
        _ query: Query<Model>
    ) async throws(PersistenceFailure) -> [ModelWithOrigin<Model>] {
        try await result(of: .reading(query.node) { try $0.fetchWithOrigins(query) })
    }
}

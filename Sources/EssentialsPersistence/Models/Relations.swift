/// A relation from a row of one model to at most one row of another, through a column of the first.
///
/// ```swift
/// static let studio = ToOne<Film, Studio>(columns.studioID)
/// static var references: [ModelReference] { [studio.reference] }
/// ```
public struct ToOne<Child: PersistentModel, Parent: PersistentModel>: Sendable, Hashable {
    /// The name of the child's column that holds the parent's id.
    public let column: String
    /// Whether a child may have no parent.
    public let isOptional: Bool

    /// Creates a relation in which every child has a parent.
    public init(_ column: Column<Child, Parent.ID>) {
        self.column = column.name
        isOptional = false
    }

    /// Creates a relation in which a child may have no parent.
    public init(_ column: Column<Child, Parent.ID?>) {
        self.column = column.name
        isOptional = true
    }

    /// The relation without its types.
    public var reference: ModelReference {
        ModelReference(table: Child.table, column: column, parent: Parent.table, key: Parent.columns.id.name)
    }

    /// The relation from the other side.
    public var inverse: ToMany<Parent, Child> { ToMany(self) }

    /// The children of a parent.
    public func children(of parent: Parent.ID) -> Query<Child> {
        Query(filter: Filter(.comparison(column, .equal, RowFilter.Argument(parent))))
    }
}

/// A relation from one model to the rows of another that refer to it.
///
/// ```swift
/// static let films = ToMany<Studio, Film>(Film.studio)
/// let query = Studio.films.children(of: studio.id).sorted { [$0.year.ascending] }
/// ```
public struct ToMany<Parent: PersistentModel, Child: PersistentModel>: Sendable, Hashable {
    /// The relation from the other side.
    public let inverse: ToOne<Child, Parent>

    /// Creates the relation from its other side.
    public init(_ inverse: ToOne<Child, Parent>) { self.inverse = inverse }

    /// The children of a parent.
    public func children(of parent: Parent.ID) -> Query<Child> { inverse.children(of: parent) }
}

/// A column that refers to the key of another table.
public struct ModelReference: Sendable, Hashable {
    /// The table with the column.
    public let table: String
    /// The column that refers.
    public let column: String
    /// The table that is referred to.
    public let parent: String
    /// The key of that table.
    public let key: String

    package init(table: String, column: String, parent: String, key: String) {
        (self.table, self.column, self.parent, self.key) = (table, column, parent, key)
    }
}

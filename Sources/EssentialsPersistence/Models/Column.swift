import EssentialsTools

/// A column of a model, with the type of its values.
///
/// ```swift
/// let year = Column<Film, Int>("year")
/// let query = Film.where { $0.year >= 1920 && $0.year < 1930 }
/// ```
public struct Column<Model: PersistentModel, Value: Sendable>: Sendable, Hashable {
    /// The name in the table, which is the name of the coding key.
    public let name: String
    /// How the values are stored.
    public let storage: ColumnStorage
    /// Whether the column may hold NULL.
    public let isOptional: Bool

    /// Creates a column of a value that fills it directly.
    public init(_ name: String) where Value: ColumnValue {
        self.name = name
        storage = Value.storage
        isOptional = Value.isOptional
    }

    /// Creates a column of a nested value, which is stored as JSON text, or NULL for `nil`. It has no operators;
    /// filters on it are SQL.
    ///
    /// ```swift
    /// let tags = Column<Film, [String]>(json: "tags")
    /// ```
    public init(json name: String) where Value: Codable {
        self.name = name
        storage = .text
        isOptional = Value.self is any AnyOptional.Type
    }

    /// Creates a typed column from an erased one. The caller knows the type of the values.
    init(erased column: ModelColumn<Model>) {
        name = column.name
        storage = column.storage
        isOptional = column.isOptional
    }

    /// The column without the type of its values.
    public var erased: ModelColumn<Model> { ModelColumn(name: name, storage: storage, isOptional: isOptional) }

    /// Sorts by this column, smallest values first. NULL is the smallest value.
    public var ascending: Ordering<Model> { Ordering(column: name, isDescending: false) }
    /// Sorts by this column, greatest values first. NULL is the smallest value.
    public var descending: Ordering<Model> { Ordering(column: name, isDescending: true) }
}

/// A column of a model, without the type of its values.
public struct ModelColumn<Model: PersistentModel>: Sendable, Hashable {
    /// The name in the table.
    public let name: String
    /// How the values are stored.
    public let storage: ColumnStorage
    /// Whether the column may hold NULL.
    public let isOptional: Bool
}

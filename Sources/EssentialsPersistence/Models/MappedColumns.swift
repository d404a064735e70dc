import EssentialsTools

/// The columns of a model, each named once beside its property.
///
/// ```swift
/// struct Film: PersistentModel {
///     var id = ModelID<Film>()
///     var title: String
///     var year: Int
///
///     static let table = "film"
///     static let columns: MappedColumns<Film> = ["id": \.id, "title": \.title, "year": \.year]
/// }
///
/// let query = Film.where { $0.year < 1930 }
/// ```
///
/// The names are the coding keys. The type of a property decides how its values are stored: a ``ColumnValue`` as such,
/// a raw value as its raw type, and any other value as JSON text, as in ``Column/init(json:)``. A property that is not
/// named has no column: a query that uses it fails as ``PersistenceFailure/Reason-swift.struct/invalidQuery``, and
/// storing a model that encodes it fails as ``PersistenceFailure/Reason-swift.struct/invalidModel``. If the table has a
/// column for such a property, the store does not open and fails as
/// ``PersistenceFailure/Reason-swift.struct/schemaMismatch``.
///
/// A model with a property called `all` declares a structure of ``ModelColumns`` instead.
@dynamicMemberLookup
public struct MappedColumns<Model: PersistentModel>: ModelColumns, ExpressibleByDictionaryLiteral {
    /// The index of each property's column.
    private struct Places: @unchecked Sendable {
        // `@unchecked Sendable`: the key paths come from the literal, whose elements are `Sendable`, and they never
        // change. Only the key type of a dictionary cannot express this.
        let indices: [PartialKeyPath<Model>: Int]
    }

    /// The column of the id.
    public let id: Column<Model, Model.ID>
    /// All columns, in the order of the literal.
    public let all: [ModelColumn<Model>]
    private let places: Places

    /// Creates the columns from their names and properties. If a property is named twice, the first name counts.
    public init(dictionaryLiteral elements: (String, any PartialKeyPath<Model> & Sendable)...) {
        let all = elements.map { name, property in Self.column(name, type(of: property).valueType) }
        let pairs = elements.enumerated().map { ($1.1 as PartialKeyPath<Model>, $0) }
        self.all = all
        places = Places(indices: Dictionary(pairs) { first, _ in first })
        id = Column(erased: places.indices[\Model.id].map { all[$0] } ?? Self.column("id", Model.ID.self))
    }

    private static func column(_ name: String, _ type: Any.Type) -> ModelColumn<Model> {
        let optional = type as? any AnyOptional.Type
        let isOptional = optional != nil
        let wrapped = optional?.wrapped ?? type
        if let direct = type as? any ColumnValue.Type {
            return ModelColumn(name: name, storage: direct.storage, isOptional: direct.isOptional)
        }
        if let raw = wrapped as? any RawRepresentable.Type, let storage = Self.storage(ofRaw: raw) {
            return ModelColumn(name: name, storage: storage, isOptional: isOptional)
        }
        return ModelColumn(name: name, storage: .text, isOptional: isOptional)
    }

    /// The storage of an enumeration that encodes itself as its raw value. The standard library does so for texts and
    /// numbers.
    private static func storage<Raw: RawRepresentable>(ofRaw type: Raw.Type) -> ColumnStorage? {
        let raw: Any.Type = Raw.RawValue.self
        guard
            raw is any BinaryInteger.Type || raw is any BinaryFloatingPoint.Type || raw is String.Type
                || raw is Bool.Type
        else { return nil }
        return (raw as? any ColumnValue.Type)?.storage
    }

    /// The column of a property.
    public subscript<Value: Sendable>(dynamicMember property: KeyPath<Model, Value>) -> Column<Model, Value> {
        // No table has a column of this name, so the database reports which model lacks the column.
        Column(
            erased: places.indices[property].map { all[$0] }
                ?? ModelColumn(name: "(a property without a column)", storage: .text, isOptional: true))
    }
}

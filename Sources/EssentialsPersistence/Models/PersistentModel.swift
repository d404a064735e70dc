/// A value that is stored as one row of a table.
///
/// A model is a structure, never a live object: it belongs to no thread and never changes by itself.
///
/// ```swift
/// struct Film: PersistentModel {
///     var id = ModelID<Film>()
///     var title: String
///     var year: Int
///     var studioID: ModelID<Studio>?
///
///     static let table = "film"
///     static let columns: MappedColumns<Film> =
///         ["id": \.id, "title": \.title, "year": \.year, "studioID": \.studioID]
///     static let studio = ToOne<Film, Studio>(columns.studioID)
/// }
/// ```
///
/// The names of the columns are the coding keys. A property whose type is a ``ColumnValue`` is stored as such. Any
/// other value is stored as JSON. All access is through `Codable`: a default value for a property that older rows lack
/// works as in any other decoding, and an optional column that the model does not encode is NULL.
///
/// When a store opens, `init(from:)` of each model is called a few times with a decoder without values, to find the
/// coding keys. It throws as it would for a row without these columns.
public protocol PersistentModel: Codable, Sendable, Identifiable where ID: ModelIdentifier {
    /// The type of the declared columns. The default is ``MappedColumns``.
    associatedtype Columns: ModelColumns = MappedColumns<Self> where Columns.Model == Self

    /// The name of the table.
    static var table: String { get }
    /// The columns. Declare them as a constant, so that they are created once.
    static var columns: Columns { get }
    /// The references to other models, which are checked when a store opens. The default is an empty list.
    static var references: [ModelReference] { get }
    /// The policy for conflicts about rows of this model if neither the save nor the scope has one. The default is
    /// ``ConflictPolicy/fail``.
    static var conflictPolicy: ConflictPolicy { get }
}

extension PersistentModel {
    /// The default is an empty list.
    public static var references: [ModelReference] { [] }
    /// The default is ``ConflictPolicy/fail``.
    public static var conflictPolicy: ConflictPolicy { .fail }
}

/// The columns of a model: the only mapping between the model and its table.
///
/// ``MappedColumns`` is enough for most models. A structure of its own has a constant for each column:
///
/// ```swift
/// struct Columns: ModelColumns {
///     let id = Column<Film, ModelID<Film>>("id")
///     let title = Column<Film, String>("title")
///     var all: [ModelColumn<Film>] { [id.erased, title.erased] }
/// }
/// ```
public protocol ModelColumns: Sendable {
    /// The model that has these columns.
    associatedtype Model: PersistentModel
    /// The column of the id, which is the primary key.
    var id: Column<Model, Model.ID> { get }
    /// All columns. If the table has a column for a property that is missing here, the store does not open and fails as
    /// ``PersistenceFailure/Reason-swift.struct/schemaMismatch``.
    var all: [ModelColumn<Model>] { get }
}

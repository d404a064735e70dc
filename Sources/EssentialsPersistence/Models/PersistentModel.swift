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
///     static let columns = Columns()
///     static let studio = ToOne<Film, Studio>(columns.studioID)
///
///     struct Columns: ModelColumns {
///         let id = Column<Film, ModelID<Film>>("id")
///         let title = Column<Film, String>("title")
///         let year = Column<Film, Int>("year")
///         let studioID = Column<Film, ModelID<Studio>?>("studioID")
///         var all: [ModelColumn<Film>] { [id.erased, title.erased, year.erased, studioID.erased] }
///     }
/// }
/// ```
///
/// The names of the columns are the coding keys. A property whose type is a ``ColumnValue`` is stored as such. Any other
/// value is stored as JSON, with ``Column/init(json:)``. All access is through `Codable`, so a default value for a
/// property of older rows is decoded as in any other decoding.
public protocol PersistentModel: Codable, Sendable, Identifiable where ID: ModelIdentifier {
    /// The declared columns.
    associatedtype Columns: ModelColumns where Columns.Model == Self

    /// The name of the table.
    static var table: String { get }
    /// The columns. A constant, so that it is created once.
    static var columns: Columns { get }
    /// The references to other models, which are checked when a store opens. The default is none.
    static var references: [ModelReference] { get }
    /// How conflicts about rows of this model are decided if neither the save nor the scope says. The default is
    /// ``ConflictPolicy/fail``.
    static var conflictPolicy: ConflictPolicy { get }
}

extension PersistentModel {
    /// No reference.
    public static var references: [ModelReference] { [] }
    /// ``ConflictPolicy/fail``.
    public static var conflictPolicy: ConflictPolicy { .fail }
}

/// The columns of a model: the only mapping between the model and its table.
///
/// See ``PersistentModel`` for an example.
public protocol ModelColumns: Sendable {
    /// The model that has these columns.
    associatedtype Model: PersistentModel
    /// The column of the id, which is the primary key.
    var id: Column<Model, Model.ID> { get }
    /// All columns, in the order of the rows. A property that is missing here makes every row of the model fail as
    /// ``PersistenceFailure/Reason-swift.struct/invalidModel``.
    var all: [ModelColumn<Model>] { get }
}

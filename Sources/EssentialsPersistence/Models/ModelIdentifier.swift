public import FoundationEssentials

/// A type for the ids of models: ``ModelID``, `String`, `UUID` or `Int64`.
///
/// The id is one column and the primary key of the table. A table that links two others has an id and a UNIQUE
/// constraint over its pair.
///
/// Ids are compared by their bytes, whatever collation the column has; filters follow the collation. Two ids that are
/// equal under the collation can both be pending, but saving both violates the primary key.
///
/// ```swift
/// struct Country: PersistentModel {
///     var id: String                       // the code of ISO 3166
///     var name: String
///
///     static let table = "country"
///     static let columns: MappedColumns<Country> = ["id": \.id, "name": \.name]
/// }
/// ```
public protocol ModelIdentifier: ColumnValue, Hashable, Codable {}

extension String: ModelIdentifier {}
extension Int64: ModelIdentifier {}
extension UUID: ModelIdentifier {}

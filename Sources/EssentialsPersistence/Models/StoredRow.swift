/// A row as it is stored: the values of all columns of its table.
///
/// ```swift
/// for conflict in failure.conflicts {
///     show(conflict.mine?["year"], conflict.theirs?["year"])
/// }
/// ```
public struct StoredRow: Sendable {
    /// The names of the columns.
    public let layout: RowLayout
    /// The values, in the order of the layout.
    public internal(set) var values: [StoredValue]

    /// Creates a row. `nil` if the numbers of values and columns differ.
    public init?(_ layout: RowLayout, _ values: [StoredValue]) {
        guard values.count == layout.names.count else { return nil }
        self.layout = layout
        self.values = values
    }

    /// The value of a column; `nil` if there is no such column.
    public subscript(name: String) -> StoredValue? { layout.index(of: name).map { values[$0] } }

    /// The indices of the columns whose values differ from those of another row with the same layout.
    package func changes(from other: StoredRow) -> [Int] {
        values.indices.filter { !other.values.indices.contains($0) || values[$0] != other.values[$0] }
    }

    /// The row with some columns of another row with the same layout.
    package func replacing(_ columns: [Int], from other: StoredRow) -> StoredRow {
        var row = self
        for column in columns where values.indices.contains(column) && other.values.indices.contains(column) {
            row.values[column] = other.values[column]
        }
        return row
    }

    /// The approximate number of bytes that the row occupies in memory.
    package var byteCount: Int { values.reduce(32) { $0 + $1.byteCount } }
}

extension StoredRow: Hashable {
    /// Compares the values, and the names of the columns if the layouts are not the same object.
    public static func == (one: StoredRow, other: StoredRow) -> Bool {
        (one.layout === other.layout || one.layout.names == other.layout.names) && one.values == other.values
    }

    /// Hashes the values.
    public func hash(into hasher: inout Hasher) { hasher.combine(values) }
}

/// The names of the columns of a table. All rows of a table share one layout.
public final class RowLayout: Sendable {
    /// The names, in the order of the values.
    public let names: [String]
    private let indices: [String: Int]
    /// The plans of the models that have used the layout.
    let plans = ModelPlans()

    /// Creates a layout. If a name occurs twice, its first index counts.
    public init(_ names: [String]) {
        self.names = names
        indices = Dictionary(names.enumerated().map { ($1, $0) }) { first, _ in first }
    }

    /// The index of a column; `nil` if no column has this name.
    public func index(of name: String) -> Int? { indices[name] }
}

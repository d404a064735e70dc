/// A new value of one column, which the store computes for all rows that a query finds.
///
/// ```swift
/// try await store.update(
///     Film.where { $0.year < 1930 }, set: [\.views += 1, .set(\.note, to: "silent")], save: .store)
/// ```
///
/// The right side of every assignment uses the values before the change.
public struct Assignment<Model: PersistentModel>: Sendable, Hashable {
    package let node: RowAssignment

    /// The column gets this value.
    public static func set<Value: ColumnValue>(
        _ column: KeyPath<Model.Columns, Column<Model, Value>>, to value: Value
    ) -> Assignment {
        Assignment(node: RowAssignment(Model.columns[keyPath: column].name, .value(value.storedValue)))
    }

    /// The column gets the value of another column of the same row.
    public static func set<Value: ColumnValue>(
        _ column: KeyPath<Model.Columns, Column<Model, Value>>,
        to other: KeyPath<Model.Columns, Column<Model, Value>>
    ) -> Assignment {
        Assignment(
            node: RowAssignment(
                Model.columns[keyPath: column].name, .column(Model.columns[keyPath: other].name)))
    }

    fileprivate init<Value: ColumnValue & AdditiveArithmetic>(adding value: Value, to column: String) {
        node = RowAssignment(column, .sum(value.storedValue, range: IntegerRange(Value.self)))
    }

    private init(node: RowAssignment) { self.node = node }
}

/// Adds a value to the column. A sum outside the range of the type fails as
/// ``PersistenceFailure/Reason-swift.struct/invalidModel``.
public func += <Model: PersistentModel, Value: ColumnValue & AdditiveArithmetic>(
    column: KeyPath<Model.Columns, Column<Model, Value>>, value: Value
) -> Assignment<Model> {
    Assignment(adding: value, to: Model.columns[keyPath: column].name)
}

/// Adds a value to the optional column. `nil` stays `nil`.
public func += <Model: PersistentModel, Value: ColumnValue & AdditiveArithmetic>(
    column: KeyPath<Model.Columns, Column<Model, Value?>>, value: Value
) -> Assignment<Model> {
    Assignment(adding: value, to: Model.columns[keyPath: column].name)
}

/// The range of an integer type.
package struct IntegerRange: Sendable, Hashable {
    package let lowest, highest: Int64

    /// - Returns: `nil` if the type is not an integer type.
    init?(_ type: any ColumnValue.Type) {
        guard let type = type as? any FixedWidthInteger.Type else { return nil }
        (lowest, highest) = Self.range(type)
    }

    private static func range<Value: FixedWidthInteger>(_ type: Value.Type) -> (Int64, Int64) {
        (Int64(clamping: Value.min), Int64(clamping: Value.max))
    }

    package func contains(_ value: Int64) -> Bool { lowest <= value && value <= highest }
}

/// A new value of a column, without the type of the model.
package struct RowAssignment: Sendable, Hashable {
    package enum Value: Sendable, Hashable {
        /// A value; `nil` if it cannot be stored.
        case value(StoredValue?)
        /// The value of another column.
        case column(String)
        /// The sum of the column's value and this value, within the range of an integer type. The value is `nil` if it
        /// cannot be stored.
        case sum(StoredValue?, range: IntegerRange?)
    }

    package let column: String
    package let value: Value

    init(_ column: String, _ value: Value) {
        self.column = column
        self.value = value
    }

    /// A row after assignments.
    ///
    /// - Throws: A failure with the reason `invalidModel` for a value that cannot be stored, and for a change of the
    ///   id, or `invalidQuery` if a column does not exist.
    static func applied<Model: PersistentModel>(
        _ assignments: [RowAssignment], to row: StoredRow, of type: Model.Type
    ) throws(PersistenceFailure) -> StoredRow {
        let key = Model.columns.id.name
        let ids = row[key].map { [$0] } ?? []
        var values = row.values
        for assignment in assignments {
            guard let index = row.layout.index(of: assignment.column) else {
                throw PersistenceFailure(
                    .invalidQuery, "The table \(Model.table) has no column \(assignment.column).", model: Model.table)
            }
            guard assignment.column != key else {
                throw PersistenceFailure(
                    .invalidModel, "An update would change the id.",
                    remedy: "Create a new row, and delete the old one.", model: Model.table, ids: ids)
            }
            guard let value = try assignment.value(in: row, Model.table) else {
                throw PersistenceFailure(
                    .invalidModel,
                    "The new value of the column \(assignment.column) cannot be stored: it is out of range.",
                    model: Model.table, ids: ids)
            }
            values[index] = value
        }
        return StoredRow(row.layout, values) ?? row
    }

    /// The new value in a row; `nil` if it cannot be stored.
    private func value(in row: StoredRow, _ table: String) throws(PersistenceFailure) -> StoredValue? {
        switch value {
        case .value(let value): return value
        case .column(let other):
            if let value = row[other] { return value }
            throw PersistenceFailure(.invalidQuery, "The table \(table) has no column \(other).", model: table)
        case .sum(let added, let range): return Self.sum(row[column] ?? .null, added, range)
        }
    }

    /// The sum of two values; `nil` if it is out of range, or if one of them is not a number.
    static func sum(_ value: StoredValue, _ added: StoredValue?, _ range: IntegerRange?) -> StoredValue? {
        switch (value, added) {
        case (.null, .some): return .null
        case (.integer(let one), .integer(let other)):
            let (sum, isOverflow) = one.addingReportingOverflow(other)
            return !isOverflow && range?.contains(sum) != false ? .integer(sum) : nil
        case (.real(let one), .real(let other)): return (one + other).storedValue
        case (.integer(let one), .real(let other)): return (Double(one) + other).storedValue
        case (.real(let one), .integer(let other)): return (one + Double(other)).storedValue
        default: return nil
        }
    }
}

/// The change of a call that a service can execute without the call's closure, and so without loading rows.
package struct RowStatement: Sendable {
    package let query: RowQuery
    /// The new values; `nil` if the rows are deleted.
    package let assignments: [RowAssignment]?
}

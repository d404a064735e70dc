/// Converts models of one type to rows of one table and back.
struct ModelCoder<Model: PersistentModel> {
    let layout: RowLayout
    private let plan: ModelPlan<Model>

    /// - Throws: A failure with the reason `schemaMismatch` if the table lacks a column.
    init(_ layout: RowLayout) throws(PersistenceFailure) {
        self.layout = layout
        plan = try layout.plans.plan(of: Model.self, layout)
    }

    func model(_ row: StoredRow) throws(PersistenceFailure) -> Model { try RowDecoder.model(from: row) }

    func models(_ rows: [StoredRow]) throws(PersistenceFailure) -> [Model] {
        var models: [Model] = []
        models.reserveCapacity(rows.count)
        let columns = ColumnLookup(layout)
        for row in rows { models.append(try RowDecoder.model(from: row, columns)) }
        return models
    }

    func id(_ row: StoredRow) -> StoredValue { row.values[plan.key] }

    /// The row with another id.
    func replacingID(in row: StoredRow, by id: StoredValue) -> StoredRow {
        var row = row
        row.values[plan.key] = id
        return row
    }

    /// The row of a model. All its values fit their columns.
    ///
    /// - Throws: A failure with the reason `invalidModel` or `encoding`.
    func row(_ model: Model) throws(PersistenceFailure) -> StoredRow { try encoded(model, base: nil).row }

    /// The row of a model, all of whose values fit their columns, and the values that can be compared.
    private func encoded(_ model: Model, base: StoredRow?) throws(PersistenceFailure) -> EncodedRow {
        let encoded = try RowEncoder.encoded(model, layout: layout, base: base, plan.encoding)
        let row = encoded.row
        for (column, index) in plan.columns {
            guard let kind = row.values[index].storage else {
                if column.isOptional { continue }
                throw PersistenceFailure(
                    .invalidModel, "The column \(column.name) needs a value.", model: Model.table,
                    ids: [row.values[plan.key]])
            }
            guard kind == column.storage else {
                throw PersistenceFailure(
                    .invalidModel, "The column \(column.name) is \(column.storage.rawValue), not \(kind.rawValue).",
                    model: Model.table, ids: [row.values[plan.key]])
            }
        }
        return encoded
    }

    /// The row after a closure has changed the model. All columns that the closure does not change keep their stored
    /// values, byte for byte.
    ///
    /// - Returns: The row; `nil` if it has not changed.
    func updated(
        _ row: StoredRow, _ change: (inout Model) throws -> Void
    ) throws(PersistenceFailure) -> StoredRow? {
        var model = try model(row)
        let before = try encoded(model, base: row)
        try PersistenceJob.result(of: Model.table, ids: [id(row)]) { () throws in try change(&model) }
        return try replaced(row, before: before, after: encoded(model, base: row))
    }

    /// The row of a model that replaces a base. Columns whose meaning has not changed keep the bytes of the base.
    func row(_ model: Model, replacing base: StoredRow) throws(PersistenceFailure) -> StoredRow {
        let new = try encoded(model, base: base)
        // A base that cannot be decoded as a model is replaced as a whole.
        guard new.row != base, let model = try? self.model(base), let now = try? encoded(model, base: base) else {
            return new.row
        }
        return base.replacing(new.changes(from: now), from: new.row)
    }

    /// A row with the columns that differ between two others.
    private func replaced(
        _ row: StoredRow, before: EncodedRow, after: EncodedRow
    ) throws(PersistenceFailure) -> StoredRow? {
        guard id(before.row) == id(after.row) else {
            throw PersistenceFailure(
                .invalidModel, "An update has changed the id.", remedy: "Create a new row, and delete the old one.",
                model: Model.table, ids: [id(row)])
        }
        let changed = after.changes(from: before)
        return changed.isEmpty ? nil : row.replacing(changed, from: after.row)
    }

    /// The row of an edited model, and the row that the editor has seen.
    ///
    /// - Parameters:
    ///   - edited: The model after the changes.
    ///   - original: The model before.
    ///   - row: The row now; `nil` if it no longer exists.
    func edit(
        _ edited: Model, from original: Model, row: StoredRow?
    ) throws(PersistenceFailure) -> (row: StoredRow, base: StoredRow)? {
        // If the row does not exist, a row of NULL values makes the two models comparable.
        let blank = row ?? StoredRow(layout, Array(repeating: .null, count: layout.names.count))
        let before = try encoded(original, base: blank)
        let after = try encoded(edited, base: blank)
        var base = before.row
        if let row {
            // Columns whose meaning is the same keep the bytes that they have in the store.
            let now = try encoded(model(row), base: row)
            base = row.replacing(before.changes(from: now), from: before.row)
        }
        guard let new = try replaced(base, before: before, after: after) else { return nil }
        return (new, base)
    }
}

extension StoredValue {
    /// The storage that the value needs; `nil` for NULL.
    var storage: ColumnStorage? {
        switch self {
        case .null: nil
        case .integer: .integer
        case .real: .real
        case .text: .text
        case .blob: .blob
        }
    }
}

import FoundationEssentials

/// Encodes models as rows.
package enum RowEncoder {
    /// The indices of a model's columns in a row.
    struct Plan: Sendable {
        /// The optional columns. They are NULL unless the model encodes them.
        let optional: [Int]
        /// Whether each column of the row belongs to the model; empty if any column may be encoded.
        var isDeclared: [Bool] = []

        /// The plan of a model for rows of a layout, in which any column may be encoded.
        init<Model: PersistentModel>(_ type: Model.Type, _ layout: RowLayout) {
            optional = Model.columns.all.filter(\.isOptional).compactMap { layout.index(of: $0.name) }
        }

        init(optional: [Int], isDeclared: [Bool]) {
            self.optional = optional
            self.isDeclared = isDeclared
        }
    }

    /// The row of a model.
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - layout: The columns of the row.
    ///   - base: The row that supplies the values of columns outside the model. The default is NULL for all.
    /// - Throws: A failure with the reason `invalidModel` for a property without a column and for a value that cannot
    ///   be stored, and with `encoding` for an error of the model's own code.
    package static func row<Model: PersistentModel>(
        _ model: Model, layout: RowLayout, base: StoredRow? = nil
    ) throws(PersistenceFailure) -> StoredRow {
        try encoded(model, layout: layout, base: base, Plan(Model.self, layout)).row
    }

    /// The row of a model, and the values that are stored as JSON.
    static func encoded<Model: PersistentModel>(
        _ model: Model, layout: RowLayout, base: StoredRow?, _ plan: Plan
    ) throws(PersistenceFailure) -> EncodedRow {
        var values = base?.values ?? Array(repeating: .null, count: layout.names.count)
        guard values.count == layout.names.count else {
            throw PersistenceFailure(
                .invalidModel, "The row of \(Model.self) has other columns than its table.", model: Model.table)
        }
        for index in plan.optional { values[index] = .null }
        let target = RowTarget(layout: layout, values: values, isDeclared: plan.isDeclared, keepsNested: base != nil)
        do {
            try model.encode(to: RowEncoding(target: target))
            try target.check(Model.self)
        } catch let failure as PersistenceFailure {
            throw failure.naming(model: Model.table).naming(ids: ids(of: model))
        } catch {
            throw PersistenceFailure(
                .encoding, "A value of \(Model.self) could not be encoded.", model: Model.table, ids: ids(of: model),
                underlying: error)
        }
        guard let row = StoredRow(layout, target.values) else {
            throw PersistenceFailure(.invalidModel, "The row of \(Model.self) has no place.", model: Model.table)
        }
        return EncodedRow(row: row, nested: target.nested)
    }

    private static func ids<Model: PersistentModel>(of model: Model) -> [StoredValue] {
        model.id.storedValue.map { [$0] } ?? []
    }

    /// The value of one column.
    static func stored(_ value: some Encodable, column: String) throws -> StoredValue {
        if let value = value as? any ColumnValue { return try direct(value, column: column) }
        let single = SingleTarget(column: column)
        try value.encode(to: SingleEncoding(target: single))
        if let stored = single.value { return stored }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return .text(String(decoding: try encoder.encode(OrderedEncoding(value)), as: UTF8.self))
    }

    static func direct(_ value: some ColumnValue, column: String) throws(PersistenceFailure) -> StoredValue {
        if let stored = value.storedValue { return stored }
        throw PersistenceFailure(
            .invalidModel,
            "The value of the column \(column) cannot be stored: it is out of range or has a NUL character.")
    }
}

/// A row, and the values that are needed to compare it with another row of the same model.
struct EncodedRow {
    let row: StoredRow
    /// The values whose type is not a column type, by the index of the column. JSON may represent one value by several
    /// texts.
    let nested: [Int: any Encodable]

    /// The columns whose meaning differs from that in another row with the same layout.
    ///
    /// Values that are stored as JSON are compared by their types if these are `Equatable`, and otherwise by their
    /// texts.
    func changes(from other: EncodedRow) -> [Int] {
        row.changes(from: other.row).filter { index in
            guard let one = nested[index] as? any Equatable, let other = other.nested[index] else { return true }
            return !Self.isEqual(one, other)
        }
    }

    private static func isEqual<Value: Equatable>(_ one: Value, _ other: any Encodable) -> Bool {
        one == other as? Value
    }
}

/// The row that is being encoded. It never leaves the call that encodes.
private final class RowTarget {
    let layout: RowLayout
    var values: [StoredValue]
    /// The values whose type is not a column type, by the index of the column.
    private(set) var nested: [Int: any Encodable] = [:]
    var invalid: String?
    private let isDeclared: [Bool]
    private let keepsNested: Bool
    /// The index after the column that was encoded last. Most models encode their properties in the order of the table.
    private var expected = 0

    init(layout: RowLayout, values: [StoredValue], isDeclared: [Bool], keepsNested: Bool) {
        self.layout = layout
        self.values = values
        self.isDeclared = isDeclared
        self.keepsNested = keepsNested
    }

    func set(_ value: StoredValue, _ key: any CodingKey) throws { values[try index(key)] = value }

    func set(_ value: StoredValue, of nested: some Encodable, _ key: any CodingKey) throws {
        let index = try index(key)
        values[index] = value
        if keepsNested { self.nested[index] = nested }
    }

    private func index(_ key: any CodingKey) throws -> Int {
        let name = key.stringValue
        let isExpected = expected < layout.names.count && layout.names[expected] == name
        guard let index = isExpected ? expected : layout.index(of: name) else {
            throw PersistenceFailure(.invalidModel, "There is no column for the property \(name).")
        }
        expected = index + 1
        guard isDeclared.isEmpty || isDeclared[index] else {
            throw PersistenceFailure(
                .invalidModel, "The property \(name) is missing among the columns of the model.",
                remedy: "Name it in `columns` of the model.")
        }
        return index
    }

    func check(_ type: Any.Type) throws {
        guard let invalid else { return }
        throw PersistenceFailure(
            .invalidModel, "\(type) encodes \(invalid); a row has one value for each coding key.")
    }
}

private struct RowEncoding: Encoder {
    let target: RowTarget
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(RowContainer<Key>(target: target))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        target.invalid = "a list"
        return IgnoringContainer()
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        target.invalid = "a single value"
        return IgnoringContainer()
    }
}

private struct RowContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let target: RowTarget
    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil(forKey key: Key) throws { try target.set(.null, key) }

    mutating func encode(_ value: Bool, forKey key: Key) throws { try direct(value, key) }
    mutating func encode(_ value: String, forKey key: Key) throws { try direct(value, key) }
    mutating func encode(_ value: Double, forKey key: Key) throws { try direct(value, key) }
    mutating func encode(_ value: Float, forKey key: Key) throws { try direct(value, key) }
    mutating func encode(_ value: Int, forKey key: Key) throws { try direct(value, key) }
    mutating func encode(_ value: Int8, forKey key: Key) throws { try direct(value, key) }
    mutating func encode(_ value: Int16, forKey key: Key) throws { try direct(value, key) }
    mutating func encode(_ value: Int32, forKey key: Key) throws { try direct(value, key) }
    mutating func encode(_ value: Int64, forKey key: Key) throws { try direct(value, key) }
    mutating func encode(_ value: UInt8, forKey key: Key) throws { try direct(value, key) }
    mutating func encode(_ value: UInt16, forKey key: Key) throws { try direct(value, key) }
    mutating func encode(_ value: UInt32, forKey key: Key) throws { try direct(value, key) }
    mutating func encode(_ value: UInt64, forKey key: Key) throws { try direct(value, key) }
    mutating func encode(_ value: UInt, forKey key: Key) throws { try direct(value, key) }

    mutating func encode(_ value: some Encodable, forKey key: Key) throws {
        if let value = value as? any ColumnValue { return try direct(value, key) }
        try target.set(RowEncoder.stored(value, column: key.stringValue), of: value, key)
    }

    mutating func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try direct(value, key) }
    mutating func encodeIfPresent(_ value: String?, forKey key: Key) throws { try direct(value, key) }
    mutating func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try direct(value, key) }
    mutating func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try direct(value, key) }
    mutating func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try direct(value, key) }
    mutating func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try direct(value, key) }
    mutating func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try direct(value, key) }
    mutating func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try direct(value, key) }
    mutating func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try direct(value, key) }
    mutating func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try direct(value, key) }
    mutating func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try direct(value, key) }
    mutating func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try direct(value, key) }
    mutating func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try direct(value, key) }
    mutating func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try direct(value, key) }

    mutating func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try target.set(.null, key) }
    }

    private func direct(_ value: some ColumnValue, _ key: Key) throws {
        try target.set(RowEncoder.direct(value, column: key.stringValue), key)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        target.invalid = "a nested container"
        return KeyedEncodingContainer(IgnoringKeyedContainer())
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        target.invalid = "a nested container"
        return IgnoringContainer()
    }

    mutating func superEncoder() -> any Encoder {
        target.invalid = "the value of a superclass"
        return IgnoringEncoder()
    }

    mutating func superEncoder(forKey key: Key) -> any Encoder { superEncoder() }
}

/// The value of a type that encodes itself as a single value, such as an enumeration with raw values.
private final class SingleTarget {
    let column: String
    var value: StoredValue?

    init(column: String) { self.column = column }
}

/// Keeps a single value, and ignores lists and dictionaries, which are encoded as JSON later.
private struct SingleEncoding: SingleValueEncoder, SingleValueEncodingContainer {
    let target: SingleTarget

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    mutating func encodeNil() throws { target.value = .null }

    mutating func encode(_ value: some Encodable) throws {
        target.value = try RowEncoder.stored(value, column: target.column)
    }
}

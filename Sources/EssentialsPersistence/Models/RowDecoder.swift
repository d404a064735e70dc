import FoundationEssentials

/// Decodes models from rows.
package enum RowDecoder {
    /// The model in a row. Columns that are not part of the model are ignored.
    ///
    /// - Throws: A failure with the reason `decoding`.
    package static func model<Model: PersistentModel>(
        _ type: Model.Type = Model.self, from row: StoredRow
    ) throws(PersistenceFailure) -> Model {
        try model(from: row, ColumnLookup(row.layout))
    }

    /// The model in one of several rows with the same layout.
    static func model<Model: PersistentModel>(
        from row: StoredRow, _ columns: ColumnLookup
    ) throws(PersistenceFailure) -> Model {
        columns.begin(row.layout)
        do {
            return try Model(from: RowDecoding(row: row, columns: columns))
        } catch {
            throw PersistenceFailure(
                .decoding, "A row of \(Model.table) could not be decoded as \(Model.self).", model: Model.table,
                ids: row[Model.columns.id.name].map { [$0] } ?? [], underlying: error)
        }
    }

    /// Values of any type, whose coding keys are the columns of rows with the same layout.
    static func values<Value: Decodable>(
        _ type: Value.Type, from rows: [StoredRow]
    ) throws(PersistenceFailure) -> [Value] {
        guard let first = rows.first else { return [] }
        let columns = ColumnLookup(first.layout)
        var values: [Value] = []
        values.reserveCapacity(rows.count)
        for (number, row) in rows.enumerated() {
            columns.begin(row.layout)
            do {
                values.append(try Value(from: RowDecoding(row: row, columns: columns)))
            } catch {
                throw PersistenceFailure(
                    .decoding, "The row \(number + 1) of the query could not be decoded as \(Value.self).",
                    underlying: error)
            }
        }
        return values
    }

    static func value<Value: Decodable>(
        _ type: Value.Type, from stored: StoredValue, path: [any CodingKey]
    ) throws -> Value {
        if let direct = type as? any ColumnValue.Type {
            guard let value = direct.init(storedValue: stored) as? Value else { throw mismatch(type, path) }
            return value
        }
        return try nested(type, from: stored, path: path)
    }

    /// A value whose type is not a column value.
    static func nested<Value: Decodable>(
        _ type: Value.Type, from stored: StoredValue, path: [any CodingKey]
    ) throws -> Value {
        do {
            return try Value(from: SingleDecoding(stored: stored, codingPath: path))
        } catch is NeedsJSON {
            guard case .text(let text) = stored else { throw mismatch(type, path) }
            return try JSONDecoder().decode(type, from: Data(text.utf8))
        }
    }

    static func mismatch(_ type: Any.Type, _ path: [any CodingKey]) -> DecodingError {
        .typeMismatch(
            type, DecodingError.Context(codingPath: path, debugDescription: "The stored value is of another kind."))
    }
}

/// Thrown for a list or a dictionary, which is stored as JSON.
private struct NeedsJSON: Error {}

private struct RowDecoding: Decoder {
    let row: StoredRow
    let columns: ColumnLookup
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(RowReading<Key>(row: row, columns: columns))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw RowDecoder.mismatch([Any].self, []) }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw RowDecoder.mismatch(Any.self, []) }
}

private struct RowReading<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let row: StoredRow
    let columns: ColumnLookup
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { row.layout.names.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { row.layout.index(of: key.stringValue) != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try stored(key).isNull }

    private func stored(_ key: Key) throws -> StoredValue {
        if let index = columns.index(of: key.stringValue) { return row.values[index] }
        throw DecodingError.keyNotFound(
            key, DecodingError.Context(codingPath: [], debugDescription: "There is no such column."))
    }

    /// Inlined so that the compiler knows the type, and nothing is looked up at run time.
    @inline(__always)
    private func direct<Value: ColumnValue>(_ key: Key) throws -> Value {
        guard let value = Value(storedValue: try stored(key)) else { throw RowDecoder.mismatch(Value.self, [key]) }
        return value
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try direct(key) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try direct(key) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try direct(key) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try direct(key) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try direct(key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try direct(key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try direct(key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try direct(key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try direct(key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try direct(key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try direct(key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try direct(key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try direct(key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try direct(key) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try RowDecoder.value(type, from: stored(key), path: [key])
    }

    // MARK: Optional values, whose columns are looked up once

    @inline(__always)
    private func directIfPresent<Value: ColumnValue>(_ key: Key) throws -> Value? {
        guard let stored = storedIfPresent(key) else { return nil }
        guard let value = Value(storedValue: stored) else { throw RowDecoder.mismatch(Value.self, [key]) }
        return value
    }

    /// The value of a column; `nil` if the column is missing or NULL.
    private func storedIfPresent(_ key: Key) -> StoredValue? {
        guard let index = columns.index(of: key.stringValue), !row.values[index].isNull else { return nil }
        return row.values[index]
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try directIfPresent(key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try directIfPresent(key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try directIfPresent(key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try directIfPresent(key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try directIfPresent(key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try directIfPresent(key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try directIfPresent(key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try directIfPresent(key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try directIfPresent(key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try directIfPresent(key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try directIfPresent(key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try directIfPresent(key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try directIfPresent(key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try directIfPresent(key) }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        guard let stored = storedIfPresent(key) else { return nil }
        return try RowDecoder.value(type, from: stored, path: [key])
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { throw RowDecoder.mismatch([String: Any].self, [key]) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw RowDecoder.mismatch([Any].self, [key])
    }

    func superDecoder() throws -> any Decoder { throw RowDecoder.mismatch(Any.self, []) }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw RowDecoder.mismatch(Any.self, [key]) }
}

/// Decodes a type that is a single value.
private struct SingleDecoding: Decoder, SingleValueDecodingContainer {
    let stored: StoredValue
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> { throw NeedsJSON() }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw NeedsJSON() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { stored.isNull }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try RowDecoder.value(type, from: stored, path: codingPath)
    }
}

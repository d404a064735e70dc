#if Persistence
    import FoundationEssentials
    import ServiceEssentials

    /// The output of `essentials store rows`.
    struct RowListing {
        /// The maximum number of characters of a value in a table.
        private static let textLimit = 80
        /// The maximum number of bytes of a value in a table.
        private static let byteLimit = 32

        let rows: StoreRows

        // MARK: Text

        /// A line with the names of the columns and one for each row.
        var table: [String] {
            guard !rows.rows.isEmpty else { return ["There are no rows."] }
            return TextTable.lines([rows.columns] + rows.rows.map { $0.map(Self.text) })
        }

        private static func text(_ value: StoreRows.Value) -> String {
            switch value {
            case .null: return "NULL"
            case .integer(let value): return "\(value)"
            case .real(let value): return "\(value)"
            case .text(let text, let bytes):
                let start = text.prefix(textLimit)
                return start.utf8.count < bytes && start.count == textLimit || text.utf8.count < bytes
                    ? start + "…" : String(start)
            case .blob(let bytes, let count):
                if let id = uuid(bytes, count) { return id }
                let digits = hexadecimal(bytes.prefix(byteLimit))
                return count > byteLimit ? "x'\(digits)…' (\(count) bytes)" : "x'\(digits)'"
            }
        }

        fileprivate static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
            bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }

        /// 16 bytes as the text of a UUID.
        fileprivate static func uuid(_ bytes: [UInt8], _ count: Int64) -> String? {
            guard count == 16, bytes.count == 16 else { return nil }
            return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { hexadecimal(bytes[$0]) }.joined(separator: "-")
        }

        // MARK: JSON

        /// An object for each row.
        var objects: [String] { rows.rows.map { OneLine.json(Object(columns: rows.columns, values: $0)) } }

        private struct Object: Encodable {
            struct Key: CodingKey {
                let stringValue: String
                var intValue: Int? { nil }

                init(_ name: String) { stringValue = name }
                init?(stringValue: String) { self.init(stringValue) }
                init?(intValue: Int) { nil }
            }

            let columns: [String]
            let values: [StoreRows.Value]

            func encode(to encoder: any Encoder) throws {
                var object = encoder.container(keyedBy: Key.self)
                for (column, value) in zip(columns, values) {
                    try object.encode(Member(value: value), forKey: Key(column))
                }
            }
        }

        private struct Member: Encodable {
            private struct Text: Encodable {
                let text: String
                let bytes: Int64
            }
            private struct Bytes: Encodable {
                let hex: String
                let bytes: Int64
            }

            let value: StoreRows.Value

            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                switch value {
                case .null: try container.encodeNil()
                case .integer(let value): try container.encode(value)
                // JSON has no infinity.
                case .real(let value): value.isFinite ? try container.encode(value) : try container.encode("\(value)")
                case .text(let text, let bytes):
                    // Bytes that are no UTF-8 make the text longer, never shorter.
                    text.utf8.count < bytes
                        ? try container.encode(Text(text: text, bytes: bytes)) : try container.encode(text)
                case .blob(let bytes, let count):
                    if let id = RowListing.uuid(bytes, count) { return try container.encode(id) }
                    try container.encode(Bytes(hex: RowListing.hexadecimal(bytes), bytes: count))
                }
            }
        }
    }
#endif

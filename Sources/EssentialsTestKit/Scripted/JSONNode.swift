import FoundationEssentials

/// A JSON document for comparison. The order of keys and the spelling of numbers make no difference.
enum JSONNode: Sendable, Hashable, CustomStringConvertible {
    case null
    case bool(Bool)
    case integer(Int64)
    case decimal(Decimal)
    /// A number outside the range of `Decimal`.
    case number(Double)
    case string(String)
    case array([JSONNode])
    case object([String: JSONNode])

    /// The maximum number of differences that are listed.
    private static let shownDifferences = 20

    /// Parses a document.
    ///
    /// - Throws: the decoder's error if the data is not JSON or is nested too deeply.
    init(_ data: Data) throws { self = try JSONDecoder().decode(JSONNode.self, from: data) }

    /// The document in one line, shortened.
    var description: String {
        switch self {
        case .null: return "null"
        case .bool(let value): return "\(value)"
        case .integer(let value): return "\(value)"
        case .decimal(let value): return "\(value)"
        case .number(let value): return "\(value)"
        case .string(let value): return ShownText.quoted(value, limit: 60)
        case .array(let values): return "[" + Self.list(values.map(\.description)) + "]"
        case .object(let members):
            return "{" + Self.list(members.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }) + "}"
        }
    }

    /// The differences from the expected document, such as `$.users[0].name: expected “Ann”, was “Bob”`.
    func differences(from expected: JSONNode) -> [String] {
        var lines: [String] = []
        compare(with: expected, at: "$", &lines)
        let excess = lines.count - Self.shownDifferences
        return excess > 0 ? lines.prefix(Self.shownDifferences) + ["… and \(excess) more differences"] : lines
    }

    private func compare(with expected: JSONNode, at path: String, _ lines: inout [String]) {
        switch (self, expected) {
        case (.object(let members), .object(let wanted)):
            for (key, value) in wanted.sorted(by: { $0.key < $1.key }) {
                if let member = members[key] {
                    member.compare(with: value, at: Self.path(path, key), &lines)
                } else {
                    lines.append("\(Self.path(path, key)): expected \(value), is missing")
                }
            }
            for (key, value) in members.sorted(by: { $0.key < $1.key }) where wanted[key] == nil {
                lines.append("\(Self.path(path, key)): \(value) not expected")
            }
        case (.array(let values), .array(let wanted)):
            for (index, (value, other)) in zip(values, wanted).enumerated() {
                value.compare(with: other, at: "\(path)[\(index)]", &lines)
            }
            if values.count != wanted.count {
                lines.append("\(path): expected \(wanted.count) elements, were \(values.count)")
            }
        default:
            if self != expected { lines.append("\(path): expected \(expected), was \(self)") }
        }
    }

    private static func path(_ path: String, _ key: String) -> String {
        let isPlain = !key.isEmpty && key.utf8.allSatisfy { ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7a || $0 == 0x5f }
        return isPlain ? "\(path).\(key)" : "\(path)[\(ShownText.quoted(key, limit: 60))]"
    }

    private static func list(_ texts: [String]) -> String {
        texts.prefix(4).joined(separator: ", ") + (texts.count > 4 ? ", …" : "")
    }
}

extension JSONNode: Decodable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Decimal.self) {
            self = .decimal(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let values = try? container.decode([JSONNode].self) {
            self = .array(values)
        } else {
            self = .object(try container.decode([String: JSONNode].self))
        }
    }
}

import EssentialsHTTP

// The order of keys and the spelling of numbers make no difference.
extension JSONValue {
    /// The maximum number of differences that are listed.
    private static var shownDifferences: Int { 20 }

    /// The value in one line, shortened.
    var shown: String {
        switch self {
        case .null: "null"
        case .boolean(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .unsigned(let value): "\(value)"
        case .number(let value): "\(value)"
        case .string(let value): ShownText.quoted(value, limit: 60)
        case .array(let values): "[" + Self.list(values.map(\.shown)) + "]"
        case .object(let members):
            "{" + Self.list(members.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.shown)" }) + "}"
        }
    }

    /// The differences from the expected document, such as `$.users[0].name: expected “Ann”, was “Bob”`.
    func differences(from expected: JSONValue) -> [String] {
        var lines: [String] = []
        compare(with: expected, at: "$", &lines)
        let excess = lines.count - Self.shownDifferences
        return excess > 0 ? lines.prefix(Self.shownDifferences) + ["… and \(excess) more differences"] : lines
    }

    private func compare(with expected: JSONValue, at path: String, _ lines: inout [String]) {
        switch (self, expected) {
        case (.object(let members), .object(let wanted)):
            for (key, value) in wanted.sorted(by: { $0.key < $1.key }) {
                if let member = members[key] {
                    member.compare(with: value, at: Self.path(path, key), &lines)
                } else {
                    lines.append("\(Self.path(path, key)): expected \(value.shown), is missing")
                }
            }
            for (key, value) in members.sorted(by: { $0.key < $1.key }) where wanted[key] == nil {
                lines.append("\(Self.path(path, key)): \(value.shown) not expected")
            }
        case (.array(let values), .array(let wanted)):
            for (index, (value, other)) in zip(values, wanted).enumerated() {
                value.compare(with: other, at: "\(path)[\(index)]", &lines)
            }
            if values.count != wanted.count {
                lines.append("\(path): expected \(wanted.count) elements, were \(values.count)")
            }
        default:
            if self != expected { lines.append("\(path): expected \(expected.shown), was \(shown)") }
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

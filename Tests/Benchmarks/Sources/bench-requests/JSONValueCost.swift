internal import EssentialsHTTP
internal import Figures
internal import FoundationEssentials

/// The cost of reading JSON of unknown shape, compared with JSONDecoder and a known one.
enum JSONValueCost {
    static func measure(_ options: Options) throws -> [Row] {
        let flat = try JSONEncoder().encode(
            Dictionary(uniqueKeysWithValues: (0..<50_000).map { ("member \($0)", $0 * 7) }))
        let nested = nestedBody(levels: JSONValue.maximumDepth - 1, leaves: 110_000)
        let codec = JSONCodec()
        var (known, unknown, deep, ratios): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
        for round in 0...options.rounds {
            let first = try milliseconds { try JSONDecoder().decode([String: Int].self, from: flat).count == 50_000 }
            let second = try milliseconds {
                try codec.decode(JSONValue.self, from: flat, as: .json).object?.count == 50_000
            }
            let third = try milliseconds { try codec.decode(JSONValue.self, from: nested, as: .json).array != nil }
            guard round > 0 else { continue }
            known.append(first)
            unknown.append(second)
            deep.append(third)
            ratios.append(second / first)
        }
        return [
            Row(
                what: "JSON object of \(flat.count) bytes: JSONDecoder, as [String: Int]", value: median(known),
                unit: "ms", digits: 2),
            Row(what: "    read as JSONValue", value: median(unknown), unit: "ms", digits: 2),
            Row(
                what: "    JSONValue's share of JSONDecoder's time", value: median(ratios), unit: "times", digits: 3,
                goal: .atMost(3)),
            Row(
                what: "JSON of \(nested.count) bytes, 512 levels deep: read as JSONValue", value: median(deep),
                unit: "ms", digits: 2),
        ]
    }

    /// Creates values of all kinds at the last of many levels.
    private static func nestedBody(levels: Int, leaves: Int) -> Data {
        let (begin, end) = (String(repeating: "[", count: levels), String(repeating: "]", count: levels))
        let values = (0..<leaves).map { ["null", "true", "17", "0.5", "\"text\""][$0 % 5] }
        return Data("\(begin)[\(values.joined(separator: ",    "))]\(end)".utf8)
    }

    private static func milliseconds(_ body: () throws -> Bool) throws -> Double {
        let start = JSONCost.processNanoseconds()
        guard try body() else { throw BenchmarkError("the document was not read whole") }
        return (JSONCost.processNanoseconds() - start) / 1e6
    }
}

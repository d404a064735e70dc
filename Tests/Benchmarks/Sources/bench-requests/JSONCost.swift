internal import EssentialsHTTP
internal import EssentialsRequests
internal import Figures
internal import FoundationEssentials
internal import Glibc

/// The cost that the service adds to the decoding of a JSON array of 1 MB.
enum JSONCost {
    private struct Item: Codable, Sendable {
        let id: Int
        let name: String
        let email: String
        let isActive: Bool
        let score: Double
        let tags: [String]
    }

    static func measure(_ options: Options) async throws -> [Row] {
        let json = try body()
        let head = HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"])
        let transport = NullTransport(TransportResponse(head, body: ResponseBody(json)))
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment("http://127.0.0.1:8080/"), transport: transport)
        var (alone, whole, ratios): ([Double], [Double], [Double]) = ([], [], [])
        for round in 0...options.rounds {
            let sides = round.isMultiple(of: 2) ? [0, 1] : [1, 0]
            var spent = [0.0, 0.0]
            for side in sides {
                spent[side] = try await cpuMilliseconds {
                    if side == 0 { return try JSONDecoder().decode([Item].self, from: json).count }
                    let items: [Item] = try await service.get("items")
                    return items.count
                }
            }
            guard round > 0 else { continue }
            alone.append(spent[0])
            whole.append(spent[1])
            ratios.append(spent[1] / spent[0])
        }
        return [
            Row(
                what: "JSON array of \(json.count) bytes: CPU time of JSONDecoder alone", value: median(alone),
                unit: "ms",
                digits: 2),
            Row(what: "    read by the service", value: median(whole), unit: "ms", digits: 2),
            Row(
                what: "    the service's share of JSONDecoder's time", value: median(ratios), unit: "times", digits: 3,
                goal: .atMost(1.05)),
        ]
    }

    private static func body() throws -> Data {
        let items = (0..<7_200).map { number in
            Item(
                id: number, name: "Person number \(number)", email: "person.\(number)@example.com",
                isActive: number.isMultiple(of: 3), score: Double(number) / 8, tags: ["one", "two", "tag \(number)"])
        }
        return try JSONEncoder().encode(items)
    }

    /// CPU time of the whole process, because the service decodes large bodies on another thread.
    @concurrent
    private static func cpuMilliseconds(_ body: @Sendable () async throws -> Int) async throws -> Double {
        let start = processNanoseconds()
        guard try await body() == 7_200 else { throw BenchmarkError("the array was not read whole") }
        return (processNanoseconds() - start) / 1e6
    }

    static func processNanoseconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }
}

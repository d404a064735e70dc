internal import EssentialsRequests
internal import Figures
internal import FoundationEssentials
internal import ThreadCounters

/// A jar of 10,000 cookies in 2,000 domains.
enum CookieCost {
    private static let domains = 2_000

    static func measure(rounds: Int) async throws -> [Row] {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "bench-stages-\(UInt64.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let list = folder.appending(path: "suffixes.txt")
        try Data("com\nco.uk\n*.ck\n!www.ck\n".utf8).write(to: list)
        let rules = try PublicSuffixRules.file(list.path)
        let file = CookieFile(folder.appending(path: "jar.txt").path)
        let jar = try CookieJar(file: file, publicSuffixes: rules)
        let urls = try (0..<domains).map { try RequestURL("https://www.shop\($0).com/") }
        for url in urls {
            for number in 0..<5 { _ = jar.store("name\(number)=value; Max-Age=100000; Path=/", from: url) }
        }
        try await jar.flush()
        var (fields, stores, loads, suffixes): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
        for _ in 0..<rounds {
            fields.append(time(of: domains) { for url in urls { _ = jar.field(for: url, countsAsUse: true) } })
            stores.append(
                time(of: domains) {
                    for url in urls { _ = jar.store("name1=other; Max-Age=100000; Path=/", from: url) }
                })
            let start = monotonic_nanoseconds()
            let loaded = try CookieJar(file: file, publicSuffixes: rules)
            loads.append(Double(monotonic_nanoseconds() - start) / 1e6)
            guard loaded.count == jar.count else { throw BenchmarkError("the file has \(loaded.count) cookies") }
            suffixes.append(time(of: domains) { for _ in urls { _ = rules.isPublicSuffix("www.example.co.uk") } })
        }
        return [
            Row(what: "cookies in the jar", value: Double(jar.count), unit: "", goal: .atLeast(10_000), isJudged: true),
            Row(
                what: "    Cookie for a URL with five", value: median(fields) / 1000, unit: "us", digits: 2,
                goal: .atMost(2)),
            Row(what: "    storing one", value: median(stores) / 1000, unit: "us", digits: 2, goal: .atMost(3)),
            Row(what: "    loading the file", value: median(loads), unit: "ms", digits: 1, goal: .atMost(30)),
            Row(what: "    public suffix", value: median(suffixes) / 1000, unit: "us", digits: 2, goal: .atMost(0.5)),
        ]
    }

    private static func time(of count: Int, _ work: () -> Void) -> Double {
        let start = monotonic_nanoseconds()
        work()
        return Double(monotonic_nanoseconds() - start) / Double(count)
    }
}

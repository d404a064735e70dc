@testable import EssentialsFetching
@testable import EssentialsRequests

/// The expected result of a fetch, derived for each source from the description of sources and options.
struct SlowFetchModel {
    enum Cache: String, CaseIterable { case hit, stale, miss, fault, slow }
    enum Server: String, CaseIterable { case value, empty, notModified, notFound, error, noPath, slow }
    enum Source: String, CaseIterable {
        case cache, backend, cacheThenBackend, cacheElseBackend, cacheElseBackendWithin60s, backendElseCache, both
    }

    /// The result of a fetch whose cached value is called `old` and whose served value is called `new`.
    struct Outcome: Hashable {
        var emitted: [String] = []
        var requests = 0
        var end = "ends"
        /// The value that is stored afterwards.
        var stored: String?
    }

    let source: Source
    let options: FetchOptions
    let cache: Cache
    let server: Server

    var outcome: Outcome {
        var outcome = Outcome()
        outcome.stored = cache == .miss ? nil : "old"
        switch effectiveSource {
        case .cache:
            if isReadable { outcome.emitted.append("old") }
        case .backend:
            serve(&outcome)
        case .cacheThenBackend:
            if isReadable { outcome.emitted.append("old") }
            serve(&outcome)
        case .cacheElseBackend:
            if isReadable { outcome.emitted.append("old") } else { serve(&outcome) }
        case .cacheElseBackendWithin60s:
            if isReadable, cache != .stale { outcome.emitted.append("old") } else { serve(&outcome) }
        case .backendElseCache:
            if serverFails, isReadable {
                outcome.requests = 1
                outcome.emitted.append(options.emitsFailure ? "old with the failure" : "old")
            } else {
                serve(&outcome)
            }
        case .both:
            let serverIsFirst = cache == .slow && server != .slow
            if isReadable, !serverIsFirst || serverFails { outcome.emitted.append("old") }
            serve(&outcome)
        }
        return outcome
    }

    /// A cached value prevents the request: that is the source `cacheElseBackend`.
    private var effectiveSource: Source {
        guard options.cachedPreventsDownload else { return source }
        return [.cache, .cacheElseBackendWithin60s].contains(source) ? source : .cacheElseBackend
    }

    private var isReadable: Bool { cache != .miss && cache != .fault }

    /// Whether the server fails without saying that there is no model.
    private var serverFails: Bool { [.notModified, .error, .noPath].contains(server) }

    private func serve(_ outcome: inout Outcome) {
        outcome.requests = 1
        switch server {
        case .value, .slow:
            if options.emitsValue { outcome.emitted.append("new") }
            if options.caches { outcome.stored = "new" }
        case .empty:
            if options.caches { outcome.stored = nil }
        case .notFound:
            if options.caches { outcome.stored = nil }
            if options.emitsFailure { outcome.end = "throws 404" }
        case .notModified: if options.emitsFailure { outcome.end = "throws 304" }
        case .error: if options.emitsFailure { outcome.end = "throws 500" }
        case .noPath: if options.emitsFailure { outcome.end = "throws connection" }
        }
    }
}

extension SlowFetchModel.Outcome: CustomStringConvertible {
    var description: String {
        let values = emitted.isEmpty ? "nothing" : emitted.joined(separator: ", then ")
        let sent = requests == 0 ? "no request" : "\(requests) request"
        return "emits \(values); \(end); \(sent); stored: \(stored ?? "nothing")"
    }
}

extension FetchOptions {
    /// All combinations.
    static let all: [FetchOptions] = (0..<16).map { bits in
        FetchOptions(
            emitsValue: bits & 8 == 0, emitsFailure: bits & 4 == 0, caches: bits & 2 == 0,
            cachedPreventsDownload: bits & 1 == 0)
    }

    /// Each option in the order of a mark in a table.
    var flags: [Bool] { [emitsValue, emitsFailure, caches, cachedPreventsDownload] }
}

/// The text of all outcomes, for a person to read.
enum FetchPolicyTable {
    static var text: String {
        var text = """
            What a fetch does with each source, state of the cache, reply of the server and combination of options.
            A test makes this text from a plain description of the sources, and compares it with real fetches.

            The cached value is “old”, that of the server is “new”.
            Cache: hit = a value 5 s old, stale = 120 s old, miss = none, fault = reading fails, slow = a hit that comes
            after the reply of the server. Server: empty = 204, notModified = 304, notFound = 404, error = 500,
            noPath = the connection fails, slow = a value that comes after everything else.
            Options: V = emitsValue, F = emitsFailure, C = caches, P = cachedPreventsDownload; - means off, * either.

            """
        for source in SlowFetchModel.Source.allCases {
            text += "\n## \(source.rawValue)\n"
            for cache in SlowFetchModel.Cache.allCases {
                // Replies with the same outcomes share their lines.
                let all = SlowFetchModel.Server.allCases.map { ($0, lines(source, cache, $0)) }
                let texts = Dictionary(uniqueKeysWithValues: all)
                var rest = SlowFetchModel.Server.allCases
                while let first = rest.first, let lines = texts[first] {
                    let same = rest.filter { texts[$0] == lines }
                    rest.removeAll { same.contains($0) }
                    let names =
                        rest.isEmpty && same.count == SlowFetchModel.Server.allCases.count
                        ? "any" : same.map(\.rawValue).joined(separator: ", ")
                    text += "\ncache \(cache.rawValue), server \(names)\n\(lines)"
                }
            }
        }
        return text
    }

    private static func lines(
        _ source: SlowFetchModel.Source, _ cache: SlowFetchModel.Cache, _ server: SlowFetchModel.Server
    ) -> String {
        var order: [SlowFetchModel.Outcome] = []
        var members: [SlowFetchModel.Outcome: [FetchOptions]] = [:]
        for options in FetchOptions.all {
            let outcome = SlowFetchModel(source: source, options: options, cache: cache, server: server).outcome
            if members[outcome] == nil { order.append(outcome) }
            members[outcome, default: []].append(options)
        }
        return order.map { outcome in
            "    \(marks(of: members[outcome] ?? []).joined(separator: " ")): \(outcome)\n"
        }.joined()
    }

    /// A mark for each option, and the combinations that it stands for; the most general ones first.
    private static let patterns: [(text: String, members: [FetchOptions])] = {
        let all = (0..<81).map { number in [27, 9, 3, 1].map { number / $0 % 3 } }
        return all.sorted { one, other in one.count { $0 == 2 } > other.count { $0 == 2 } }.map { pattern in
            let text = zip(pattern, "VFCP").map { $0 == 2 ? "*" : $0 == 0 ? "\($1)" : "-" }.joined()
            let members = FetchOptions.all.filter { options in
                zip(pattern, options.flags).allSatisfy { $0 == 2 || ($0 == 0) == $1 }
            }
            return (text, members)
        }
    }()

    /// Patterns that stand for exactly these combinations.
    private static func marks(of members: [FetchOptions]) -> [String] {
        var rest = Set(members)
        var marks: [String] = []
        for pattern in patterns where !rest.isEmpty {
            guard pattern.members.allSatisfy(members.contains), !rest.isDisjoint(with: pattern.members) else {
                continue
            }
            rest.subtract(pattern.members)
            marks.append(pattern.text)
        }
        return marks
    }
}

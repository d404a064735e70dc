import FoundationEssentials
import Testing

@testable import EssentialsHTTP

@Suite struct CacheDispositionTests {
    typealias Fixtures = CacheFixtures
    private static let never: Set<Int> = [206, 304, 401, 407, 416]
    private static let heuristic: Set<Int> = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]

    private func isStored(_ status: Int, _ fields: HTTPFields, _ options: CacheOptions = CacheOptions()) -> Bool {
        Fixtures.disposition(Fixtures.response(status, fields), options).stored != nil
    }

    @Test("K1: Explicit freshness stores any final status but those of one exchange", arguments: 100...599)
    func explicit(status: Int) {
        let isStorable = status >= 200 && !Self.never.contains(status)
        #expect(isStored(status, [.cacheControl: "max-age=10"]) == isStorable)
        #expect(isStored(status, [.expires: Fixtures.date(10), .date: Fixtures.date(0)]) == isStorable)
        #expect(!isStored(status, [.cacheControl: "max-age=10, no-store"]))
        #expect(!isStored(status, [.cacheControl: "max-age=10", .vary: "*"]))
        let isKnown = isStorable && HTTPResponse.Status(code: status).registeredPhrase != nil
        #expect(isStored(status, [.cacheControl: "max-age=10, no-store, must-understand"]) == isKnown)
    }

    @Test("K1: Without explicit freshness some statuses are stored, and any with public", arguments: 200...599)
    func heuristics(status: Int) {
        let modified: HTTPFields = [.lastModified: Fixtures.date(-1_000), .date: Fixtures.date(0)]
        #expect(isStored(status, modified) == Self.heuristic.contains(status))
        #expect(isStored(status, [.eTag: "\"a\""]) == Self.heuristic.contains(status))
        #expect(isStored(status, [:]) == false)
        #expect(isStored(status, [.eTag: "\"a\"", .cacheControl: "public"]) == !Self.never.contains(status))
        // An error whose time is over would replace what can still be used.
        #expect(isStored(status, [.cacheControl: "max-age=0"]) == Self.heuristic.contains(status))
    }

    @Test("It is said why a response is not stored")
    func reasons() {
        func reason(_ status: Int, _ fields: HTTPFields, _ request: CacheRequest = Fixtures.request()) -> String? {
            Fixtures.disposition(Fixtures.response(status, fields), to: request).reason?.text
        }
        let fresh: HTTPFields = [.cacheControl: "max-age=10"]
        #expect(reason(200, [:]) == "no freshness and no validator")
        #expect(reason(200, [.cacheControl: "no-store"]) == "no-store in the response")
        #expect(reason(206, fresh) == "status 206" && reason(103, fresh) == "status 103")
        #expect(reason(200, fresh, Fixtures.request([.cacheControl: "no-store"])) == "no-store in the request")
        #expect(reason(200, fresh, Fixtures.request(policy: .bypass)) == "bypass")
        #expect(reason(200, fresh, Fixtures.request(method: .options)) == "method")
        #expect(reason(599, [.cacheControl: "max-age=1, must-understand"]) == "must-understand and an unknown status")
        #expect(reason(200, [.vary: "*", .cacheControl: "max-age=1"]) == "Vary with more than names of text fields")
    }

    @Test("K6: A heuristic is a tenth of the time since the last change, at most a day, and can be switched off")
    func heuristicLifetime() {
        func lifetime(_ ago: Double, _ more: HTTPFields = [:], status: Int = 200, isOn: Bool = true) -> Duration {
            var options = CacheOptions()
            options.usesHeuristics = isOn
            let fields: HTTPFields = [.lastModified: Fixtures.date(-ago)]
            return Fixtures.head(fields.merged(with: more) { _ in false }, status: status, options: options).lifetime
        }
        #expect(lifetime(1_000) == .seconds(100))
        #expect(lifetime(86_400 * 365) == .seconds(86_400))
        #expect(lifetime(-1) == .zero && lifetime(0) == .zero)
        #expect(lifetime(1_000, [.date: Fixtures.date(-500)]) == .seconds(50))
        #expect(lifetime(1_000, isOn: false) == .zero)
        #expect(lifetime(1_000, status: 302) == .zero)
        #expect(lifetime(1_000, [.cacheControl: "public"], status: 302) == .seconds(100))
        #expect(lifetime(1_000, [.cacheControl: "max-age=5"]) == .seconds(5))
        #expect(lifetime(1_000, [.expires: "0"]) == .zero)
        #expect(lifetime(1_000, [.lastModified: "yesterday"]) == .zero)
        if let pragma = HTTPField.Name("Pragma") {
            #expect(lifetime(1_000, [pragma: "no-cache"]) == .zero)
            #expect(lifetime(1_000, [pragma: "no-cache", .cacheControl: "max-age=5"]) == .seconds(5))
        }
    }

    @Test("K4: The delay of the last sending and the time since Date make a response old")
    func age() throws {
        func age(_ fields: HTTPFields) -> Duration? {
            let all = fields.merged(with: [.cacheControl: "max-age=60"]) { _ in false }
            return Fixtures.disposition(Fixtures.response(200, all), at: 10).stored?.age
        }
        #expect(age([:]) == .seconds(1) && age([.age: "5"]) == .seconds(6))
        #expect(age([.date: Fixtures.date(3)]) == .seconds(7) && age([.date: Fixtures.date(30)]) == .seconds(1))
        #expect(age([.date: Fixtures.date(3), .age: "20, x"]) == .seconds(21))
        #expect(age([.age: "x"]) == .seconds(1) && age([.age: "-5"]) == .seconds(1))
    }

    @Test("K4: A response is stale if a clock was set while it was on its way", arguments: [-3_600.0, 90_000])
    func unknownDelay(jump: Double) throws {
        let request = Fixtures.request()
        let disposition = CacheRules.disposition(
            of: Fixtures.response(200, [.cacheControl: "max-age=600"]), to: request, conditions: [:], stored: [],
            requestedAt: Fixtures.moment(0, running: 1_000), now: Fixtures.moment(jump, running: 10, boot: 8),
            sent: { request.value(of: $0) }, isUnpacked: false, options: CacheOptions())
        let head = try #require(disposition.stored)
        #expect(head.timeLeft(at: head.moment) < .zero)
    }

    @Test("K8: The fields of the connection are not stored, and it cannot take away what rules a cache")
    func connection() throws {
        var fields: HTTPFields = [
            .cacheControl: "max-age=10", .connection: "close, X-a, Cache-Control, VARY", .setCookie: "a=b",
            .transferEncoding: "chunked", .upgrade: "h2c", .te: "trailers", .trailer: "x", .vary: "Accept",
            .proxyAuthenticate: "x", .date: Fixtures.dateText, .age: "1",
        ]
        for name in ["X-A", "Keep-Alive", "Proxy-Connection", "X-B"] {
            fields.append(try HTTPField.checked(name: name, value: "1"))
        }
        let head = try #require(Fixtures.disposition(Fixtures.response(200, fields)).stored)
        #expect(
            head.fields.map(\.name.canonicalName) == ["cache-control", "set-cookie", "vary", "date", "x-b"])
    }

    @Test("K12: A whole response replaces the one with its selection, or else the one that fitted the request")
    func replacing() {
        let accept = Fixtures.selection([(.accept, "a")])
        let stored = [
            Fixtures.head([:], selection: Fixtures.selection([(.accept, "b")])), Fixtures.head([:]),
            Fixtures.head([:], selection: accept),
        ]
        func replaced(_ fields: HTTPFields, _ stored: [StoredHead]) -> Int? {
            let all = fields.merged(with: [.cacheControl: "max-age=1"]) { _ in false }
            return Fixtures.disposition(
                Fixtures.response(200, all), to: Fixtures.request([.accept: "a"]), stored: stored
            ).replaced
        }
        #expect(replaced([.vary: "accept"], stored) == 2)
        #expect(replaced([:], stored) == 1)
        #expect(replaced([.vary: "accept"], Array(stored.prefix(2))) == 1)
        #expect(replaced([.vary: "accept"], Array(stored.prefix(1))) == nil)
        #expect(replaced([:], []) == nil)
    }

    @Test("K15: A response says whether its body was unpacked, which only a coded one can be")
    func unpacked() {
        func isUnpacked(_ fields: HTTPFields, _ isUnpacked: Bool) -> Bool? {
            let all = fields.merged(with: [.cacheControl: "max-age=1"]) { _ in false }
            return Fixtures.disposition(Fixtures.response(200, all), isUnpacked: isUnpacked).stored?.isUnpacked
        }
        #expect(isUnpacked([.contentEncoding: "gzip"], true) == true)
        #expect(isUnpacked([.contentEncoding: "gzip"], false) == false)
        #expect(isUnpacked([:], true) == false)
    }

    @Test("A response that is not stored makes out of date what is stored, if it is a new state or a refusal")
    func newState() {
        func disposition(
            _ status: Int, at seconds: Double = 1, _ directives: String = "max-age=10"
        ) -> CacheDisposition {
            Fixtures.disposition(
                Fixtures.response(status, [.cacheControl: "no-store"]), to: Fixtures.request(policy: .reload),
                stored: [Fixtures.head([.cacheControl: directives])], at: seconds)
        }
        for status in [200, 204, 301, 401, 403, 404, 410, 451] {
            #expect(disposition(status) == .makeStale(0) && disposition(status, at: 10) == .makeStale(0))
        }
        for status in [206, 302, 400, 429, 500, 503] { #expect(disposition(status).reason != nil) }
        // It is used only after a validation anyway.
        #expect(disposition(200, at: 10, "max-age=10, must-revalidate").reason == .noStore)
    }

    @Test("A shared store keeps to the rules for shared caches (RFC 9111, 3.5 and 5.2.2)")
    func shared() {
        var options = CacheOptions()
        options.isShared = true
        func stored(_ directives: String, _ fields: HTTPFields = [:]) -> StoredHead? {
            Fixtures.disposition(
                Fixtures.response(200, [.cacheControl: directives]), to: Fixtures.request(fields), options
            ).stored
        }
        #expect(stored("max-age=10") != nil && stored("max-age=10, private") == nil)
        #expect(stored("max-age=10, private=\"x\"") == nil)
        let authorized: HTTPFields = [.authorization: "Basic eA=="]
        #expect(stored("max-age=10", authorized) == nil)
        for directive in ["public", "must-revalidate", "s-maxage=5"] {
            #expect(stored("max-age=10, \(directive)", authorized) != nil)
        }
        #expect(stored("max-age=10, s-maxage=5")?.lifetime == .seconds(5))
        #expect(stored("max-age=10, s-maxage=5")?.allowsStale == false)
        #expect(stored("max-age=10, proxy-revalidate")?.allowsStale == false)
        options.isShared = false
        #expect(stored("max-age=10, private", authorized)?.lifetime == .seconds(10))
        #expect(stored("max-age=10, s-maxage=5, proxy-revalidate")?.allowsStale == true)
    }
}

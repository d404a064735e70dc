import FoundationEssentials
import Testing

@testable import EssentialsHTTP

@Suite struct ConditionalRulesTests {
    typealias Fixtures = CacheFixtures
    private static let stale: HTTPFields = [.cacheControl: "max-age=0"]

    private static func stored(_ fields: HTTPFields, status: Int = 200, at seconds: Double = 0) -> StoredHead {
        Fixtures.head(Self.stale.merged(with: fields) { _ in false }, status: status, at: seconds)
    }

    @Test("K9: A validation sends the tag, weak or strong, and the last change")
    func conditions() {
        func conditions(_ stored: [StoredHead], _ request: CacheRequest = Fixtures.request()) -> HTTPFields? {
            Fixtures.answer(request, stored, at: 1).conditions
        }
        let modified = Fixtures.date(-100)
        #expect(conditions([Self.stored([.eTag: "\"a\""])]) == [.ifNoneMatch: "\"a\""])
        #expect(conditions([Self.stored([.eTag: "W/\"a\""])]) == [.ifNoneMatch: "W/\"a\""])
        #expect(conditions([Self.stored([.eTag: "abc"])]) == [.ifNoneMatch: "abc"])
        #expect(conditions([Self.stored([.lastModified: modified])]) == [.ifModifiedSince: modified])
        let both = Self.stored([.eTag: "\"a\"", .lastModified: modified])
        #expect(conditions([both]) == [.ifNoneMatch: "\"a\"", .ifModifiedSince: modified])
        // All that fit, the newest first, which also gives the date.
        let newer = Self.stored([.eTag: "\"b\""], at: 1)
        #expect(conditions([both, newer]) == [.ifNoneMatch: "\"b\", \"a\""])
        // Nothing to ask with, and statuses that a condition is not about.
        #expect(conditions([Self.stored([:])]) == nil)
        #expect(conditions([Self.stored([.eTag: "\"a\""], status: 404)]) == nil)
        #expect(conditions([Self.stored([.eTag: "\"a"])]) == nil)
    }

    @Test("K9: A request for a range, or with a condition of its own, is sent without conditions of the cache")
    func noConditions() {
        let stored = [Self.stored([.eTag: "\"a\"", .lastModified: Fixtures.date(-100)])]
        for name in [HTTPField.Name.range, .ifRange, .ifMatch, .ifUnmodifiedSince, .ifNoneMatch, .ifModifiedSince] {
            let answer = Fixtures.answer(Fixtures.request([name: "\"x\""]), stored, at: 1)
            #expect(answer.kind == .forward && answer.fallback == nil, "\(name)")
        }
    }

    @Test(
        "K13: A fresh response answers the caller's condition with 304 or whole",
        arguments: [
            ([.ifNoneMatch: "\"a\""], true), ([.ifNoneMatch: "W/\"a\""], true), ([.ifNoneMatch: "\"x\", \"a\""], true),
            ([.ifNoneMatch: "*"], true), ([.ifNoneMatch: "\"b\""], false), ([.ifNoneMatch: "a"], false),
            ([.ifModifiedSince: CacheFixtures.date(-100)], true), ([.ifModifiedSince: CacheFixtures.date(-99)], true),
            ([.ifModifiedSince: CacheFixtures.date(-101)], false), ([.ifModifiedSince: "yesterday"], false),
            // The tag has precedence (RFC 9110, 13.2.2).
            ([.ifNoneMatch: "\"b\"", .ifModifiedSince: CacheFixtures.date(-99)], false),
            ([.ifNoneMatch: "\"a\"", .ifModifiedSince: CacheFixtures.date(-101)], true),
        ] as [(HTTPFields, Bool)])
    func ownConditions(fields: HTTPFields, isUnchanged: Bool) {
        let head: HTTPFields = [
            .cacheControl: "max-age=10", .eTag: "\"a\"", .lastModified: CacheFixtures.date(-100),
        ]
        let fresh = Fixtures.answer(Fixtures.request(fields), [Fixtures.head(head)], at: 1)
        #expect(fresh.kind == (isUnchanged ? .notModified : .serve))
        let stale = Fixtures.answer(Fixtures.request(fields), [Fixtures.head(head)], at: 11)
        #expect(stale == .forward(.stale, fallback: nil))
        // A condition is about successful responses (RFC 9110, 13.2.1).
        let missing = Fixtures.answer(Fixtures.request(fields), [Fixtures.head(head, status: 404)], at: 1)
        #expect(missing.kind == .serve)
    }

    @Test("K13: A response without validators is served whole")
    func noValidators() {
        let head = Fixtures.head([.cacheControl: "max-age=10"])
        for name in [HTTPField.Name.ifNoneMatch, .ifModifiedSince] {
            let request = Fixtures.request([name: name == .ifNoneMatch ? "\"a\"" : Fixtures.date(0)])
            #expect(Fixtures.answer(request, [head], at: 1).kind == .serve)
        }
    }

    @Test("K13: A 304 to the caller's condition freshens what has its strong tag, and nothing else")
    func callers304() {
        let stored = [Self.stored([.eTag: "W/\"a\""]), Self.stored([.eTag: "\"b\""])]
        let request = Fixtures.request([.ifNoneMatch: "\"b\", \"c\""])
        func disposition(_ fields: HTTPFields) -> CacheDisposition {
            Fixtures.disposition(Fixtures.response(304, fields), to: request, stored: stored, at: 5)
        }
        #expect(disposition([.eTag: "\"b\""]).freshened?.index == 1)
        for fields in [[.eTag: "\"c\""], [.eTag: "\"a\""], [.eTag: "W/\"a\""], [:]] as [HTTPFields] {
            #expect(disposition(fields).reason == .status(304))
        }
    }

    @Test("K10: A 304 confirms the response with its tag, or else the one whose last change was sent")
    func confirmed() {
        let modified = Fixtures.date(-100)
        func index(_ stored: [HTTPFields], _ fields: HTTPFields) -> Int? {
            let heads = stored.map { Self.stored($0) }
            let conditions = CacheRules.conditions(for: Fixtures.request(), stored: heads)
            let disposition = Fixtures.disposition(
                Fixtures.response(304, fields), conditions: conditions, stored: heads, at: 5)
            if disposition == .fetchAgain { return nil }
            return disposition.freshened?.index ?? -1
        }
        let two: [HTTPFields] = [[.eTag: "\"a\"", .lastModified: modified], [.eTag: "\"b\""]]
        #expect(index(two, [.eTag: "\"a\""]) == 0)
        #expect(index(two, [.eTag: "\"b\""]) == 1)
        // A strong tag that nothing has, a weak one that is nowhere strong, and none at all for two.
        #expect(index(two, [.eTag: "\"c\""]) == nil)
        #expect(index(two, [.eTag: "W/\"c\""]) == nil)
        #expect(index(two, [:]) == nil)
        #expect(index([[.eTag: "\"a\""]], [:]) == 0)
        #expect(index([[.eTag: "W/\"a\""]], [.eTag: "W/\"a\""]) == 0)
        #expect(index([[.eTag: "\"a\""]], [.eTag: "W/\"a\""]) == 0)
        #expect(index([[.eTag: "W/\"a\""]], [.eTag: "\"a\""]) == nil)
        #expect(index([[.eTag: "\"a\""]], [.eTag: "\"a"]) == nil)
        #expect(index([[.lastModified: modified]], [:]) == 0)
        #expect(index([[.lastModified: modified]], [.lastModified: modified]) == 0)
        #expect(index([[.lastModified: modified]], [.lastModified: Fixtures.date(-99)]) == nil)
        #expect(index([[.lastModified: modified]], [.eTag: "\"a\""]) == nil)
    }

    @Test("K10: A 304 confirms only what its validator was sent for")
    func notSent() {
        let stored = [Self.stored([.eTag: "\"new\""])]
        // Meanwhile another request has replaced what was validated.
        let disposition = Fixtures.disposition(
            Fixtures.response(304, [.eTag: "\"new\""]), conditions: [.ifNoneMatch: "\"old\""], stored: stored, at: 5)
        #expect(disposition == .fetchAgain)
        let untagged = Fixtures.disposition(
            Fixtures.response(304, [:]), conditions: [.ifNoneMatch: "\"old\""], stored: stored, at: 5)
        #expect(untagged == .fetchAgain)
        #expect(
            Fixtures.disposition(Fixtures.response(304, [:]), conditions: [.ifNoneMatch: "\"old\""]) == .fetchAgain)
    }

    @Test("K10: A 304 gives all fields but those of the body and of the connection, and freshness counts anew")
    func merging() throws {
        let names = try ["X-Content-Foo", "X-Hop", "Keep-Alive", "X-Kept", "Proxy-Connection"].map {
            try #require(HTTPField.Name($0))
        }
        var old: HTTPFields = [
            .cacheControl: "max-age=5", .eTag: "\"a\"", .contentLength: "7", .contentEncoding: "gzip",
            .contentType: "text/plain", .date: Fixtures.dateText,
        ]
        old[names[0]] = "old"
        old[names[3]] = "old"
        var confirmation: HTTPFields = [
            .cacheControl: "max-age=60", .eTag: "\"a\"", .contentLength: "0", .contentEncoding: "br",
            .contentRange: "bytes 0-0/1", .contentType: "text/html", .connection: "close, X-Hop", .age: "3",
            .transferEncoding: "chunked", .date: Fixtures.date(20),
        ]
        for name in names.prefix(3) + names.suffix(1) { confirmation[name] = "new" }
        let stored = Fixtures.head(old, isUnpacked: true)
        let freshened = try #require(
            Fixtures.disposition(
                Fixtures.response(304, confirmation), conditions: [.ifNoneMatch: "\"a\""], stored: [stored], at: 20
            ).freshened)
        var expected: HTTPFields = [
            .cacheControl: "max-age=60", .eTag: "\"a\"", .contentLength: "7", .contentEncoding: "gzip",
            .contentType: "text/html", .date: Fixtures.date(20),
        ]
        expected[names[0]] = "new"
        expected[names[3]] = "old"
        #expect(freshened.head.fields == expected)
        // The response took a second, and had been with another cache for three.
        #expect(freshened.head.age == .seconds(4) && freshened.head.moment == Fixtures.at(20))
        #expect(freshened.head.timeLeft(at: Fixtures.at(30)) == .seconds(46))
        #expect(freshened.head.status == .ok && freshened.head.isUnpacked)
    }

    @Test("A 304 without a date has the one of its arrival, so that an old date makes nothing fresh for longer")
    func undated() throws {
        let stored = Fixtures.head([.eTag: "\"a\"", .date: Fixtures.date(-3_600), .expires: Fixtures.date(-1)])
        let head = try #require(
            Fixtures.disposition(
                Fixtures.response(304, [.expires: Fixtures.date(110)]), conditions: [.ifNoneMatch: "\"a\""],
                stored: [stored], at: 100
            ).freshened?.head)
        #expect(head.lifetime == .seconds(10) && head.date == Fixtures.start + 100)
        #expect(head.fields[.date] == Fixtures.date(100))
    }

    @Test("K11: A 304 with another Vary files the response anew by what was sent")
    func filedAnew() throws {
        let stored = Self.stored([.eTag: "\"a\"", .vary: "Accept"])
        let head = try #require(
            Fixtures.disposition(
                Fixtures.response(304, [.vary: "Accept-Language"]), to: Fixtures.request([.acceptLanguage: "de"]),
                conditions: [.ifNoneMatch: "\"a\""], stored: [stored], at: 5
            ).freshened?.head)
        #expect(head.selection == Fixtures.selection([(.acceptLanguage, "de")]))
        for fields in [[.vary: "*"], [.cacheControl: "no-store, max-age=60"]] as [HTTPFields] {
            let last = try #require(
                Fixtures.disposition(
                    Fixtures.response(304, fields), conditions: [.ifNoneMatch: "\"a\""], stored: [stored], at: 5
                ).freshened?.head)
            #expect(last.requiresValidation && !last.allowsStale)
        }
    }

    @Test(
        "K20: A HEAD response with the same validators and length freshens, with others it makes stale",
        arguments: [
            ([.eTag: "\"a\""], true), ([.eTag: "\"a\"", .contentLength: "7"], true), ([.eTag: "\"b\""], false),
            ([.eTag: "\"a\"", .contentLength: "8"], false), ([.contentLength: "8"], false),
            ([.contentLength: "7"], nil),
            ([:], nil), ([.lastModified: CacheFixtures.date(-100)], true),
            ([.eTag: "\"a\"", .lastModified: CacheFixtures.date(-99)], false),
        ] as [(HTTPFields, Bool?)])
    func head(fields: HTTPFields, isConfirmed: Bool?) {
        let stored = Self.stored([.eTag: "\"a\"", .lastModified: Fixtures.date(-100), .contentLength: "7"])
        let request = Fixtures.request(method: .head)
        let confirmation = fields.merged(with: [.cacheControl: "max-age=60"]) { _ in false }
        let disposition = Fixtures.disposition(
            Fixtures.response(200, confirmation), to: request, stored: [stored], at: 5)
        switch isConfirmed {
        case true?: #expect(disposition.freshened?.head.timeLeft(at: Fixtures.at(5)) == .seconds(59))
        case false?: #expect(disposition == .makeStale(0))
        case nil: #expect(disposition.reason == .unchanged)
        }
        let missing = Fixtures.disposition(Fixtures.response(404, confirmation), to: request, stored: [stored], at: 5)
        #expect(missing.reason == .status(404))
        #expect(Fixtures.disposition(Fixtures.response(200, confirmation), to: request).reason == .method)
    }

    @Test("K20: What was made stale is stale, and stays what it was")
    func madeStale() {
        let options = CacheOptions()
        let head = Fixtures.head([.cacheControl: "max-age=60", .eTag: "\"a\""], age: 5)
        let stale = head.madeStale(options)
        #expect(head.timeLeft(at: Fixtures.at(0)) == .seconds(55) && stale.timeLeft(at: Fixtures.at(0)) == .zero)
        #expect(stale.fields == head.fields && stale.moment == head.moment)
        #expect(Fixtures.answer(Fixtures.request(), [stale], at: 0).kind == .validate)
        // Nor is it used in the times that the server allows for stale responses.
        let windows = Fixtures.head([.cacheControl: "max-age=60, stale-while-revalidate=60, stale-if-error=60"])
        #expect(Fixtures.answer(Fixtures.request(), [windows], at: 61).kind == .background)
        let outdated = windows.madeStale(options)
        #expect(outdated != windows && !outdated.allowsStale)
        #expect(Fixtures.answer(Fixtures.request(), [outdated], at: 1).kind == .forward)
        let failure = CacheTrouble.failure(.connection)
        #expect(CacheRules.mayServe(outdated, insteadOf: failure, now: Fixtures.at(1), options: options) == nil)
    }
}

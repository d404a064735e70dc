import FoundationEssentials
import Testing

@testable import EssentialsHTTP

@Suite struct CacheAnswerTests {
    typealias Fixtures = CacheFixtures

    private func head(_ directives: String, _ more: HTTPFields = [.eTag: "\"a\""]) -> StoredHead {
        Fixtures.head(more.merged(with: [.cacheControl: directives]) { _ in false })
    }

    @Test("A fresh response is served until its age is its lifetime, and then validated")
    func freshness() {
        let stored = [head("max-age=10")]
        #expect(Fixtures.answer(stored, at: 0).kind == .serve)
        #expect(
            Fixtures.answer(stored, at: 9.5)
                == .serve(0, StoredUse(age: .seconds(9.5), timeLeft: .seconds(0.5), kind: .fresh)))
        #expect(Fixtures.answer(stored, at: 10) == .validate(conditions: [.ifNoneMatch: "\"a\""], 0, fallback: 0))
        #expect(
            Fixtures.answer([Fixtures.head([.cacheControl: "max-age=10"])], at: 10) == .forward(.stale, fallback: 0))
        #expect(Fixtures.answer([head("max-age=10, no-cache")], at: 1).kind == .validate)
        #expect(Fixtures.answer([head("max-age=10, no-cache=\"set-cookie\"")], at: 1).kind == .serve)
    }

    @Test("Without a stored response the request is forwarded, and it is said why")
    func misses() {
        #expect(Fixtures.answer([]) == .forward(.uriMiss, fallback: nil))
        let other = Fixtures.head([:], selection: Fixtures.selection([(.accept, "a")]))
        #expect(Fixtures.answer([other]) == .forward(.varyMiss, fallback: nil))
        for method in [HTTPRequest.Method.post, .put, .options, .delete] {
            let answer = Fixtures.answer(Fixtures.request(method: method), [head("max-age=10")])
            #expect(answer == .forward(.method, fallback: nil))
        }
    }

    @Test("Of several that fit, the newest is served")
    func newest() {
        let old = Fixtures.head([.cacheControl: "max-age=60", .date: Fixtures.date(-5)], at: 2)
        let new = Fixtures.head([.cacheControl: "max-age=60", .date: Fixtures.date(-4)], at: 1)
        let undated = Fixtures.head([.cacheControl: "max-age=60"], at: 1)
        #expect(Fixtures.answer([old, new], at: 3).index == 1 && Fixtures.answer([new, old], at: 3).index == 0)
        #expect(Fixtures.answer([old, undated, new], at: 3).index == 1)
        let later = Fixtures.head([.cacheControl: "max-age=60", .date: Fixtures.date(-4)], at: 2)
        #expect(Fixtures.answer([new, later], at: 3).index == 1 && Fixtures.answer([later, new], at: 3).index == 0)
        let other = Fixtures.head([:], selection: Fixtures.selection([(.accept, "a")]), at: 3)
        #expect(Fixtures.answer([old, other, new], at: 3).index == 2)
    }

    @Test("K15: An unpacked body is served to a request that unpacks, and a packed one to a request that does not")
    func codings() {
        let coded: HTTPFields = [.cacheControl: "max-age=10", .contentEncoding: "gzip"]
        let (unpacked, packed) = (Fixtures.head(coded, isUnpacked: true), Fixtures.head(coded))
        let (unpacks, keeps) = (Fixtures.request(), Fixtures.request(decompresses: false))
        #expect(Fixtures.answer(unpacks, [packed, unpacked]).index == 1)
        #expect(Fixtures.answer(keeps, [packed, unpacked]).index == 0)
        #expect(Fixtures.answer(unpacks, [packed]).reason == .varyMiss)
        #expect(Fixtures.answer(keeps, [unpacked]).reason == .varyMiss)
        let plain = head("max-age=10")
        #expect(Fixtures.answer(unpacks, [plain]).index == 0 && Fixtures.answer(keeps, [plain]).index == 0)
    }

    @Test(
        "K16: A fresh whole response answers one range, unless a condition or several ranges are for the server",
        arguments: [
            ([.range: "bytes=0-1"], .part), ([.range: "bytes=0-1, 3-4"], .forward), ([.range: "lines=0-1"], .forward),
            ([.range: "bytes=1-0"], .forward), ([.range: "bytes=0-1", .ifRange: "\"a\""], .part),
            ([.range: "bytes=0-1", .ifRange: "\"b\""], .forward),
            ([.range: "bytes=0-1", .ifRange: "W/\"a\""], .forward),
            ([.range: "bytes=0-1", .ifNoneMatch: "\"a\""], .forward), ([.range: "bytes=0-1", .ifMatch: "*"], .forward),
            ([.range: "bytes=0-1", .cacheControl: "no-cache"], .forward),
            ([.range: "bytes=0-1", .cacheControl: "no-store"], .forward), ([.ifRange: "\"a\""], .forward),
        ] as [(HTTPFields, AnswerKind)])
    func ranges(fields: HTTPFields, kind: AnswerKind) {
        let request = Fixtures.request(fields)
        #expect(Fixtures.answer(request, [head("max-age=10")], at: 1).kind == kind)
        #expect(Fixtures.answer(request, [head("max-age=10")], at: 10).kind == .forward)
        let (coded, missing): (HTTPFields, HTTPFields) = (
            [.cacheControl: "max-age=10", .contentEncoding: "gzip"], [.cacheControl: "max-age=10"]
        )
        #expect(Fixtures.answer(request, [Fixtures.head(coded, isUnpacked: true)], at: 1).kind == .forward)
        #expect(Fixtures.answer(request, [Fixtures.head(missing, status: 404)], at: 1).kind == .forward)
        #expect(Fixtures.answer(Fixtures.request(fields, method: .head), [head("max-age=10")]).kind == .forward)
        #expect(Fixtures.answer(Fixtures.request(fields, policy: .bypass), [head("max-age=10")]).kind == .forward)
    }

    @Test("K16: A response with a weak tag has no validator for a part, and a date has to be a second old")
    func rangeValidators() {
        func kind(_ fields: HTTPFields, _ validator: String) -> AnswerKind {
            let request = Fixtures.request([.range: "bytes=0-", .ifRange: validator])
            return Fixtures.answer(request, [head("max-age=10", fields)], at: 1).kind
        }
        let modified = Fixtures.date(-9)
        #expect(kind([.eTag: "W/\"a\""], "W/\"a\"") == .forward)
        #expect(kind([.lastModified: modified, .date: Fixtures.dateText], modified) == .part)
        #expect(kind([.lastModified: modified, .date: modified], modified) == .forward)
        #expect(kind([.lastModified: modified], modified) == .forward)
    }

    @Test(
        "K16: A range is resolved against the length of the body",
        arguments: [
            ("bytes=0-1", 0..<2), ("bytes=0-", 0..<10), ("bytes=9-20", 9..<10), ("BYTES=-3", 7..<10),
            ("bytes=-99", 0..<10),
            ("bytes=10-", nil), ("bytes=-0", nil), ("bytes=0-9223372036854775807", 0..<10),
        ] as [(String, Range<Int64>?)])
    func resolved(text: String, range: Range<Int64>?) throws {
        #expect(try #require(ByteRange(text)).resolved(length: 10) == range)
        #expect(try #require(ByteRange(text)).resolved(length: 0) == nil)
        for malformed in [
            "", "bytes", "bytes=", "bytes=-", "bytes=a-", "bytes=2-1", "bytes=1", "bytes=+1-2", "bytes=1-2-3",
        ] {
            #expect(ByteRange(malformed) == nil, "\(malformed)")
        }
    }

    /// Directives of the request, directives of the response, seconds after it, and what is done.
    static let requestTable: [(String, String, Double, AnswerKind)] = [
        ("no-cache", "max-age=10", 1, .validate), ("NO-CACHE", "max-age=10", 1, .validate),
        ("no-store", "max-age=10", 1, .forward), ("max-age=5", "max-age=10", 5, .serve),
        ("max-age=5", "max-age=10", 6, .validate), ("max-age=0", "max-age=10", 0, .serve),
        ("max-age=0", "max-age=10", 1, .validate), ("max-age=x", "max-age=10", 1, .validate),
        ("max-age=20", "max-age=10", 15, .validate), ("min-fresh=5", "max-age=10", 5, .serve),
        ("min-fresh=5", "max-age=10", 6, .validate), ("min-fresh", "max-age=10", 1, .validate),
        ("max-stale=5", "max-age=10", 15, .stale), ("max-stale=5", "max-age=10", 16, .validate),
        ("max-stale", "max-age=10", 1_000_000, .stale), ("max-stale=x", "max-age=10", 11, .validate),
        ("max-stale, max-age=12", "max-age=10", 12, .stale), ("max-stale, max-age=12", "max-age=10", 13, .validate),
        ("max-stale", "max-age=10, must-revalidate", 11, .validate),
        ("max-stale", "max-age=10, no-cache", 1, .validate),
        ("only-if-cached", "max-age=10", 5, .serve), ("only-if-cached", "max-age=10", 11, .unavailable),
        ("only-if-cached, max-stale=5", "max-age=10", 11, .stale),
        ("only-if-cached, no-cache", "max-age=10", 5, .unavailable),
        ("only-if-cached, no-store", "max-age=10", 5, .unavailable), ("foo", "max-age=10", 1, .serve),
    ]

    @Test("K17: The directives of a request are kept to", arguments: requestTable)
    func requestDirectives(own: String, response: String, seconds: Double, kind: AnswerKind) {
        let answer = Fixtures.answer(Fixtures.request([.cacheControl: own]), [head(response)], at: seconds)
        #expect(answer.kind == kind)
    }

    @Test("K17: Pragma counts without Cache-Control, and only-if-cached without a stored response is unavailable")
    func pragma() throws {
        let pragma = try HTTPField.checked(name: "Pragma", value: "no-cache")
        #expect(Fixtures.answer(Fixtures.request(HTTPFields([pragma])), [head("max-age=10")]).kind == .validate)
        let request = Fixtures.request([.cacheControl: "only-if-cached"])
        #expect(Fixtures.answer(request, []) == .unavailable)
    }

    /// Policy, directives of the response, seconds after it, and what is done.
    static let policyTable: [(CachePolicy, String, Double, AnswerKind)] = [
        (.standard, "max-age=10", 1, .serve), (.standard, "max-age=10", 11, .validate),
        (.revalidate, "max-age=10", 1, .validate), (.revalidate, "max-age=10, immutable", 1, .serve),
        (.revalidate, "max-age=10, immutable", 10, .validate), (.reload, "max-age=10, immutable", 1, .forward),
        (.preferStored, "max-age=10", 1, .serve), (.preferStored, "max-age=10, must-revalidate", 1_000, .stale),
        (.onlyIfStored, "max-age=10", 1, .serve), (.onlyIfStored, "max-age=10", 11, .unavailable),
        (.onlyIfStored, "max-age=10, stale-while-revalidate=60", 11, .unavailable),
        (.bypass, "max-age=10", 1, .forward),
    ]

    @Test("K18: The policy of a request decides between what is stored and the server", arguments: policyTable)
    func policies(policy: CachePolicy, response: String, seconds: Double, kind: AnswerKind) {
        let request = Fixtures.request(policy: policy)
        #expect(Fixtures.answer(request, [head(response)], at: seconds).kind == kind)
        var options = CacheOptions()
        options.isOffline = true
        let offline = Fixtures.answer(request, [head(response)], at: seconds, options)
        #expect(offline.kind == .serve || offline.kind == .stale)
        #expect(Fixtures.answer(request, [], at: seconds, options) == .unavailable)
        let missing = Fixtures.answer(request, [], at: seconds)
        #expect(missing.kind == (policy == .onlyIfStored ? .unavailable : .forward))
    }

    @Test("K18: A validation on demand says max-age=0 to caches on the way, unless the caller says something")
    func cacheControl() {
        let revalidate = Fixtures.request(policy: .revalidate)
        #expect(
            Fixtures.answer(revalidate, [head("max-age=10")], at: 1)
                == .validate(conditions: [.ifNoneMatch: "\"a\"", .cacheControl: "max-age=0"], 0, fallback: nil))
        let own = Fixtures.request([.cacheControl: "no-transform"], policy: .revalidate)
        #expect(Fixtures.answer(own, [head("max-age=10")], at: 1).conditions == [.ifNoneMatch: "\"a\""])
        let all: [CachePolicy] = [.revalidate, .reload, .standard, .preferStored, .onlyIfStored, .bypass]
        #expect(all.map(\.cacheControl) == ["max-age=0", "no-cache", nil, nil, nil, nil])
        #expect(Fixtures.answer(Fixtures.request(policy: .reload), [head("max-age=10")], at: 1).reason == .request)
    }

    @Test("K5: A response of unknown age is stale, and no number of seconds allows it")
    func unknownAge() {
        let stored = [head("max-age=10, stale-while-revalidate=99999999999, stale-if-error=99999999999")]
        func answer(_ request: CacheRequest) -> CacheAnswer {
            CacheRules.answer(to: request, stored: stored, now: Fixtures.at(-5), options: CacheOptions())
        }
        #expect(answer(Fixtures.request()).kind == .validate)
        for own in ["max-age=99999999999", "max-stale=99999999999", "min-fresh=0", "max-stale, max-age=99999999999"] {
            #expect(answer(Fixtures.request([.cacheControl: own])).kind == .validate, "\(own)")
        }
        #expect(answer(Fixtures.request(policy: .preferStored)).kind == .stale)
        #expect(
            CacheRules.mayServe(
                stored[0], insteadOf: .failure(.timeout), now: Fixtures.at(-5), options: CacheOptions()) == nil)
    }

    // MARK: Stale responses

    /// The examples of RFC 5861, 3.1 and 4.1, and their neighbours: what is done at which second.
    static let windows: [(String, Double, AnswerKind)] = [
        ("max-age=600, stale-while-revalidate=30", 599, .serve),
        ("max-age=600, stale-while-revalidate=30", 600, .background),
        ("max-age=600, stale-while-revalidate=30", 630, .background),
        ("max-age=600, stale-while-revalidate=30", 631, .validate),
        ("max-age=600, stale-while-revalidate=30, must-revalidate", 601, .validate),
        ("max-age=600, stale-while-revalidate=30, no-cache", 601, .validate),
        ("max-age=600, stale-while-revalidate=0", 600, .validate),
        ("max-age=600, stale-while-revalidate=x", 600, .validate), ("max-age=600", 601, .validate),
    ]

    @Test("K19: In its window a stale response is served and validated in the background", arguments: windows)
    func staleWhileRevalidate(response: String, seconds: Double, kind: AnswerKind) {
        #expect(Fixtures.answer([head(response)], at: seconds).kind == kind)
        for request in [
            Fixtures.request(method: .head), Fixtures.request([.cacheControl: "max-age=900"]),
            Fixtures.request([.ifNoneMatch: "\"b\""]), Fixtures.request([.cacheControl: "min-fresh=0"]),
        ] {
            #expect(Fixtures.answer(request, [head(response)], at: seconds).kind != .background)
        }
    }

    @Test("K19: The owner's windows count where the server is silent")
    func windowOptions() {
        var options = CacheOptions()
        (options.staleWhileRevalidate, options.staleIfError) = (.seconds(5), .seconds(7))
        func head(_ directives: String) -> StoredHead { Fixtures.head([.cacheControl: directives], options: options) }
        #expect(Fixtures.answer([head("max-age=10")], at: 15, options).kind == .background)
        #expect(Fixtures.answer([head("max-age=10")], at: 16, options).kind == .forward)
        #expect(Fixtures.answer([head("max-age=10, stale-while-revalidate=0")], at: 11, options).kind == .forward)
        #expect(Fixtures.answer([head("max-age=10, must-revalidate")], at: 11, options).kind == .forward)
        func mayServe(_ directives: String, _ seconds: Double) -> Bool {
            CacheRules.mayServe(
                head(directives), insteadOf: .status(503), now: Fixtures.at(seconds), options: options) != nil
        }
        #expect(mayServe("max-age=10", 17) && !mayServe("max-age=10", 18))
        #expect(!mayServe("max-age=10, stale-if-error=0", 11) && mayServe("max-age=10, stale-if-error=20", 29))
    }

    @Test("K19: In its window a stale response is served in place of some failures and statuses")
    func staleIfError() {
        func use(
            _ trouble: CacheTrouble, _ seconds: Double, _ directives: String = "max-age=600, stale-if-error=1200"
        ) -> StoredUse? {
            CacheRules.mayServe(
                head(directives), insteadOf: trouble, now: Fixtures.at(seconds), options: CacheOptions())
        }
        let reasons: Set<RequestFailure.Reason> = [.connection, .nameResolution, .timeout, .interrupted, .circuitOpen]
        for reason in RequestFailure.Reason.all {
            #expect((use(.failure(reason), 900) != nil) == reasons.contains(reason), "\(reason)")
        }
        for status in 100...599 {
            #expect((use(.status(status), 900) != nil) == [500, 502, 503, 504].contains(status), "\(status)")
        }
        // RFC 5861, 4.1: after 900 seconds it is stale for 300, and after 1,801 it must not be served.
        #expect(
            use(.status(500), 900) == StoredUse(age: .seconds(900), timeLeft: .seconds(-300), kind: .staleAllowed))
        #expect(use(.status(500), 1_800) != nil && use(.status(500), 1_801) == nil)
        #expect(use(.status(500), 601, "max-age=600") == nil && use(.status(500), 599, "max-age=600") != nil)
        for directive in ["must-revalidate", "no-cache"] {
            #expect(use(.status(500), 900, "max-age=600, stale-if-error=1200, \(directive)") == nil)
        }
    }

    @Test("K19: Without any response a stored one of any age is served if the owner wants that")
    func unreachable() {
        var options = CacheOptions()
        options.staleWhenUnreachable = true
        func mayServe(_ trouble: CacheTrouble, _ directives: String) -> Bool {
            CacheRules.mayServe(
                head(directives), insteadOf: trouble, now: Fixtures.at(1_000_000), options: options) != nil
        }
        #expect(mayServe(.failure(.connection), "max-age=1") && mayServe(.failure(.interrupted), "max-age=1"))
        #expect(!mayServe(.failure(.tls), "max-age=1") && !mayServe(.status(503), "max-age=1"))
        #expect(!mayServe(.failure(.connection), "max-age=1, must-revalidate"))
        #expect(!mayServe(.failure(.connection), "no-cache"))
    }

    @Test("K19: Nothing stale is served to a request that wants the server, or that says what it accepts")
    func fallbacks() {
        func fallback(_ request: CacheRequest, _ directives: String = "max-age=10") -> Int? {
            Fixtures.answer(request, [head(directives)], at: 20).fallback
        }
        #expect(fallback(Fixtures.request()) == 0 && fallback(Fixtures.request(method: .head)) == 0)
        for policy in [CachePolicy.revalidate, .reload, .bypass] {
            #expect(fallback(Fixtures.request(policy: policy)) == nil)
        }
        for own in ["no-cache", "max-age=60", "min-fresh=1", "max-stale=1", "no-store"] {
            #expect(fallback(Fixtures.request([.cacheControl: own])) == nil, "\(own)")
        }
        #expect(fallback(Fixtures.request(), "max-age=10, must-revalidate") == nil)
    }

    @Test("K20: HEAD is served from a fresh response, and asked without conditions about a stale one")
    func head() {
        let request = Fixtures.request(method: .head)
        #expect(Fixtures.answer(request, [head("max-age=10")], at: 1).kind == .serve)
        #expect(Fixtures.answer(request, [head("max-age=10")], at: 10) == .forward(.stale, fallback: 0))
    }

    @Test("K8: Age is set, Date stays, and fields that need a validation are shown after one only")
    func servedFields() throws {
        let fields: HTTPFields = [
            .cacheControl: "max-age=10, no-cache=\"Set-Cookie, x\"", .date: Fixtures.dateText, .setCookie: "a=b",
            .age: "100",
        ]
        let head = Fixtures.head(fields, age: 3, at: 1)
        var expected = fields
        expected[.age] = "5"
        #expect(head.servedFields(at: Fixtures.at(3.5), isValidated: true) == expected)
        expected[.setCookie] = nil
        #expect(head.servedFields(at: Fixtures.at(3.5), isValidated: false) == expected)
        // The least that the age can be.
        #expect(head.servedFields(at: Fixtures.at(-9), isValidated: true)[.age] == "3")
    }
}

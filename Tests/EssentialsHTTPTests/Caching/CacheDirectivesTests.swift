import TestTools
import Testing

@testable import EssentialsHTTP

@Suite struct CacheDirectivesTests {
    private func directives(_ lines: String...) throws -> CacheDirectives {
        var fields = HTTPFields()
        for line in lines { fields.append(try HTTPField.checked(name: "Cache-Control", value: line)) }
        return CacheDirectives(of: fields)
    }

    @Test(
        "The seconds of max-age are a number without sign, and text that is none counts as zero",
        arguments: [
            ("", nil), ("public", nil), ("s-maxage=60", nil), ("max-age=60", 60), ("max-age=0", 0), ("MAX-AGE=60", 60),
            ("max-age=\"60\"", 60), ("max-age=\"6\\0\"", 60), ("max-age = 60", 60), ("max-age=060", 60),
            ("max-age", 0), ("max-age=", 0), ("max-age=\"\"", 0), ("max-age=-1", 0), ("max-age=+60", 0),
            ("max-age=1.5", 0), ("max-age='60'", 0), ("max-age=60s", 0), ("max-age=6 0", 0), ("max-age=60;", 0),
            ("max-age=\"60\"0", 0), ("max-age=\"60", 0), ("max-age=2147483648", 1 << 31),
            ("max-age=2147483649", 1 << 31), ("max-age=99999999999999999999999", 1 << 31),
        ] as [(String, Int64?)])
    func maximumAge(line: String, seconds: Int64?) throws {
        #expect(try directives(line).maximumAge == seconds)
    }

    @Test("Of several max-age the smallest counts, in one line or in several")
    func duplicates() throws {
        #expect(try directives("max-age=60, max-age=5").maximumAge == 5)
        #expect(try directives("max-age=5", "max-age=60").maximumAge == 5)
        #expect(try directives("max-age=60, max-age=60").maximumAge == 60)
        #expect(try directives("max-age=60, max-age=x").maximumAge == 0)
    }

    @Test("Directives are found among others, with any case, blanks and empty elements")
    func list() throws {
        let all = try directives(",, Private=\"Set-Cookie, X\"\t,No-Cache ,", "NO-STORE,must-revalidate,max-age=7")
        #expect(all.requiresValidation && all.forbidsStoring && all.requiresValidationWhenStale)
        #expect(all.maximumAge == 7)
        let none = try directives("no-cached, xno-store, no-storex, must-revalidate2, amax-age=1")
        #expect(none == CacheDirectives(of: [:]))
    }

    @Test("A request accepts only a stored response if the directive is there, with any case")
    func onlyStored() throws {
        #expect(try directives("max-age=5", "no-transform, Only-If-Cached").requiresStored)
        #expect(try !directives("only-if-cached2, x=\"only-if-cached\"").requiresStored)
        #expect(try !directives("no-cache").requiresStored)
    }

    @Test("The qualified no-cache counts like the plain one, and so does one with any other value")
    func qualified() throws {
        #expect(try directives("no-cache=\"Set-Cookie\"").requiresValidation)
        #expect(try directives("no-cache=Set-Cookie").requiresValidation)
        #expect(try directives("no-cache foo, no-store=x").requiresValidation)
        #expect(try directives("no-cache foo, no-store=x").forbidsStoring)
    }

    @Test("Names of a qualified no-cache are read, and a list that is malformed counts as plain")
    func validatedFields() throws {
        let qualified = try directives("no-cache=\"Set-Cookie, x-a ,,\"", "No-Cache=X-B")
        #expect(qualified.validatedFields.map(\.canonicalName) == ["set-cookie", "x-a", "x-b"])
        #expect(!qualified.requiresFullValidation && qualified.requiresValidation)
        for line in [
            "no-cache", "no-cache=", "no-cache=\"\"", "no-cache=\"a b\"", "no-cache=\"a\", no-cache", "no-cache=\"a",
        ] {
            #expect(try directives(line).requiresFullValidation, "\(line)")
        }
    }

    @Test("The directives of responses and requests are read with any case")
    func allNames() throws {
        let response = try directives(
            "Public, IMMUTABLE, must-understand, Proxy-Revalidate, S-MaxAge=5, Stale-While-Revalidate=\"6\", stale-if-error=7"
        )
        #expect(response.isPublic && response.isImmutable && response.requiresUnderstanding)
        #expect(response.requiresValidationWhenShared && !response.requiresValidationWhenStale)
        #expect(response.sharedMaximumAge == 5 && response.staleWhileRevalidate == 6 && response.staleIfError == 7)
        #expect(!response.restrictsUse)
        let request = try directives("Max-Stale=9, MIN-FRESH=10")
        #expect(request.maximumStaleness == 9 && request.minimumFreshness == 10 && request.restrictsUse)
    }

    @Test(
        "A malformed number allows nothing, and of several the stricter counts",
        arguments: [
            ("max-stale", .max, nil), ("max-stale=5", 5, nil), ("max-stale=", 0, nil), ("max-stale=x", 0, nil),
            ("max-stale x", 0, nil), ("max-stale, max-stale=5", 5, nil), ("max-stale=99999999999", 1 << 31, nil),
            ("min-fresh", nil, 1 << 31), ("min-fresh=x", nil, 1 << 31), ("min-fresh=5, min-fresh=7", nil, 7),
            ("min-fresh=5.0", nil, 1 << 31),
        ] as [(String, Int64?, Int64?)])
    func requestNumbers(line: String, staleness: Int64?, freshness: Int64?) throws {
        let read = try directives(line)
        #expect(read.maximumStaleness == staleness)
        #expect(read.minimumFreshness == freshness)
        let window = try directives("stale-while-revalidate='5', stale-if-error=5.5")
        #expect(window.staleWhileRevalidate == 0 && window.staleIfError == 0)
    }

    @Test("Pragma counts in a request without Cache-Control, and never in a response")
    func pragma() throws {
        let pragma = try HTTPField.checked(name: "Pragma", value: "x, No-Cache")
        let alone = HTTPFields([pragma])
        #expect(CacheDirectives(ofRequest: alone).requiresFullValidation)
        #expect(CacheDirectives(of: alone) == CacheDirectives())
        let both = HTTPFields([pragma, HTTPField(name: .cacheControl, value: "max-age=1")])
        #expect(!CacheDirectives(ofRequest: both).requiresValidation)
        let other = HTTPFields([try HTTPField.checked(name: "Pragma", value: "no-cached")])
        #expect(!CacheDirectives(ofRequest: other).requiresValidation)
    }

    @Test(
        "What is written in a quoted string is no directive",
        arguments: [
            "ext=\"max-age=60, no-store\"", "ext=\"a\\\", no-store, \\\"\"", "\"no-cache, max-age=60\"",
            "ext = \", no-cache,\"",
        ])
    func quoted(line: String) throws { #expect(try directives(line) == CacheDirectives(of: [:])) }

    @Test("A missing quote hides no directive after it")
    func missingQuote() throws {
        let read = try directives("ext=\"a, no-store, max-age=60")
        #expect(read.forbidsStoring && read.maximumAge == 60)
        #expect(try directives("\", no-cache").requiresValidation)
        #expect(try directives("private=\"\\\", no-store").forbidsStoring)
    }

    @Test("Any text is read like its parts between commas, and without a trap", arguments: [1, 2, 3] as [UInt64])
    func anyText(seed: UInt64) throws {
        var numbers = SeededNumbers(state: seed)
        let parts = ["max-age", "=", ",", "\"", "\\", " ", "9", "-", "no-cache", "no-store", "é", "=", "\t"]
        for _ in 0..<3_000 {
            let text = (0..<Int.random(in: 0...13, using: &numbers)).map { _ in
                parts.randomElement(using: &numbers) ?? ""
            }.joined()
            guard let field = try? HTTPField.checked(name: "Cache-Control", value: text) else { continue }
            let read = CacheDirectives(of: HTTPFields([field]))
            #expect(read.maximumAge.map { (0...1 << 31).contains($0) } ?? true, "seed \(seed): \(text)")
            // Without quotes the list is split at its commas.
            guard !text.utf8.contains(UInt8(ascii: "\"")) else { continue }
            let names = text.split(separator: ",").compactMap {
                $0.split { "= \t".contains($0) }.first.map(String.init)
            }
            let starts = text.split(separator: ",").map { $0.drop { " \t".contains($0) }.first }
            guard !starts.contains("=") else { continue }
            #expect(read.forbidsStoring == names.contains("no-store"), "seed \(seed): \(text)")
            #expect(read.requiresValidation == names.contains("no-cache"), "seed \(seed): \(text)")
            #expect((read.maximumAge != nil) == names.contains("max-age"), "seed \(seed): \(text)")
        }
    }

    @Test("A line of many quotes is read in linear time", .timeLimit(.minutes(5)))
    func manyQuotes() throws {
        let line = String(repeating: "a=\"\\", count: 200_000) + ", no-store"
        #expect(try directives(line).forbidsStoring)
        let closed = String(repeating: "a=\",\\\",", count: 200_000)
        _ = try directives(closed)
    }

    @Test("Quotation marks that never close hide no directive, and are read in linear time")
    func unclosedQuotes() throws {
        for unit in [",\\\"", "a=\"\\\",", "a=\"\\", "\"\\\\\\"] {
            let isLinear = GrowthOfTime.isLinear { size in
                let line = String(repeating: unit, count: size / unit.utf8.count)
                let fields = HTTPFields([HTTPField(name: .cacheControl, value: line)])
                return { _ = CacheDirectives(of: fields) }
            }
            #expect(isLinear, "\(unit)")
        }
        let read = try directives(String(repeating: ",\\\"", count: 80_000) + ", no-store, a=b, max-age=7")
        #expect(read.forbidsStoring && read.maximumAge == 7)
    }
}

import FoundationEssentials
import Testing

@testable import EssentialsHTTP

@Suite struct FreshnessTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT
    private let now = Date(timeIntervalSince1970: 784_111_777)

    @Test(
        "The lifetime is max-age, or else the time from Date to Expires, and zero if the server wants to be asked",
        arguments: [
            ([:], nil),
            ([.cacheControl: "public"], nil),
            ([.cacheControl: "s-maxage=60"], nil),
            ([.cacheControl: "must-revalidate"], nil),
            ([.cacheControl: "max-age=60"], 60),
            ([.cacheControl: "max-age=60, must-revalidate"], 60),
            ([.cacheControl: "max-age=60, s-maxage=5"], 60),
            ([.cacheControl: "max-age=60, no-cache"], 0),
            ([.cacheControl: "max-age=60, no-store"], 0),
            ([.cacheControl: "no-store", .expires: "Sun, 06 Nov 1994 08:50:37 GMT"], 0),
            ([.cacheControl: "max-age=x", .expires: "Sun, 06 Nov 1994 08:50:37 GMT"], 0),
            ([.expires: "0"], 0),
            ([.expires: ""], 0),
            ([.expires: "-1"], 0),
            ([.expires: "Sun, 06 Nov 1994 08:50:37 GMT"], 60),
            ([.expires: "Sunday, 06-Nov-94 08:50:37 GMT"], 60),
            ([.expires: "Sun Nov  6 08:50:37 1994"], 60),
            ([.expires: "sun, 06 nov 1994 08:50:37 gmt"], 60),
            ([.expires: "Sun, 06 Nov 94 08:50:37 GMT"], 0),
            ([.expires: "Sun 06 Nov 1994 08:50:37 GMT"], 0),
            ([.expires: "Sun, 06  Nov 1994  08:50:37 GMT"], 0),
            ([.expires: "Sun, 06-Nov-1994 08:50:37 GMT"], 0),
            ([.expires: "Sun, 06 Nov 1994 08:50:37 UTC"], 0),
            ([.expires: "Sun, 06 Nov 1994 08:50:37 GMT", .date: "Sun, 06-Nov-1994 08:50:27 GMT"], 60),
            ([.expires: "Sun, 06 Nov 1994 08:50:37 GMT", .date: "Sun, 06 Nov 1994 08:50:27 GMT"], 10),
            ([.expires: "Sun, 06 Nov 1994 08:50:37 GMT", .date: "yesterday"], 60),
            ([.expires: "Sun, 06 Nov 1994 08:49:37 GMT"], 0),
            ([.expires: "Sun, 06 Nov 1994 08:40:37 GMT"], 0),
            ([.expires: "Fri, 31 Dec 9999 23:59:59 GMT"], 1 << 31),
            ([.expires: "Fri, 31 Dec 9999 23:59:59 GMT", .date: "Mon, 01 Jan 0001 00:00:00 GMT"], 1 << 31),
            ([.expires: "Sun, 06 Nov 1994 08:50:37 GMT", .cacheControl: "max-age=1"], 1),
            ([.expires: "Sun, 06 Nov 1994 08:40:37 GMT", .cacheControl: "max-age=1"], 1),
        ] as [(HTTPFields, Int64?)])
    func lifetime(fields: HTTPFields, seconds: Int64?) {
        #expect(Freshness(of: fields, at: now).lifetime == seconds.map { .seconds($0) })
        #expect(Freshness.lifetime(of: fields, receivedAt: now) == seconds.map { .seconds($0) })
    }

    @Test("Two lines of Expires are no date, so the response is stale")
    func repeatedExpires() throws {
        var fields = HTTPFields()
        for second in [37, 38] {
            fields.append(HTTPField(name: .expires, value: "Sun, 06 Nov 1994 08:50:\(second) GMT"))
        }
        #expect(Freshness(of: fields, at: now).lifetime == .zero)
    }

    @Test(
        "The Age of a cache on the way is its first member, if that is a number",
        arguments: [
            ("20", 20), ("0", 0), ("", 0), ("-3", 0), ("+3", 0), ("1.5", 0), ("\"7\"", 0), ("7 8", 0), ("20, 30", 20),
            ("20 ,x", 20), ("x, 20", 0), (",20", 0), ("99999999999999999999999", 1 << 31),
        ])
    func ageField(text: String, seconds: Int64) {
        #expect(Freshness.ageField(of: [.age: text]) == seconds)
        #expect(Freshness(of: [.age: text], at: now).age == .seconds(seconds))
    }

    @Test("Of two Age lines the first counts")
    func repeatedAge() {
        let fields = HTTPFields([HTTPField(name: .age, value: "7"), HTTPField(name: .age, value: "9")])
        #expect(Freshness.ageField(of: fields) == 7)
        #expect(Freshness.ageField(of: [:]) == 0)
    }

    @Test("The age is the time since Date, or Age with the delay of the response, whichever is greater")
    func age() {
        func age(_ fields: HTTPFields, _ delay: Duration = .zero) -> Duration {
            Freshness(of: fields, at: now, delay: delay).age
        }
        #expect(age([:]) == .zero)
        #expect(age([:], .seconds(2)) == .seconds(2))
        #expect(age([:], .seconds(-2)) == .zero)
        #expect(age([.date: "Sun, 06 Nov 1994 08:49:30 GMT"]) == .seconds(7))
        // A server whose clock is ahead makes nothing younger.
        #expect(age([.date: "Sun, 06 Nov 1994 08:59:30 GMT"]) == .zero)
        #expect(age([.date: "Sun, 06 Nov 1994 08:49:30 GMT", .age: "5"], .seconds(1)) == .seconds(7))
        #expect(age([.date: "Sun, 06 Nov 1994 08:49:30 GMT", .age: "5"], .seconds(3)) == .seconds(8))
        #expect(age([.date: "long ago", .age: "5"]) == .seconds(5))
        #expect(age([.date: "Mon, 01 Jan 0001 00:00:00 GMT"]) == .seconds(1 << 31))
    }

    @Test("After a 304 the times are those of the 304, and the lifetime is that of the merged fields")
    func confirmation() {
        let old: HTTPFields = [
            .date: "Sun, 06 Nov 1994 07:49:37 GMT", .age: "900", .expires: "Sun, 06 Nov 1994 08:50:37 GMT",
        ]
        // Without a Date the 304 counts as sent when it arrived, so the old Date lengthens nothing.
        let confirmed = Freshness(of: old, confirmedBy: [.eTag: "\"1\""], at: now)
        #expect(confirmed.lifetime == .seconds(60))
        #expect(confirmed.age == .zero)
        var merged = old
        merged[.date] = "Sun, 06 Nov 1994 08:49:36 GMT"
        let dated = Freshness(
            of: merged, confirmedBy: [.date: "Sun, 06 Nov 1994 08:49:36 GMT", .age: "3"], at: now)
        #expect(dated.lifetime == .seconds(61))
        #expect(dated.age == .seconds(3))
    }

    @Test("A clock without a sensible date gives no trap")
    func strangeDates() {
        let fields: HTTPFields = [.date: "Sun, 06 Nov 1994 08:49:30 GMT", .expires: "Sun, 06 Nov 1994 08:50:37 GMT"]
        for date in [Date.distantPast, .distantFuture] {
            let freshness = Freshness(of: fields, at: date, delay: .seconds(1))
            #expect(freshness.lifetime == .seconds(67))
            #expect(freshness.age >= .seconds(1) && freshness.age <= .seconds(1 << 31))
        }
    }
}

import EssentialsTransport
import FoundationEssentials
import Testing

@Suite("HTTP dates")
struct HTTPDateTests {
    @Test(
        "A date is formatted and parsed to the second (RFC 9110, 5.6.7)",
        arguments: [
            (784_111_777.0, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"), (-62_135_596_800, "Mon, 01 Jan 0001 00:00:00 GMT"),
            (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ])
    func both(seconds: Double, text: String) {
        let date = Date(timeIntervalSince1970: seconds)
        #expect(HTTPDate.text(of: date) == text)
        #expect(HTTPDate.text(of: date + 0.9) == text)
        #expect(HTTPDate.date(from: text) == date)
    }

    @Test("A date beyond the years of the format becomes the nearest one")
    func ends() {
        for seconds in [1e12, 1e300, Double.infinity] {
            #expect(HTTPDate.text(of: Date(timeIntervalSince1970: seconds)) == "Fri, 31 Dec 9999 23:59:59 GMT")
            #expect(HTTPDate.text(of: Date(timeIntervalSince1970: -seconds)) == "Mon, 01 Jan 0001 00:00:00 GMT")
        }
    }

    @Test("A date in an obsolete format is parsed")
    func obsolete() {
        let date = Date(timeIntervalSince1970: 784_111_777)
        #expect(HTTPDate.date(from: "Sunday, 06-Nov-94 08:49:37 GMT") == date)
        #expect(HTTPDate.date(from: "Sun Nov  6 08:49:37 1994") == date)
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        let far = HTTPDate.date(from: "Saturday, 06-Nov-99 08:49:37 GMT", now: now)
        let near = HTTPDate.date(from: "Sunday, 06-Nov-50 08:49:37 GMT", now: now)
        #expect(far.map(HTTPDate.text(of:)) == "Sat, 06 Nov 1999 08:49:37 GMT")
        #expect(near.map(HTTPDate.text(of:)) == "Sun, 06 Nov 2050 08:49:37 GMT")
    }

    @Test(
        "A two-digit year is that of the last century if the whole timestamp is more than 50 years in the future",
        arguments: [
            ("Thursday, 31-Dec-76 23:59:59 GMT", "Fri, 31 Dec 1976 23:59:59 GMT"),
            ("Friday, 15-Jan-76 12:00:01 GMT", "Thu, 15 Jan 1976 12:00:01 GMT"),
            ("Friday, 15-Jan-76 12:00:00 GMT", "Wed, 15 Jan 2076 12:00:00 GMT"),
            ("Friday, 14-Jan-76 23:59:59 GMT", "Tue, 14 Jan 2076 23:59:59 GMT"),
            ("Friday, 31-Dec-75 23:59:59 GMT", "Tue, 31 Dec 2075 23:59:59 GMT"),
            ("Friday, 01-Jan-77 00:00:00 GMT", "Sat, 01 Jan 1977 00:00:00 GMT"),
        ])
    func century(text: String, meaning: String) throws {
        let now = try #require(HTTPDate.date(from: "Thu, 15 Jan 2026 12:00:00 GMT"))
        #expect(HTTPDate.date(from: text, now: now).map(HTTPDate.text(of:)) == meaning)
        #expect(HTTPDate.strictDate(from: text, now: now).map(HTTPDate.text(of:)) == meaning)
    }

    @Test(
        "A text in another format is not a date",
        arguments: [
            "", "now", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 31 Feb 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 19940 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT GMT", "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:4９:37 GMT",
            "Sun Nov  6 08:49:37 94", "784111777",
        ])
    func none(text: String) { #expect(HTTPDate.date(from: text) == nil) }

    @Test(
        "A strict reader accepts the three formats of RFC 9110 in any case",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "Sun Nov 06 08:49:37 1994", "sun, 06 nOV 1994 08:49:37 gmt", "SUNDAY, 06-NOV-94 08:49:37 Gmt",
            "sun nov  6 08:49:37 1994", "Mon, 06 Nov 1994 08:49:37 GMT",
        ])
    func strict(text: String) {
        let now = Date(timeIntervalSince1970: 1_000_000_000)
        #expect(HTTPDate.strictDate(from: text, now: now) == Date(timeIntervalSince1970: 784_111_777))
    }

    @Test(
        "A strict reader refuses all other texts, also those that a lenient one accepts",
        arguments: [
            ("Sun, 06 Nov 94 08:49:37 GMT", true), ("Sun 06 Nov 1994 08:49:37 GMT", true),
            ("Sun, 06  Nov 1994 08:49:37 GMT", true), ("Sun, 06 Nov 1994  08:49:37 GMT", true),
            ("Sun, 06-Nov-1994 08:49:37 GMT", true), ("Sunday, 06-Nov-1994 08:49:37 GMT", true),
            ("Sunday, 06 Nov 94 08:49:37 GMT", true), ("Sunday, 06 Nov 1994 08:49:37 GMT", true),
            ("Sun,06 Nov 1994 08:49:37 GMT", true), (" Sun, 06 Nov 1994 08:49:37 GMT", true),
            ("Xyz, 06 Nov 1994 08:49:37 GMT", true), ("Sun Nov 6 08:49:37 1994", true),
            ("Sun, Nov 06 08:49:37 1994", true), ("Sun-Nov--6-08:49:37 1994", true),
            ("Sun, 06 Nov 1994 08:49:37 UTC", false), ("Sun, 06 Nov 1994 08:49:37 +0000", false),
            ("Sun, 06 Nov 1994 8:49:37 GMT", false), ("Sun, 31 Feb 1994 08:49:37 GMT", false),
            ("Sun, 06 Nov 1994 08:49:37", false), ("Sun, 06 Nov 1994 24:49:37 GMT", false), ("0", false), ("", false),
            ("Sun", false), ("Sunday", false), ("Sunday,", false), ("Sun,", false), ("Sun ", false),
            ("Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT", false), ("Sün, 06 Nov", false),
            ("Sun, 06 N@v 1994 08:49:37 GMT", false), ("1994-11-06T08:49:37Z", false),
        ])
    func notStrict(text: String, isAcceptedElsewhere: Bool) {
        #expect(HTTPDate.strictDate(from: text) == nil)
        #expect((HTTPDate.date(from: text) != nil) == isAcceptedElsewhere)
    }

    @Test("Each day from 1890 to 2109 has its own text and is parsed as that day")
    func days() {
        var seconds = -2_524_521_600.0
        var last = HTTPDate.text(of: Date(timeIntervalSince1970: seconds))
        #expect(last == "Wed, 01 Jan 1890 00:00:00 GMT")
        for _ in 0..<80_353 {
            seconds += 86_400
            let text = HTTPDate.text(of: Date(timeIntervalSince1970: seconds))
            guard text != last, HTTPDate.date(from: text)?.timeIntervalSince1970 == seconds,
                HTTPDate.strictDate(from: text)?.timeIntervalSince1970 == seconds
            else {
                Issue.record("After \(last) comes \(text).")
                return
            }
            last = text
        }
        #expect(last == "Wed, 01 Jan 2110 00:00:00 GMT")
    }
}

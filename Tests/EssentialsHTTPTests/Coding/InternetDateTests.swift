import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsHTTP

@Suite struct InternetDateTests {
    @Test(
        "Dates are formatted in UTC to the second",
        arguments: [
            (0.0, "1970-01-01T00:00:00Z"), (1_451_606_399.75, "2015-12-31T23:59:59Z"), (-0.5, "1969-12-31T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"), (-2_203_891_200, "1900-03-01T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"), (-62_135_596_800, "0001-01-01T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"), (-12_219_292_801, "1582-10-14T23:59:59Z"),
        ])
    func writing(seconds: Double, text: String) {
        #expect(InternetDate.text(Date(timeIntervalSince1970: seconds)) == text)
        #expect(InternetDate.date(text) == Date(timeIntervalSince1970: seconds.rounded(.down)))
    }

    @Test(
        "Milliseconds are rounded",
        arguments: [
            (0.0, "1970-01-01T00:00:00.000Z"), (0.25, "1970-01-01T00:00:00.250Z"), (0.9996, "1970-01-01T00:00:01.000Z"),
            (1_451_606_399.123, "2015-12-31T23:59:59.123Z"), (-0.25, "1969-12-31T23:59:59.750Z"),
        ])
    func milliseconds(seconds: Double, text: String) {
        #expect(InternetDate.text(Date(timeIntervalSince1970: seconds), milliseconds: true) == text)
    }

    @Test(
        "A date outside the years 1 to 9999 has no text", arguments: [1e300, -1e300, .infinity, .nan, 253_402_300_800])
    func outside(seconds: Double) {
        #expect(InternetDate.text(Date(timeIntervalSince1970: seconds)) == nil)
        #expect(InternetDate.text(Date(timeIntervalSince1970: seconds), milliseconds: true) == nil)
    }

    @Test(
        "Dates are parsed with any offset and fraction",
        arguments: [
            ("2015-12-31T23:59:59.5Z", 1_451_606_399.5), ("2015-12-31t23:59:59z", 1_451_606_399),
            ("2016-01-01T00:59:59+01:00", 1_451_606_399), ("2015-12-31T18:29:59-0530", 1_451_606_399),
            ("2016-01-01 00:59:59+01", 1_451_606_399), ("2015-12-31T23:59:60Z", 1_451_606_400),
            ("1970-01-01T00:00:00,250Z", 0.25), ("0000-02-29T00:00:00Z", -62_162_121_600),
        ])
    func reading(text: String, seconds: Double) {
        #expect(InternetDate.date(text) == Date(timeIntervalSince1970: seconds))
    }

    @Test(
        "An invalid date is not parsed",
        arguments: [
            "", "2015-12-31", "2015-12-31T23:59:59", "2015-13-01T00:00:00Z", "2015-02-29T00:00:00Z",
            "2015-00-01T00:00:00Z", "2015-01-00T00:00:00Z", "2015-01-01T24:00:00Z", "2015-01-01T00:60:00Z",
            "2015-01-01T00:00:61Z", "2015-01-01T00:00:00.Z", "2015-01-01T00:00:00Zx", "2015-01-01T00:00:00+24:00",
            "2015-01-01T00:00:00+01:", "15-01-01T00:00:00Z", "+015-01-01T00:00:00Z", "２015-01-01T00:00:00Z",
            "1900-02-29T00:00:00Z",
        ])
    func malformed(text: String) {
        #expect(InternetDate.date(text) == nil)
    }

    @Test("A formatted date is parsed to the same date")
    func random() throws {
        var numbers = SeededNumbers(state: 3339)
        for _ in 0..<3000 {
            let date = Date(
                timeIntervalSince1970: Double(Int.random(in: -62_135_596_800..<253_402_300_800, using: &numbers)))
            let text = try #require(InternetDate.text(date))
            #expect(InternetDate.date(text) == date)
            // Before the calendar's reform Foundation writes dates of the Julian one; RFC 3339 has the Gregorian one
            // only.
            if date.timeIntervalSince1970 >= -12_219_292_800 { #expect(date.formatted(.iso8601) == text) }
        }
    }
}

import TestTools
import Testing

@testable import EssentialsHTTP

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite("Dates in milliseconds since 1970")
struct MillisecondsTests {
    private struct Message: Codable, Equatable {
        @MillisecondsSince1970 var sent: Date
        var edited: Date
    }

    private func codec(_ dates: JSONCodec.Dates = .iso8601) -> CodecRegistry {
        CodecRegistry().registering(JSONCodec(dates: dates), for: .any)
    }

    @Test(
        "A number of milliseconds is converted to a date and back exactly",
        arguments: [
            0, 1, -1, 999, 1000, -1001, 978_307_200_000, 1_446_337_439_250, 253_402_300_799_999, -62_135_596_800_000,
        ])
    func roundTrip(milliseconds: Int64) {
        let date = Date(millisecondsSince1970: milliseconds)
        #expect(date.millisecondsSince1970 == milliseconds)
        #expect(abs(date.timeIntervalSince1970 - Double(milliseconds) / 1000) < 0.000_1)
    }

    @Test("A random time of this century is converted to milliseconds and back exactly")
    func randomRoundTrips() {
        var numbers = SeededNumbers(state: 3)
        for _ in 0..<10_000 {
            let milliseconds = Int64.random(in: 946_684_800_000...4_102_444_800_000, using: &numbers)
            #expect(Date(millisecondsSince1970: milliseconds).millisecondsSince1970 == milliseconds)
        }
    }

    @Test("A date is rounded to the nearest millisecond, and one out of range has no number")
    func rounding() {
        #expect(Date(timeIntervalSince1970: 1.2504).millisecondsSince1970 == 1250)
        #expect(Date(timeIntervalSince1970: 1.9996).millisecondsSince1970 == 2000)
        #expect(Date(timeIntervalSince1970: -0.25).millisecondsSince1970 == -250)
        for seconds in [Double.infinity, -.infinity, .nan, 1e300, -9.3e18] {
            #expect(Date(timeIntervalSinceReferenceDate: seconds).millisecondsSince1970 == nil)
        }
        for extreme in [Int64.min, .max] { _ = Date(millisecondsSince1970: extreme).millisecondsSince1970 }
    }

    @Test("One property can be in milliseconds while the others have the codec's format")
    func property() throws {
        let message = Message(
            sent: Date(millisecondsSince1970: 1_446_337_439_250), edited: Date(timeIntervalSince1970: 0))
        let text = #"{"edited":"1970-01-01T00:00:00Z","sent":1446337439250}"#
        #expect(try codec().text(message) == text)
        #expect(try codec().decode(Message.self, text) == message)
        let odd = try codec().decode(Message.self, #"{"edited":"1970-01-01T00:00:00Z","sent":1446337439249.6}"#)
        #expect(odd == message)
    }

    @Test(
        "A value that is not a number, or is too large, fails with a message that names its place",
        arguments: [#""1""#, "true", "1e300", "null"])
    func wrong(value: String) {
        let failure = #expect(throws: RequestFailure.self) {
            try codec().decode(Message.self, #"{"edited":"1970-01-01T00:00:00Z","sent":\#(value)}"#)
        }
        #expect(failure?.reason == .decoding)
        #expect(failure?.message.contains("sent") == true)
    }

    @Test("Milliseconds are whole if all dates of a document are in milliseconds")
    func codecOfMilliseconds() throws {
        #expect(try codec(.millisecondsSince1970).text([Date(timeIntervalSince1970: 1.2504)]) == "[1250]")
        let dates = try codec(.millisecondsSince1970).decode([Date].self, "[1446337439250, 1.5e3]")
        #expect(dates == [Date(millisecondsSince1970: 1_446_337_439_250), Date(millisecondsSince1970: 1500)])
        let failure = #expect(throws: RequestFailure.self) {
            try codec(.millisecondsSince1970).text([Date(timeIntervalSince1970: .infinity)])
        }
        #expect(failure?.reason == .encoding)
    }
}

import EssentialsHTTP
import FoundationEssentials
import TestTools
import Testing

@Suite struct CookieDateTests {
    @Test(
        "Dates are read in any order and with any separators",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777.0), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("08:49:37 1994 nov 6", 784_111_777),
            ("6 NOVEMBER 1994 8:49:37", 784_111_777), ("06/Nov/1994;08:49:37", 784_111_777),
            ("trash 06th Novel 94x 8:49:37.5 PST", 784_111_777), ("Sun, 06 Nov 1994 08:49:37 +0500", 784_111_777),
            ("6 Nov 1994 0:0:0", 784_080_000), ("1 Jan 70 0:0:0", 0), ("1 Jan 69 0:0:0", 3_124_224_000),
            ("1 Jan 99 0:0:0", 915_148_800), ("29 Feb 2024 23:59:59", 1_709_251_199),
            ("31 Dec 9999 23:59:59", 253_402_300_799), ("1 Jan 1601 00:00:00", -11_644_473_600),
            // The first day-like number is the day, the next one the year.
            ("10 11 Nov 08:49:37", 1_320_914_977),
        ])
    func valid(text: String, seconds: Double) {
        #expect(CookieDate.date(from: text)?.timeIntervalSince1970 == seconds)
    }

    @Test(
        "Texts without a complete and existing date are no dates",
        arguments: [
            "", "x", "06 Nov 1994", "Nov 1994 08:49:37", "06 1994 08:49:37", "06 Nov 08:49:37", "0 Nov 1994 08:49:37",
            "32 Nov 1994 08:49:37", "31 Nov 1994 08:49:37", "29 Feb 2023 08:49:37", "06 Nov 1600 08:49:37",
            "06 Nov 100 08:49:37", "06 Nov 1994 24:00:00", "06 Nov 1994 08:60:00", "06 Nov 1994 08:49:60",
            "06 Nov 1994 08:49", "06 Nov 1994 008:49:37", "006 Nov 19944 08:49:37", "06 No 1994 08:49:37",
            "06 Nov 19941 08:49:37", "06-Nov-1994-08:49:377 08", "06 Nov 1994 24:00:00 08:49:37",
        ])
    func invalid(text: String) { #expect(CookieDate.date(from: text) == nil) }

    @Test("Random bytes never crash the reader", arguments: 1...4 as ClosedRange<UInt64>)
    func random(seed: UInt64) {
        var numbers = SeededNumbers(state: seed)
        let pieces = ["0", "9", ":", "1994", "Nov", "6", " ", "-", "08:49:37", "é", "\u{0}", "99999999999"]
        for _ in 0..<2000 {
            let text = numbers.text(of: pieces, upTo: 12)
            guard let date = CookieDate.date(from: text) else { continue }
            #expect((-11_644_473_600...253_402_300_799).contains(date.timeIntervalSince1970), "seed \(seed): \(text)")
        }
    }
}

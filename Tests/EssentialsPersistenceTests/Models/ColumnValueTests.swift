import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsPersistence

@Suite struct ColumnValueTests {
    private func same<Value: ColumnValue & Equatable>(_ value: Value, _ stored: StoredValue) {
        #expect(value.storedValue == stored)
        #expect(Value(storedValue: stored) == value)
    }

    @Test("Values of all kinds are read as they were stored")
    func roundTrips() {
        same(true, 1)
        same(Int.min, .integer(.min))
        same(Int8(-128), -128)
        same(Int16.max, 32767)
        same(Int32.min, .integer(-2_147_483_648))
        same(UInt8.max, 255)
        same(UInt16.max, 65535)
        same(UInt32.max, .integer(4_294_967_295))
        same(UInt64(Int64.max), .integer(.max))
        same(UInt(7), 7)
        same(-0.5, -0.5)
        same(Float(0.25), 0.25)
        same("é'\"%", "é'\"%")
        same([0, 255] as [UInt8], .blob([0, 255]))
        same(Data([1, 2]), .blob([1, 2]))
        same(Film.Genre.drama, "drama")
        same(Int?.none, nil)
        same(Int?.some(3), 3)
        let uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
        same(uuid, .blob(Array(1...16)))
    }

    @Test("Values that storing would change are refused")
    func refused() {
        #expect("a\u{0}b".storedValue == nil)
        #expect((UInt64(Int64.max) + 1).storedValue == nil)
        #expect(UInt.max.storedValue == nil)
        #expect(Double.nan.storedValue == nil)
        #expect(Float.nan.storedValue == nil)
        #expect(Date(timeIntervalSince1970: 1e15).storedValue == nil)
        #expect(Date(timeIntervalSince1970: .infinity).storedValue == nil)
        #expect(Optional("\u{0}").storedValue == nil)
    }

    @Test("Stored values of another kind or out of range are refused")
    func mismatches() {
        #expect(Int(storedValue: "1") == nil)
        #expect(UInt8(storedValue: 256) == nil)
        #expect(UInt32(storedValue: -1) == nil)
        #expect(UInt64(storedValue: -1) == nil)
        #expect(String(storedValue: 1) == nil)
        #expect([UInt8](storedValue: "a") == nil)
        #expect(UUID(storedValue: .blob([1])) == nil)
        #expect(Film.Genre(storedValue: "western") == nil)
        #expect(Date(storedValue: "2026-02-30 00:00:00") == nil)
        #expect(Int?(storedValue: "1") == nil)
    }

    @Test("Stored values are equal if their bytes are")
    func equality() {
        #expect(StoredValue.text("é") != .text("e\u{301}"))
        #expect(StoredValue.real(0) != .real(-0.0))
        #expect(StoredValue.real(1) != .integer(1))
        #expect(StoredValue.real(.nan) == .real(.nan))
        #expect(Set<StoredValue>([.text("é"), .text("e\u{301}"), .text("é"), .blob([1]), .null, 1]).count == 5)
    }

    @Test("The description of a stored value is its literal in SQL")
    func literals() {
        let values: [StoredValue] = [nil, 1, 1.5, "it's", .blob([1, 171])]
        #expect(values.map(\.description) == ["NULL", "1", "1.5", "'it''s'", "x'01ab'"])
    }

    @Test(
        "Dates are texts in UTC with milliseconds",
        arguments: [
            (0, "1970-01-01 00:00:00.000"), (-1, "1969-12-31 23:59:59.999"),
            (1_700_000_000_123, "2023-11-14 22:13:20.123"), (951_782_400_000, "2000-02-29 00:00:00.000"),
            (-62_167_219_200_000, "0000-01-01 00:00:00.000"), (253_402_300_799_999, "9999-12-31 23:59:59.999"),
        ] as [(Int64, String)])
    func dates(milliseconds: Int64, text: String) {
        #expect(DateText.text(milliseconds) == text)
        #expect(DateText.milliseconds(text) == milliseconds)
    }

    @Test(
        "Dates are read in the formats of SQLite's functions",
        arguments: [
            ("2023-11-14", 1_699_920_000_000), ("2023-11-14 22:13", 1_699_999_980_000),
            ("2023-11-14T22:13:20Z", 1_700_000_000_000), ("2023-11-14 22:13:20.5", 1_700_000_000_500),
            ("2023-11-14 22:13:20.123456", 1_700_000_000_123), ("2023-11-14 24:00:00", nil), ("2023-13-14", nil),
            ("2023-02-29", nil), ("2023-11-14 22:13:20.", nil), ("", nil), ("2023-11-14x", nil), ("-023-11-14", nil),
        ] as [(String, Int64?)])
    func dateFormats(text: String, milliseconds: Int64?) {
        #expect(DateText.milliseconds(text) == milliseconds)
    }

    @Test("Random dates survive being stored")
    func randomDates() {
        let seed = UInt64.random(in: .min ... .max)
        var numbers = SeededNumbers(state: seed)
        for _ in 0..<2000 {
            let time = Int64.random(in: -62_167_219_200_000...253_402_300_799_999, using: &numbers)
            #expect(DateText.text(time).flatMap(DateText.milliseconds) == time, "seed \(seed)")
        }
    }
}

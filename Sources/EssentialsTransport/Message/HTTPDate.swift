#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Formats and parses HTTP dates (RFC 9110, section 5.6.7), with a resolution of one second.
///
/// ```swift
/// HTTPDate.text(of: Date(timeIntervalSince1970: 784_111_777))       // "Sun, 06 Nov 1994 08:49:37 GMT"
/// HTTPDate.date(from: "Sunday, 06-Nov-94 08:49:37 GMT")
/// ```
public enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let secondsInDay = 86_400

    /// Formats a date in the preferred format.
    public static func text(of date: Date) -> String {
        let (day, time) = dayAndTime(of: date)
        let (year, month, dayOfMonth) = civil(day)
        let weekday = ((day + 4) % 7 + 7) % 7
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let years = String(repeating: "0", count: max(0, 4 - String(year).count)) + String(year)
        return "\(days[weekday]), \(two(dayOfMonth)) \(months[month - 1]) \(years)"
            + " \(two(time / 3600)):\(two(time / 60 % 60)):\(two(time % 60)) GMT"
    }

    /// The days since 1 January 1970 and the seconds since midnight. The formats cover the years 1 to 9999.
    private static func dayAndTime(of date: Date) -> (day: Int, time: Int) {
        let seconds = Int(min(253_402_300_799, max(-62_135_596_800, date.timeIntervalSince1970.rounded(.down))))
        let day = Int((Double(seconds) / Double(secondsInDay)).rounded(.down))
        return (day, seconds - day * secondsInDay)
    }

    /// Parses any of the three formats that servers send; `nil` for other texts. The name of the weekday is ignored.
    ///
    /// - Parameters:
    ///   - text: The field's value.
    ///   - now: Determines the century of a two-digit year: the date is at most 50 years in the future, to the second.
    public static func date(from text: String, now: Date = Date()) -> Date? {
        let words = text.split { $0 == " " || $0 == "," || $0 == "-" }
        guard words.count == 6 || words.count == 5, words.last == "GMT" || words.count == 5 else { return nil }
        // "Sun, 06 Nov 1994 08:49:37 GMT" and "Sunday, 06-Nov-94 08:49:37 GMT", or "Sun Nov  6 08:49:37 1994".
        let isAscTime = words.count == 5
        let parts = isAscTime ? [words[2], words[1], words[4], words[3]] : Array(words[1...4])
        guard let day = number(parts[0], 1...31), let month = months.firstIndex(where: { $0 == parts[1] }),
            var year = number(parts[2], 0...9999), let time = time(parts[3])
        else { return nil }
        if parts[2].utf8.count == 2, !isAscTime {
            let (today, timeNow) = dayAndTime(of: now)
            let present = civil(today)
            year += present.year / 100 * 100
            // The whole timestamp counts, and not its year alone.
            let latest = (present.year + 50, present.month, present.day, timeNow)
            if (year, month + 1, day, time) > latest { year -= 100 }
        } else if parts[2].utf8.count != 4 {
            return nil
        }
        let dayNumber = daysSince1970(year: year, month: month + 1, day: day)
        guard civil(dayNumber) == (year, month + 1, day) else { return nil }
        return Date(timeIntervalSince1970: Double(dayNumber * secondsInDay + time))
    }

    /// Parses one of the three formats that a recipient has to accept (RFC 9110, 5.6.7), character by character except
    /// for the case of letters; `nil` for other texts, which ``date(from:now:)`` may accept.
    ///
    /// A cache treats a date that it cannot be sure of as one in the past. The name of the weekday must be one, but need
    /// not be that of the date.
    ///
    /// - Parameters:
    ///   - text: The field's value.
    ///   - now: Determines the century of a two-digit year: the date is at most 50 years in the future, to the second.
    package static func strictDate(from text: String, now: Date = Date()) -> Date? {
        if let date = preferredDate(from: text) { return date }
        var bytes = text.utf8.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
        let month: Int
        if let comma = bytes.firstIndex(of: UInt8(ascii: ",")), longDays.contains(Array(bytes[..<comma])) {
            guard fits(bytes[comma...], ", 00-aaa-00 00:00:00 gmt") else { return nil }
            month = comma + 5
        } else {
            guard shortDays.contains(Array(bytes.prefix(3))), fits(bytes[3...], " aaa _0 00:00:00 0000") else {
                return nil
            }
            month = 4
        }
        bytes[month] &= 0xdf
        // The zone, or the digits of a year, which do not change.
        for index in bytes.indices.suffix(3) where bytes[index] >= 0x61 { bytes[index] &= 0xdf }
        return date(from: String(decoding: bytes, as: UTF8.self), now: now)
    }

    /// A date in the preferred format, which nearly all responses have; `nil` for other texts. It allocates nothing.
    private static func preferredDate(from text: String) -> Date? {
        var text = text
        return text.withUTF8 { bytes in
            guard bytes.count == 29,
                zip(bytes, preferredForm).allSatisfy({ byte, form in
                    form == UInt8(ascii: "0") ? byte.isASCIIDigit : form == UInt8(ascii: "a") || byte == form
                })
            else { return nil }
            func letters(_ index: Int) -> UInt32 { code(bytes[index..<(index + 3)]) }
            func number(_ index: Int) -> Int { Int(bytes[index] & 15) * 10 + Int(bytes[index + 1] & 15) }
            guard dayCodes.contains(letters(0)), letters(26) == zoneCode,
                let month = monthCodes.firstIndex(of: letters(8))
            else { return nil }
            let (day, year) = (number(5), number(12) * 100 + number(14))
            let (hour, minute, second) = (number(17), number(20), number(23))
            let dayNumber = daysSince1970(year: year, month: month + 1, day: day)
            guard hour < 24, minute < 60, second <= 60, civil(dayNumber) == (year, month + 1, day) else { return nil }
            return Date(timeIntervalSince1970: Double(dayNumber * secondsInDay + hour * 3600 + minute * 60 + second))
        }
    }

    private static let preferredForm = Array("aaa, 00 aaa 0000 00:00:00 aaa".utf8)
    private static let dayCodes = days.map { code($0.utf8) }
    private static let monthCodes = months.map { code($0.utf8) }
    private static let zoneCode = code("GMT".utf8)

    /// Three letters without their case. A byte that is no letter has the code of none.
    private static func code(_ letters: some Sequence<UInt8>) -> UInt32 {
        letters.reduce(0) { $0 << 8 | UInt32($1 | 0x20) }
    }

    private static let shortDays = days.map { Array($0.lowercased().utf8) }
    private static let longDays = [
        "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
    ].map { Array($0.utf8) }

    /// Whether a text has the form of a template: `0` is a digit, `_` a digit or a space, `a` a small letter, and all
    /// other characters are themselves.
    private static func fits(_ text: ArraySlice<UInt8>, _ template: String) -> Bool {
        guard text.count == template.utf8.count else { return false }
        return zip(text, template.utf8).allSatisfy { byte, expected in
            switch expected {
            case UInt8(ascii: "0"): byte.isASCIIDigit
            case UInt8(ascii: "_"): byte.isASCIIDigit || byte == 0x20
            case UInt8(ascii: "a"): (0x61...0x7a).contains(byte)
            default: byte == expected
            }
        }
    }

    private static func time(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        // A leap second counts as the following second.
        guard parts.map(\.utf8.count) == [2, 2, 2], let hour = number(parts[0], 0...23),
            let minute = number(parts[1], 0...59), let second = number(parts[2], 0...60)
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }

    private static func number(_ text: Substring, _ range: ClosedRange<Int>) -> Int? {
        guard text.utf8.count <= 4, text.utf8.allSatisfy(\.isASCIIDigit), let number = Int(text)
        else { return nil }
        return range.contains(number) ? number : nil
    }

    // Days are counted in eras of 400 years that begin in March, so that a leap day is the last day of a year.

    /// The number of days from 1 January 1970 to a date of the Gregorian calendar.
    package static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The date of the Gregorian calendar a number of days after 1 January 1970.
    package static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }
}

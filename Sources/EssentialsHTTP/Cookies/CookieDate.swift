#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Reads the dates of cookies (RFC 6265, section 5.1.1).
///
/// The rules accept many texts that ``HTTPDate`` refuses: the parts may have any order and almost any separators, and
/// texts between them are ignored. The time zone is ignored too; all dates are in UTC.
package enum CookieDate {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
        .map { Array($0.utf8) }

    /// The date of a text, or `nil` if the text has none.
    package static func date(from text: some StringProtocol) -> Date? {
        Array(text.utf8).withUnsafeBufferPointer { date(from: $0[...]) }
    }

    /// The date of a text, or `nil` if the text has none.
    static func date(from bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Date? {
        var time: Int?
        var (day, month, year): (Int?, Int?, Int?)
        for token in bytes.split(whereSeparator: isDelimiter) {
            // Each part is taken from the first token that fits.
            if time == nil, let found = timeOfDay(token) {
                time = found
            } else if day == nil, let found = number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = monthIndex(token) {
                month = found + 1
            } else if year == nil, let found = number(token, digits: 2...4) {
                year = found
            }
        }
        guard let time, let day, let month, var year else { return nil }
        if (70...99).contains(year) { year += 1900 } else if (0...69).contains(year) { year += 2000 }
        guard (1...31).contains(day), year >= 1601, time >= 0 else { return nil }
        let days = HTTPDate.daysSince1970(year: year, month: month, day: day)
        // Days such as 30 February do not exist.
        guard HTTPDate.civil(days) == (year, month, day) else { return nil }
        return Date(timeIntervalSince1970: Double(days * 86_400 + time))
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2f, 0x3b...0x40, 0x5b...0x60, 0x7b...0x7e: true
        default: false
        }
    }

    /// The seconds since midnight if the token begins with a time, or -1 if a part of the time is out of range.
    private static func timeOfDay(_ token: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
        var rest = token
        var parts: [Int] = []
        for index in 0..<3 {
            if index > 0 {
                guard rest.popFirst() == UInt8(ascii: ":") else { return nil }
            }
            let digits = rest.prefix(while: \.isASCIIDigit)
            guard (1...2).contains(digits.count) else { return nil }
            parts.append(value(digits))
            rest = rest[digits.endIndex...]
        }
        guard parts[0] <= 23, parts[1] <= 59, parts[2] <= 59 else { return -1 }
        return parts[0] * 3600 + parts[1] * 60 + parts[2]
    }

    /// The number at the beginning of a token, if it has an allowed number of digits. Other bytes may follow.
    private static func number(_ token: Slice<UnsafeBufferPointer<UInt8>>, digits range: ClosedRange<Int>) -> Int? {
        let digits = token.prefix(while: \.isASCIIDigit)
        return range.contains(digits.count) ? value(digits) : nil
    }

    private static func monthIndex(_ token: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
        let name = token.prefix(3).map { $0 | 0x20 }
        return name.count == 3 && token.prefix(3).allSatisfy(\.isASCIILetter)
            ? months.firstIndex { $0 == name } : nil
    }

    /// The value of at most four digits.
    private static func value(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> Int {
        digits.reduce(0) { $0 * 10 + Int($1 &- 0x30) }
    }
}

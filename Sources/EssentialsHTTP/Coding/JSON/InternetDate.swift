#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Formats and parses dates of RFC 3339, the internet profile of ISO 8601.
///
/// Dates are written in UTC. Parsing accepts any offset, a `T` or a space as the separator, and a fraction of a second,
/// which Foundation's strategy would drop.
package enum InternetDate {
    /// The years 1 to 9999 in seconds since 1970.
    private static let range = -62_135_596_800.0..<253_402_300_800.0

    /// The formatted date; `nil` outside the years 1 to 9999.
    package static func text(_ date: Date, milliseconds: Bool = false) -> String? {
        let interval = date.timeIntervalSince1970
        let rounded = milliseconds ? (interval * 1000).rounded() / 1000 : interval.rounded(.down)
        guard range.contains(rounded) else { return nil }
        let seconds = Int(rounded.rounded(.down))
        let day = (seconds >= 0 ? seconds : seconds - 86_399) / 86_400
        let time = seconds - day * 86_400
        let (year, month, dayOfMonth) = civil(day)
        var text = digits(year, 4) + "-" + digits(month, 2) + "-" + digits(dayOfMonth, 2) + "T"
        text += digits(time / 3600, 2) + ":" + digits(time / 60 % 60, 2) + ":" + digits(time % 60, 2)
        if milliseconds { text += "." + digits(Int(((rounded - Double(seconds)) * 1000).rounded()), 3) }
        return text + "Z"
    }

    /// Parses a date; `nil` if the text is not a valid date.
    package static func date(_ text: some StringProtocol) -> Date? {
        var reader = Reader(rest: Substring(text).utf8)
        return reader.date()
    }

    private static func digits(_ number: Int, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }

    /// The number of days in a month.
    fileprivate static func length(ofMonth month: Int, in year: Int) -> Int {
        switch month {
        case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The number of days from 1970-01-01 to a date. Years begin in March here, so that the leap day is the last day of
    /// a year.
    fileprivate static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = year + 400 - (month <= 2 ? 1 : 0)
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468 - 146_097
    }

    /// The date that is a number of days after 1970-01-01.
    private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
        // The estimate is at most one year too high, because a year has fewer than 366 days on average.
        var year = (days + 719_528) * 400 / 146_097 + 1
        while Self.days(year, 1, 1) > days { year -= 1 }
        var rest = days - Self.days(year, 1, 1)
        var month = 1
        while rest >= length(ofMonth: month, in: year) {
            rest -= length(ofMonth: month, in: year)
            month += 1
        }
        return (year, month, rest + 1)
    }

    private struct Reader {
        var rest: Substring.UTF8View

        mutating func date() -> Date? {
            guard let year = number(4), rest.take("-"), let month = number(2), (1...12).contains(month), rest.take("-"),
                let day = number(2), (1...InternetDate.length(ofMonth: month, in: year)).contains(day),
                rest.take("T") || rest.take("t") || rest.take(" "), let hour = number(2), hour < 24, rest.take(":"),
                let minute = number(2), minute < 60, rest.take(":"), let second = number(2), second <= 60,
                let fraction = fraction(), let offset = offset(), rest.isEmpty
            else { return nil }
            let time = hour * 3600 + minute * 60 + second - offset
            let seconds = InternetDate.days(year, month, day) * 86_400 + time
            // Counting from the reference date, as `Date` does, rounds the fraction only once.
            return Date(timeIntervalSinceReferenceDate: Double(seconds - 978_307_200) + fraction)
        }

        private mutating func fraction() -> Double? {
            guard rest.take(".") || rest.take(",") else { return 0 }
            let digits = rest.take(while: \.isASCIIDigit)
            guard !digits.isEmpty else { return nil }
            return Double("0." + String(decoding: digits.prefix(18), as: UTF8.self))
        }

        /// The offset from UTC in seconds.
        private mutating func offset() -> Int? {
            if rest.take("Z") || rest.take("z") { return 0 }
            let isBehind = rest.take("-")
            guard isBehind || rest.take("+"), let hours = number(2), hours < 24 else { return nil }
            var minutes = 0
            if rest.take(":") || !rest.isEmpty {
                guard let number = number(2), number < 60 else { return nil }
                minutes = number
            }
            return (isBehind ? -1 : 1) * (hours * 3600 + minutes * 60)
        }

        private mutating func number(_ count: Int) -> Int? {
            let digits = rest.prefix(count)
            guard digits.count == count, digits.allSatisfy(\.isASCIIDigit) else { return nil }
            rest = rest[digits.endIndex...]
            return digits.reduce(0) { $0 * 10 + Int($1) - 0x30 }
        }
    }
}

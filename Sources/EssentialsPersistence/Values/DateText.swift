/// Dates as texts in UTC, in the proleptic Gregorian calendar.
package enum DateText {
    /// The first and the last millisecond that have a year of four digits.
    private static let range: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999
    private static let millisecondsPerDay: Int64 = 86_400_000

    /// The text of a time in milliseconds since 1970; `nil` outside the years 0 to 9999.
    package static func text(_ milliseconds: Int64) -> String? {
        guard range.contains(milliseconds) else { return nil }
        var day = milliseconds / millisecondsPerDay
        var rest = milliseconds % millisecondsPerDay
        if rest < 0 {
            day -= 1
            rest += millisecondsPerDay
        }
        let date = civil(day)
        var text: [UInt8] = []
        append(date.year, 4, to: &text)
        text.append(UInt8(ascii: "-"))
        append(date.month, 2, to: &text)
        text.append(UInt8(ascii: "-"))
        append(date.day, 2, to: &text)
        text.append(UInt8(ascii: " "))
        append(rest / 3_600_000, 2, to: &text)
        text.append(UInt8(ascii: ":"))
        append(rest / 60_000 % 60, 2, to: &text)
        text.append(UInt8(ascii: ":"))
        append(rest / 1000 % 60, 2, to: &text)
        text.append(UInt8(ascii: "."))
        append(rest % 1000, 3, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// The milliseconds since 1970 of a text; `nil` if it is not a date. Digits after the third of a fraction are
    /// dropped.
    package static func milliseconds(_ text: String) -> Int64? {
        var digits = text.utf8[...]
        guard let year = number(4, &digits), skip("-", &digits), let month = number(2, &digits), skip("-", &digits),
            let day = number(2, &digits), (1...12).contains(month), (1...31).contains(day),
            civil(days(year, month, day)) == (year, month, day)
        else { return nil }
        var time: Int64 = 0
        if skip("T", &digits) || skip(" ", &digits) {
            guard let hour = number(2, &digits), skip(":", &digits), let minute = number(2, &digits), hour < 24,
                minute < 60
            else { return nil }
            time = (hour * 60 + minute) * 60_000
            if skip(":", &digits) {
                guard let second = number(2, &digits), second < 60 else { return nil }
                time += second * 1000
                if skip(".", &digits) {
                    guard let fraction = fraction(&digits) else { return nil }
                    time += fraction
                }
            }
            _ = skip("Z", &digits)
        }
        return digits.isEmpty ? days(year, month, day) * millisecondsPerDay + time : nil
    }

    private static func append(_ number: Int64, _ width: Int, to text: inout [UInt8]) {
        var divisor: Int64 = 1
        for _ in 1..<width { divisor *= 10 }
        while divisor > 0 {
            text.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
            divisor /= 10
        }
    }

    private static func digit(_ byte: UInt8?) -> Int64? {
        guard let byte, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
        return Int64(byte - UInt8(ascii: "0"))
    }

    private static func number(_ width: Int, _ text: inout Substring.UTF8View) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<width {
            guard let digit = digit(text.first) else { return nil }
            value = value * 10 + digit
            text.removeFirst()
        }
        return value
    }

    private static func fraction(_ text: inout Substring.UTF8View) -> Int64? {
        var value: Int64 = 0
        var unit: Int64 = 100
        guard digit(text.first) != nil else { return nil }
        while let digit = digit(text.first) {
            value += digit * unit
            unit /= 10
            text.removeFirst()
        }
        return value
    }

    private static func skip(_ character: Unicode.Scalar, _ text: inout Substring.UTF8View) -> Bool {
        guard text.first == UInt8(ascii: character) else { return false }
        text.removeFirst()
        return true
    }

    /// The days from 1970-01-01 to a date. Years begin in March here, so that the leap day is the last one.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = year + 400 - (month <= 2 ? 1 : 0)
        let era = shifted / 400
        let yearOfEra = shifted % 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return (era - 1) * 146_097 + dayOfEra - 719_468
    }

    /// The date of a day, counted from 1970-01-01.
    private static func civil(_ day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468 + 146_097
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + (era - 1) * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}

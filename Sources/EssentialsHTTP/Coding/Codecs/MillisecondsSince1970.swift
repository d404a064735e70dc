#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A date that a document contains as whole milliseconds since 1970, regardless of the codec's format for other dates.
///
/// ```swift
/// struct Message: Codable {
///     @MillisecondsSince1970 var sent: Date               // 1446337439250
///     var edited: Date                                    // "2015-11-01T00:23:59Z"
/// }
/// ```
///
/// Decoding accepts any number and rounds its fraction. If all dates have this format, use
/// `JSONCodec.Dates.millisecondsSince1970`.
@propertyWrapper
public struct MillisecondsSince1970: Codable, Sendable, Hashable {
    /// The date.
    public var wrappedValue: Date

    /// Wraps a date.
    public init(wrappedValue: Date) { self.wrappedValue = wrappedValue }

    /// Decodes a number.
    ///
    /// - Throws: `DecodingError` if the value is not a number or is too large.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let whole = try? container.decode(Int64.self) {
            wrappedValue = Date(millisecondsSince1970: whole)
            return
        }
        let number = try container.decode(Double.self)
        guard let whole = Int64(exactly: number.rounded()) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "The number is not a date in milliseconds since 1970.")
        }
        wrappedValue = Date(millisecondsSince1970: whole)
    }

    /// Encodes a whole number.
    ///
    /// - Throws: `EncodingError` if the date is out of range.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        guard let milliseconds = wrappedValue.millisecondsSince1970 else {
            throw EncodingError.invalidValue(
                wrappedValue.timeIntervalSince1970,
                EncodingError.Context(
                    codingPath: encoder.codingPath,
                    debugDescription: "The date is out of range for milliseconds since 1970."))
        }
        try container.encode(milliseconds)
    }
}

extension Date {
    /// Creates a date from the number of milliseconds since 1970-01-01 in UTC.
    init(millisecondsSince1970 milliseconds: Int64) {
        // Splits off whole seconds and counts from the reference date, as `Date` does, so that the fraction is rounded
        // once.
        let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        self.init(timeIntervalSinceReferenceDate: Double(seconds - 978_307_200) + Double(rest) / 1000)
    }

    /// The number of milliseconds since 1970-01-01 in UTC, rounded to the nearest; `nil` if the date is out of range.
    var millisecondsSince1970: Int64? {
        let reference = timeIntervalSinceReferenceDate
        let seconds = reference.rounded(.down)
        let limit = Int64.max / 2000
        guard let whole = Int64(exactly: seconds), (-limit...limit).contains(whole) else { return nil }
        return (whole + 978_307_200) * 1000 + Int64(((reference - seconds) * 1000).rounded())
    }
}

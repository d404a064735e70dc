public import FoundationEssentials

extension Data: ColumnValue {
    /// ``ColumnStorage/blob``.
    public static var storage: ColumnStorage { .blob }
    /// The bytes.
    public var storedValue: StoredValue? { .blob(Array(self)) }
    /// Creates the bytes.
    public init?(storedValue: StoredValue) {
        guard case .blob(let value) = storedValue else { return nil }
        self.init(value)
    }
}

extension UUID: ColumnValue {
    /// ``ColumnStorage/blob``.
    public static var storage: ColumnStorage { .blob }
    /// The 16 bytes.
    public var storedValue: StoredValue? { withUnsafeBytes(of: uuid) { .blob(Array($0)) } }
    /// Creates the UUID from 16 bytes.
    public init?(storedValue: StoredValue) {
        guard case .blob(let bytes) = storedValue, bytes.count == 16 else { return nil }
        var uuid = uuid_t(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &uuid) { $0.copyBytes(from: bytes) }
        self.init(uuid: uuid)
    }
}

/// Dates are stored as texts in UTC with milliseconds, such as `2026-11-24 17:05:00.250`, so that they sort by time and
/// SQLite's own functions understand them. Finer fractions are lost.
extension Date: ColumnValue {
    /// ``ColumnStorage/text``.
    public static var storage: ColumnStorage { .text }
    /// The text; `nil` outside the years 0 to 9999.
    public var storedValue: StoredValue? {
        let milliseconds = (timeIntervalSince1970 * 1000).rounded()
        return Int64(exactly: milliseconds).flatMap(DateText.text).map { .text($0) }
    }
    /// Creates the date from a text of SQLite's format, with or without a time, a fraction and the letters `T` and `Z`.
    public init?(storedValue: StoredValue) {
        guard case .text(let text) = storedValue, let milliseconds = DateText.milliseconds(text) else { return nil }
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}

/// Two settings of a request that cannot stand together: the error below an `invalidRequest`.
///
/// ```swift
/// catch let failure where failure.underlying is SettingConflict { report(failure.message) }
/// ```
public struct SettingConflict: Error, Sendable, Hashable, CustomStringConvertible {
    /// The setting that was there first.
    public let first: String
    /// The one that came after it.
    public let second: String

    /// Makes one from the settings' names.
    public init(_ first: String, _ second: String) {
        self.first = first
        self.second = second
    }

    /// Both names.
    public var description: String { "“\(first)” and “\(second)” exclude each other" }
}

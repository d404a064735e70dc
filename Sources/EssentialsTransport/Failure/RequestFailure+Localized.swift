#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The texts of `localizedDescription` in programs that import Foundation. They are in English.
extension RequestFailure: LocalizedError {
    /// The message.
    public var errorDescription: String? { message }
    /// The reason's stable name.
    public var failureReason: String? { reason.name }
    /// The remedy.
    public var recoverySuggestion: String? { remedy }
}

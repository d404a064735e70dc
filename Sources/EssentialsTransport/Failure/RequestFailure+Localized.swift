#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What `localizedDescription` shows in programs that import Foundation. The texts are English.
extension RequestFailure: LocalizedError {
    /// The message.
    public var errorDescription: String? { message }
    /// The reason's stable name.
    public var failureReason: String? { reason.name }
    /// The remedy.
    public var recoverySuggestion: String? { remedy }
}

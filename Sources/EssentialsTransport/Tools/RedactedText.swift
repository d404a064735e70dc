#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// What descriptions and mirrors show in place of values that may be secret.
///
/// Any field, query or body may hold credentials, so dumps show only names and sizes. To see a value, print the
/// property that has it.
package enum RedactedText {
    /// The names of fields in their order.
    package static func names(of fields: HTTPFields) -> [String] { fields.map { $0.name.rawName } }

    /// The size of bytes.
    package static func size(of bytes: Data) -> String { "\(bytes.count) bytes" }
}

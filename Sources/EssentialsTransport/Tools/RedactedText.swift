#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The text that descriptions and mirrors show in place of values that may be secret.
///
/// Any field, query or body may contain credentials, so dumps show only names and sizes. To see a
/// value, print its property.
package enum RedactedText {
    /// The names of fields in order.
    package static func names(of fields: HTTPFields) -> [String] { fields.map { $0.name.rawName } }

    /// The number of bytes.
    package static func size(of bytes: Data) -> String { size(bytes.count) }

    /// A number of bytes.
    package static func size(_ count: Int) -> String { "\(count) bytes" }
}

extension Unicode.Scalar {
    /// Whether the character is invisible in a text or changes how the text is read: control characters (C0,
    /// C1, line breaks), bidirectional and other format characters, and other default ignorable characters
    /// (Unicode, section 5.21).
    package var isInvisible: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned, .surrogate: true
        default: properties.isDefaultIgnorableCodePoint
        }
    }
}

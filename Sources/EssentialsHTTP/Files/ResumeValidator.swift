#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Proof that the server's file is still the version that a partial file belongs to: the value of `If-Range` (RFC 9110,
/// 13.1.5).
struct ResumeValidator: Sendable, Hashable {
    /// An entity tag with its quotes, or a date.
    let text: String

    /// The validator of a response; `nil` without a strong one.
    ///
    /// It is a strong entity tag. Without any entity tag it is `Last-Modified`, if `Date` is at least one second later:
    /// then the file cannot have changed again within the same second (RFC 9110, 8.8.2.2).
    init?(_ fields: HTTPFields) {
        if let tag = fields[.eTag] {
            guard tag.hasPrefix("\""), !tag.utf8.contains(where: \.isFieldControl) else { return nil }
            self.init(text: tag)
            return
        }
        guard let modified = fields[.lastModified], let date = fields[.date],
            let changedAt = Self.seconds(ofDate: modified), let answeredAt = Self.seconds(ofDate: date),
            answeredAt > changedAt
        else { return nil }
        self.init(text: modified)
    }

    /// Parses a stored validator; `nil` unless it is a strong entity tag or a date.
    init?(text: String) {
        guard Self.isStrongTag(text) || Self.seconds(ofDate: text) != nil else { return nil }
        self.text = text
    }

    /// Whether a response's fields contradict the validator. A response can omit the fields.
    func isContradicted(by fields: HTTPFields) -> Bool {
        if text.hasPrefix("\"") { return fields[.eTag].map { $0 != text } ?? false }
        return fields[.lastModified].map { $0 != text } ?? false
    }

    private static func isStrongTag(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count >= 2, bytes.first == 0x22, bytes.last == 0x22 else { return false }
        return bytes.dropFirst().dropLast().allSatisfy { $0 == 0x21 || (0x23...0x7e).contains($0) }
    }

    /// Parses a date such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7), in seconds since 1970.
    ///
    /// The two obsolete formats are not parsed: such a date is not used as a validator, and the file is downloaded
    /// again.
    static func seconds(ofDate text: String) -> Int64? {
        // Of the three formats, only this one has 29 bytes and a comma after three.
        let bytes = Array(text.utf8)
        guard bytes.count == 29, bytes[3] == 0x2c, [4, 7, 11, 16, 25].allSatisfy({ bytes[$0] == 0x20 }) else {
            return nil
        }
        return HTTPDate.date(from: text).map { Int64($0.timeIntervalSince1970) }
    }
}

/// The point at which a download can resume.
struct ResumePoint: Sendable, Hashable {
    /// The number of bytes that were received.
    let offset: Int64
    let validator: ResumeValidator
}

/// The contents of the record beside a partial file, which identifies the version of the file.
struct ResumeRecord: Sendable, Hashable {
    private static let title = "partial download 1"

    /// The URL without its query, which may contain secrets.
    let resource: String
    let validator: ResumeValidator

    init(resource: String, validator: ResumeValidator) {
        self.resource = resource
        self.validator = validator
    }

    /// Parses a record; `nil` if it is incomplete.
    init?(text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 4, lines[0] == Self.title, lines[3].isEmpty,
            let validator = ResumeValidator(text: String(lines[2]))
        else { return nil }
        resource = String(lines[1])
        self.validator = validator
    }

    var text: String { "\(Self.title)\n\(resource)\n\(validator.text)\n" }
}

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What proves that a server still has the very bytes of which a part is here: the value of `If-Range`
/// (RFC 9110, 13.1.5).
struct ResumeValidator: Sendable, Hashable {
    /// An entity tag with its quotes, or a date.
    let text: String

    /// The validator among an answer's fields, or nil when it has none that is strong.
    ///
    /// A strong entity tag; without any entity tag, `Last-Modified` if `Date` is at least a second later: the file can
    /// then not have changed again within the second that the date names (8.8.2.2).
    init?(_ fields: HTTPFields) {
        if let tag = fields[.eTag] {
            guard tag.hasPrefix("\"") else { return nil }
            self.init(text: tag)
            return
        }
        guard let modified = fields[.lastModified], let date = fields[.date],
            let changedAt = Self.seconds(ofDate: modified), let answeredAt = Self.seconds(ofDate: date),
            answeredAt > changedAt
        else { return nil }
        self.init(text: modified)
    }

    /// Reads what was kept; nil unless it is a strong entity tag or a date.
    init?(text: String) {
        guard Self.isStrongTag(text) || Self.seconds(ofDate: text) != nil else { return nil }
        self.text = text
    }

    /// Whether an answer's fields contradict it. An answer may leave them out.
    func isContradicted(by fields: HTTPFields) -> Bool {
        if text.hasPrefix("\"") { return fields[.eTag].map { $0 != text } ?? false }
        return fields[.lastModified].map { $0 != text } ?? false
    }

    private static func isStrongTag(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count >= 2, bytes.first == 0x22, bytes.last == 0x22 else { return false }
        return bytes.dropFirst().dropLast().allSatisfy { $0 == 0x21 || (0x23...0x7e).contains($0) }
    }

    /// The seconds since 1970 of a date such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7).
    ///
    /// The two obsolete forms are not read: such a date makes no validator, and the file is loaded anew.
    static func seconds(ofDate text: String) -> Int64? {
        // Of the three forms only this one is 29 bytes long, with a comma after three.
        let bytes = Array(text.utf8)
        guard bytes.count == 29, bytes[3] == 0x2c, [4, 7, 11, 16, 25].allSatisfy({ bytes[$0] == 0x20 }) else {
            return nil
        }
        return HTTPDate.date(from: text).map { Int64($0.timeIntervalSince1970) }
    }
}

/// Where a download can go on.
struct ResumePoint: Sendable, Hashable {
    /// How many bytes are here.
    let offset: Int64
    let validator: ResumeValidator
}

/// What is kept beside a partial file: whose bytes they are.
struct ResumeRecord: Sendable, Hashable {
    private static let title = "partial download 1"

    /// The URL without its query, which may hold secrets.
    let resource: String
    let validator: ResumeValidator

    init(resource: String, validator: ResumeValidator) {
        self.resource = resource
        self.validator = validator
    }

    /// Reads a record; nil for anything that was not written whole.
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

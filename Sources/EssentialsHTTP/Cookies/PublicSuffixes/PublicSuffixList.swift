#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The rules of a public suffix list file (publicsuffix.org/list).
///
/// A rule is a domain, all names directly below a domain (`*.ck`), or an exception (`!www.ck`). A domain with one label
/// is a suffix even if no rule mentions it.
final class PublicSuffixList: Sendable {
    private struct Kinds: OptionSet {
        let rawValue: UInt8
        static let suffix = Kinds(rawValue: 1)
        static let wildcard = Kinds(rawValue: 2)
        static let exception = Kinds(rawValue: 4)
    }

    static let maximumSize = 4 << 20
    static let maximumLines = 100_000
    /// The maximum length of a domain name.
    static let maximumRule = 253

    private let kinds: [String: Kinds]
    /// The number of rules.
    let count: Int

    /// - Throws: `file` if the file cannot be read, exceeds a limit, or contains no rule.
    convenience init(path: String) throws(RequestFailure) {
        let bytes = try SmallFile.read(
            path, upTo: Self.maximumSize, for: "a public suffix list", tooLong: .file)
        try self.init(bytes, from: path)
    }

    init(_ bytes: Data, from path: String) throws(RequestFailure) {
        var kinds: [String: Kinds] = [:]
        kinds.reserveCapacity(bytes.count / 20)
        var (count, lineCount) = (0, 0)
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            lineCount += 1
            guard lineCount <= Self.maximumLines else {
                throw RequestFailure(
                    .file, "“\(RequestFailure.shownPath(path))” has more than \(Self.maximumLines) lines.",
                    remedy: "Check that it is a public suffix list.")
            }
            guard let (name, kind) = Self.rule(line) else { continue }
            kinds[name, default: []].insert(kind)
            count += 1
        }
        guard count > 0 else {
            throw RequestFailure(
                .file, "“\(RequestFailure.shownPath(path))” contains no rule, so it is not a public suffix list.",
                remedy: "Install the package publicsuffix, or correct the path.")
        }
        self.kinds = kinds
        self.count = count
    }

    /// Whether a domain, in lower case and in ASCII, is a public suffix.
    func isPublicSuffix(_ domain: String) -> Bool {
        let own = kinds[domain] ?? []
        if own.contains(.exception) { return false }
        // A wildcard makes its own domain a suffix too, as in libpsl.
        if !own.isEmpty { return true }
        guard let dot = domain.utf8.firstIndex(of: UInt8(ascii: ".")) else { return true }
        let parent = String(domain[domain.utf8.index(after: dot)...])
        return kinds[parent]?.contains(.wildcard) ?? false
    }

    /// The domain and the kind of a rule; `nil` for comments, empty lines and lines that are not rules.
    private static func rule(_ line: Data) -> (String, Kinds)? {
        // A rule ends at the first white space.
        var rest = line.prefix { $0 > 0x20 }
        guard !rest.isEmpty, !rest.starts(with: "//".utf8) else { return nil }
        var kind = Kinds.suffix
        if rest.first == UInt8(ascii: "!") {
            kind = .exception
            rest = rest.dropFirst()
        } else if rest.starts(with: "*.".utf8) {
            kind = .wildcard
            rest = rest.dropFirst(2)
        }
        guard rest.count <= maximumRule, let text = String(validating: rest, as: UTF8.self),
            let name = asciiName(text)
        else { return nil }
        return (name, kind)
    }

    /// A domain with all labels in ASCII; `nil` if a label is empty, too long, or contains an asterisk.
    private static func asciiName(_ text: String) -> String? {
        var labels: [String] = []
        for label in text.lowercased().split(separator: ".", omittingEmptySubsequences: false) {
            guard let ascii = Punycode.asciiLabel(label), (1...63).contains(ascii.utf8.count),
                !ascii.utf8.contains(UInt8(ascii: "*"))
            else { return nil }
            labels.append(ascii)
        }
        return labels.joined(separator: ".")
    }
}

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A PEM text whose block structure is validated (RFC 7468). The contents are parsed when a transport is created.
public struct PEM: Sendable, Hashable {
    /// The text.
    public let text: String

    /// Creates a PEM from a text.
    ///
    /// - Throws: `invalidPolicy` if the text contains no block or an unterminated one.
    public init(_ text: String) throws(RequestFailure) {
        try self.init(text, source: "The PEM text")
    }

    /// Reads a file.
    ///
    /// - Throws: `file` if the file cannot be read, `invalidPolicy` if it contains no PEM block or
    ///   is larger than 16 MiB.
    public init(contentsOfFile path: String) throws(RequestFailure) {
        let data = try SmallFile.read(path, upTo: Self.maximumFileSize, for: "certificates")
        try self.init(String(decoding: data, as: UTF8.self), source: "“\(path)”")
    }

    /// The labels of the blocks in order, such as `CERTIFICATE` and `PRIVATE KEY`.
    public var labels: [String] {
        Self.lines(of: text).compactMap { Self.label(of: $0, mark: "BEGIN") }
    }

    /// Whether the text contains an encrypted private key: PKCS #8, or the older form with `Proc-Type:
    /// 4,ENCRYPTED` (RFC 1421).
    public var isEncrypted: Bool {
        keyLabel == "ENCRYPTED PRIVATE KEY" || keyLabel != nil && text.contains("Proc-Type: 4,ENCRYPTED")
    }

    /// The label of the first private key.
    var keyLabel: String? { labels.first { $0.hasSuffix("PRIVATE KEY") } }

    private static let maximumFileSize = 16 << 20

    private init(_ text: String, source: String) throws(RequestFailure) {
        var open: String?
        var blocks = 0
        for line in Self.lines(of: text) {
            if let label = Self.label(of: line, mark: "BEGIN") {
                if let open { throw Self.damaged(source, "no END of \(open)") }
                open = label
            } else if let label = Self.label(of: line, mark: "END") {
                guard open == label else { throw Self.damaged(source, "an END of \(label) without its BEGIN") }
                open = nil
                blocks += 1
            }
        }
        if let open { throw Self.damaged(source, "no END of \(open)") }
        guard blocks > 0 else {
            throw RequestFailure(
                .invalidPolicy, "\(source) contains no PEM block.",
                remedy: "It must contain lines from -----BEGIN CERTIFICATE----- to -----END CERTIFICATE-----.")
        }
        self.text = text
    }

    /// The lines, split by bytes like in OpenSSL, so that a combining mark at the start or end of a line has no effect.
    private static func lines(of text: String) -> [Substring.UTF8View] {
        text[...].utf8.split { $0 == 0x0a || $0 == 0x0d }
    }

    private static func label(of line: Substring.UTF8View, mark: String) -> String? {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0d).contains($0) }
        var trimmed = line.drop(while: isSpace)
        while let last = trimmed.last, isSpace(last) { trimmed.removeLast() }
        let (beginning, end) = ("-----\(mark) ".utf8, "-----".utf8)
        guard trimmed.starts(with: beginning), trimmed.suffix(end.count).elementsEqual(end),
            trimmed.count > beginning.count + end.count
        else { return nil }
        return String(Substring(trimmed.dropFirst(beginning.count).dropLast(end.count)))
    }

    private static func damaged(_ source: String, _ what: String) -> RequestFailure {
        RequestFailure(
            .invalidPolicy, "\(source) is damaged: it has \(what).", remedy: "Copy the whole file again.")
    }
}

extension PEM: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The labels of the blocks, without their contents, which may be a private key.
    public var description: String { "PEM (\(labels.joined(separator: ", ")))" }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// The labels.
    public var customMirror: Mirror { Mirror(self, children: ["labels": labels]) }
}

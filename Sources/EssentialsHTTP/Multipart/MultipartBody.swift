#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A body of several parts: form fields, bytes, files and streams (RFC 2046, 5.1; RFC 7578).
///
/// ```swift
/// var form = try MultipartBody()
/// try form.append(.field("title", "Summer"))
/// try form.append(.file("/srv/films/1.mp4", name: "film"))
///
/// var request = TransportRequest(.post, try RequestURL("https://example.com/films"))
/// request.headerFields[.contentType] = form.contentType
/// request.body = .multipart(form)
/// ```
///
/// Before each part stands `--boundary` on a line of its own, and after the last one `--boundary--` without a line break
/// behind it. A body without any part is `--boundary--` alone: it is what browsers send for an empty form, and servers
/// read it as one, although RFC 2046 asks for a part.
public struct MultipartBody: Sendable {
    /// What the parts are to each other.
    public enum Subtype: String, Sendable, Hashable {
        /// The fields of a form (RFC 7578). Each part needs a name.
        case formData = "form-data"
        /// Things of their own, in this order (RFC 2046, 5.1.3).
        case mixed
        /// One thing whose first part refers to the others (RFC 2387). The content type names the first part's type.
        case related
    }

    /// A part whose head is written.
    struct Entry: Sendable {
        /// The delimiter, the header lines and the empty line.
        let head: Data
        let content: RequestBody
        let length: Int?
        /// What failures call it.
        let shown: String
    }

    /// The most parts that a body takes. Many servers take fewer, often 1000.
    public static let maximumParts = 10_000
    /// The most bytes that the header lines of one part may have.
    public static let maximumHeadBytes = 16 << 10

    /// What the parts are to each other.
    public let subtype: Subtype
    private let delimiter: MultipartBoundary
    private(set) var entries: [Entry] = []
    /// The bytes that are known, without the end.
    private var knownLength = 0
    private var rootType: String?

    /// Makes a body without parts.
    ///
    /// - Parameters:
    ///   - subtype: What the parts are to each other.
    ///   - boundary: What parts them; 32 random letters and digits when nil. One of your own is looked for in fields,
    ///     data and header lines when they are appended, but not in files and streams, where it must not begin a line.
    /// - Throws: `invalidRequest` when the boundary is not 1 to 70 of the characters that RFC 2046, 5.1.1, allows, or
    ///   ends with a space.
    public init(subtype: Subtype = .formData, boundary: String? = nil) throws(RequestFailure) {
        self.subtype = subtype
        delimiter = if let boundary { try MultipartBoundary(boundary) } else { MultipartBoundary.random() }
    }

    /// What parts the parts.
    public var boundary: String { delimiter.text }

    /// The value for the request's `Content-Type`. For `related` it is complete when the first part is there.
    public var contentType: String {
        let type = "multipart/\(subtype.rawValue); boundary=\(delimiter.parameter)"
        guard subtype == .related, let rootType else { return type }
        return type + "; type=" + MultipartHeadRules.quoted(rootType)
    }

    /// The exact number of bytes, or nil when a stream's length is not known.
    public var contentLength: Int? {
        entries.allSatisfy { $0.length != nil } ? knownLength + end.count : nil
    }

    /// Whether the same bytes can be sent a second time: whether no part is a stream.
    public var isReplayable: Bool { entries.allSatisfy(\.content.isReplayable) }

    /// What follows the last part.
    var end: Data { Data(((entries.isEmpty ? "--" : "\r\n--") + boundary + "--").utf8) }

    /// Adds a part behind the others.
    ///
    /// - Throws: `invalidRequest` when a form's part has no name, an extra field is one that the part writes itself, or
    ///   a boundary of your own begins a line of the part; `tooLarge` over ``maximumParts`` or ``maximumHeadBytes``, or
    ///   when the length of the whole would not fit into an `Int`. The body then stays as it was.
    public mutating func append(_ part: MultipartPart) throws(RequestFailure) {
        guard entries.count < Self.maximumParts else {
            throw RequestFailure(
                .tooLarge, "A multipart body takes \(Self.maximumParts) parts.",
                remedy: "Send them in several requests, or as one file.")
        }
        let lines = try MultipartHeadRules.lines(of: part, in: subtype)
        guard lines.count <= Self.maximumHeadBytes else {
            throw RequestFailure(
                .tooLarge, "The header lines of the \(part.shown) have \(lines.count) bytes.",
                remedy: "Shorten its name, file name or fields to \(Self.maximumHeadBytes) bytes altogether.")
        }
        try checkBoundary(in: part, lines)
        let head = Data(((entries.isEmpty ? "--" : "\r\n--") + boundary + "\r\n").utf8) + lines + Data("\r\n".utf8)
        let (withHead, headOverflows) = knownLength.addingReportingOverflow(head.count)
        let (length, overflows) = withHead.addingReportingOverflow(part.length ?? 0)
        // The end is not longer than any head is.
        guard !headOverflows, !overflows, length <= .max - head.count else {
            throw RequestFailure(
                .tooLarge, "With the \(part.shown) the body would have more bytes than can be counted.",
                remedy: "Check the lengths of the streams.")
        }
        if entries.isEmpty { rootType = MultipartHeadRules.withoutParameters(part.type) }
        knownLength = length
        entries.append(Entry(head: head, content: part.content, length: part.length, shown: part.shown))
    }

    /// A random boundary is in nothing that was not made with it; one that is known beforehand may be.
    private func checkBoundary(in part: MultipartPart, _ lines: Data) throws(RequestFailure) {
        guard !delimiter.isRandom else { return }
        var isFound = delimiter.beginsLine(of: lines)
        if case .bytes(let data) = part.content.content, !isFound { isFound = delimiter.beginsLine(of: data) }
        guard !isFound else {
            throw RequestFailure(
                .invalidRequest, "A line of the \(part.shown) begins with the boundary.",
                remedy: "Choose another boundary, or give none for a random one.")
        }
    }
}

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
/// Each part follows a line `--boundary`. The last part is followed by `--boundary--` without a line break. A body
/// without parts is `--boundary--` alone. Browsers send this for an empty form and servers accept it, although RFC 2046
/// requires a part.
public struct MultipartBody: Sendable {
    /// The relation between the parts.
    public enum Subtype: String, Sendable, Hashable {
        /// The fields of a form (RFC 7578). Each part needs a name.
        case formData = "form-data"
        /// Independent parts in order (RFC 2046, 5.1.3).
        case mixed
        /// A compound object whose first part refers to the others (RFC 2387). The content type includes the type of
        /// the first part.
        case related
    }

    /// A part whose header is encoded.
    struct Entry: Sendable {
        /// The delimiter, the header lines and the empty line.
        let head: Data
        let content: RequestBody
        let length: Int?
        /// The name of the part in failures.
        let shown: String
    }

    /// The maximum number of parts. Many servers accept fewer, often 1000.
    public static let maximumParts = 10_000
    /// The maximum number of bytes in the header lines of one part.
    public static let maximumHeadBytes = 16 << 10

    /// The relation between the parts.
    public let subtype: Subtype
    private let delimiter: MultipartBoundary
    private(set) var entries: [Entry] = []
    /// The number of bytes of all parts whose length is known, without the closing delimiter.
    private var knownLength = 0
    private var rootType: String?

    /// Creates a body without parts.
    ///
    /// - Parameters:
    ///   - subtype: The relation between the parts.
    ///   - boundary: The boundary. The default, `nil`, is 32 random letters and digits. If you give a boundary, each
    ///     appended field, data and header is checked for it, but files and streams are not: none of their lines may
    ///     begin with it.
    /// - Throws: `invalidRequest` if the boundary does not consist of 1 to 70 of the characters that RFC 2046, 5.1.1
    ///   allows, or ends with a space.
    public init(subtype: Subtype = .formData, boundary: String? = nil) throws(RequestFailure) {
        self.subtype = subtype
        delimiter = if let boundary { try MultipartBoundary(boundary) } else { MultipartBoundary.random() }
    }

    /// The text that separates the parts.
    public var boundary: String { delimiter.text }

    /// The value for the request's `Content-Type`. For `related` it is complete only after the first part was appended.
    public var contentType: String {
        let type = "multipart/\(subtype.rawValue); boundary=\(delimiter.parameter)"
        guard subtype == .related, let rootType else { return type }
        return type + "; type=" + MultipartHeadRules.quoted(rootType)
    }

    /// The exact length in bytes; `nil` if the length of a stream is not known.
    public var contentLength: Int? {
        entries.allSatisfy { $0.length != nil } ? knownLength + end.count : nil
    }

    /// Whether the body can be sent again, because no part is a stream.
    public var isReplayable: Bool { entries.allSatisfy(\.content.isReplayable) }

    /// The closing delimiter.
    var end: Data { Data(((entries.isEmpty ? "--" : "\r\n--") + boundary + "--").utf8) }

    /// Appends a part.
    ///
    /// - Throws: `invalidRequest` if a part of a form has no name, if an extra field is one that the part writes
    ///   itself, or if a line of the part begins with the given boundary; `tooLarge` above ``maximumParts`` or
    ///   ``maximumHeadBytes``, or if the total length overflows `Int`. On failure the body is unchanged.
    public mutating func append(_ part: MultipartPart) throws(RequestFailure) {
        guard entries.count < Self.maximumParts else {
            throw RequestFailure(
                .tooLarge, "A multipart body has at most \(Self.maximumParts) parts.",
                remedy: "Send them in several requests, or as one file.")
        }
        let lines = try MultipartHeadRules.lines(of: part, in: subtype)
        guard lines.count <= Self.maximumHeadBytes else {
            throw RequestFailure(
                .tooLarge, "The header lines of the \(part.shown) have \(lines.count) bytes, which is too long.",
                remedy: "Shorten its name, file name or fields to \(Self.maximumHeadBytes) bytes in total.")
        }
        try checkBoundary(in: part, lines)
        let head = Data(((entries.isEmpty ? "--" : "\r\n--") + boundary + "\r\n").utf8) + lines + Data("\r\n".utf8)
        let (withHead, headOverflows) = knownLength.addingReportingOverflow(head.count)
        let (length, overflows) = withHead.addingReportingOverflow(part.length ?? 0)
        // The closing delimiter is not longer than any header.
        guard !headOverflows, !overflows, length <= .max - head.count else {
            throw RequestFailure(
                .tooLarge, "With the \(part.shown) the length of the body would overflow.",
                remedy: "Check the lengths of the streams.")
        }
        if entries.isEmpty { rootType = MultipartHeadRules.withoutParameters(part.type) }
        knownLength = length
        entries.append(Entry(head: head, content: part.content, length: part.length, shown: part.shown))
    }

    /// A random boundary cannot occur in a part by chance, but a known one can.
    private func checkBoundary(in part: MultipartPart, _ lines: Data) throws(RequestFailure) {
        guard !delimiter.isRandom else { return }
        var isFound = delimiter.beginsLine(of: lines)
        if case .bytes(let data) = part.content.content, !isFound { isFound = delimiter.beginsLine(of: data) }
        guard !isFound else {
            throw RequestFailure(
                .invalidRequest, "A line of the \(part.shown) begins with the boundary.",
                remedy: "Choose another boundary, or omit it to use a random one.")
        }
    }
}

extension RequestBody {
    /// Creates a body from several parts, which are read while they are sent. About three chunks of a file are in
    /// memory, 1.5 MiB, in addition to the parts that were created from memory.
    ///
    /// Set the request's `Content-Type` to the body's ``MultipartBody/contentType``. The body can be sent again unless
    /// a part is a stream. Each attempt begins with the first part and opens every file again. If a file has changed
    /// since it was appended, the request fails with `file`.
    ///
    /// ```swift
    /// request.headerFields[.contentType] = form.contentType
    /// request.body = .multipart(form)
    /// ```
    public static func multipart(_ body: MultipartBody) -> RequestBody {
        RequestBody(
            content: .stream(length: body.contentLength, isReplayable: body.isReplayable) {
                let reader = MultipartReader(body)
                return { try await reader.next() }
            })
    }
}

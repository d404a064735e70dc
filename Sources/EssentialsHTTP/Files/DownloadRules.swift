/// Decides what a response means for a download. It is a pure function of status and fields.
package enum DownloadRules {
    /// What to do with a response.
    enum Outcome: Sendable, Hashable {
        /// The body is the whole file, with this length if it is known.
        case whole(length: Int64?)
        /// The body is this many bytes, beginning at the resume point. The whole file has `total` bytes, if that is
        /// known.
        case rest(length: Int64, total: Int64?)
        /// The file is already complete.
        case complete
        /// The partial file cannot be used: request the whole file.
        case startAgain
        /// The server has the file only with a content coding: request the whole file so that it is decoded.
        case coded
        /// There is no body to save (204, 205, and an expected 304).
        case empty
        /// The status is not a success.
        case refused
        /// The server violated the protocol. The text completes the sentence “The server …”.
        case violation(String)
    }

    /// Judges the head of a response.
    ///
    /// - Parameters:
    ///   - status: The status code.
    ///   - fields: The header fields.
    ///   - resumes: Whether the bytes must be those of the server, without a content coding.
    ///   - point: The point at which the request resumes; `nil` if it requests the whole file.
    ///   - isExpected: Whether a status is a success. The default is every one from 200 to 299 except 206.
    static func read(
        status: Int, fields: HTTPFields, resumes: Bool, point: ResumePoint?,
        isExpected: (Int) -> Bool = { (200..<300).contains($0) && $0 != 206 }
    ) -> Outcome {
        if let point {
            if status == 206 { return readRest(fields, from: point) }
            if status == 416 { return readUnsatisfied(fields, from: point) }
        }
        // A part of the file would be saved as the whole.
        if resumes, status == 206 { return .refused }
        if status == 204 || status == 205 { return .empty }
        guard isExpected(status) else { return .refused }
        if status == 304 { return .empty }
        // The field has no meaning here (RFC 9110, 14.4), so it is not known what the body is.
        if point != nil, fields.contains(.contentRange) {
            return .violation("sent the whole file with a Content-Range")
        }
        return resumes && hasCoding(fields) ? .coded : .whole(length: decodedLength(fields))
    }

    private static func readRest(_ fields: HTTPFields, from point: ResumePoint) -> Outcome {
        guard let value = fields[.contentRange], let range = ContentRange(value), let bytes = range.bytes else {
            return .violation("sent a partial response without a valid Content-Range")
        }
        guard bytes.lowerBound == point.offset else {
            return .violation(
                "sent the bytes from \(bytes.lowerBound) instead of those from \(point.offset)")
        }
        // This cannot overflow: the lower end is at least 0, and the upper end is less than the maximum.
        let count = bytes.upperBound - bytes.lowerBound + 1
        guard length(fields) ?? count == count else {
            return .violation("sent a partial response whose length does not match its Content-Range")
        }
        guard !point.validator.isContradicted(by: fields) else {
            return .violation("sent a part of another version of the file")
        }
        guard !hasCoding(fields) else { return .violation("compressed a partial response") }
        return .rest(length: count, total: range.total)
    }

    private static func readUnsatisfied(_ fields: HTTPFields, from point: ResumePoint) -> Outcome {
        guard let value = fields[.contentRange], let range = ContentRange(value), range.bytes == nil,
            range.total == point.offset, !point.validator.isContradicted(by: fields)
        else { return .startAgain }
        return .complete
    }

    /// The length of a body after decompression, if the header fields say it.
    package static func decodedLength(_ fields: HTTPFields) -> Int64? {
        // The field has the number of the encoded bytes.
        hasCoding(fields) ? nil : length(fields)
    }

    private static func length(_ fields: HTTPFields) -> Int64? { fields[.contentLength].flatMap(ContentRange.number) }

    private static func hasCoding(_ fields: HTTPFields) -> Bool {
        guard let coding = fields[.contentEncoding] else { return false }
        return !coding.isEmpty && coding.lowercased() != "identity"
    }
}

/// What an answer means to a download. Pure: fields in, decision out.
enum DownloadRules {
    /// What to do with an answer.
    enum Answer: Sendable, Hashable {
        /// The body is the whole file, of this length if that is known.
        case whole(length: Int64?)
        /// The body is this many bytes from the resume point on; the file then has `total`, if that is known.
        case rest(length: Int64, total: Int64?)
        /// Nothing is missing.
        case complete
        /// What is here is of no use: ask for the whole.
        case startAgain
        /// There is nothing to be saved (204, 205).
        case empty
        /// No success.
        case refused
        /// The server broke a rule, in words.
        case violation(String)
    }

    /// Reads an answer's head.
    ///
    /// - Parameters:
    ///   - resumes: Whether the bytes are wanted as they are, without a coding undone on the way.
    ///   - point: Where the request asked to go on, or nil when it asked for the whole.
    static func read(status: Int, fields: HTTPFields, resumes: Bool, point: ResumePoint?) -> Answer {
        if let point {
            if status == 206 { return readRest(fields, from: point) }
            if status == 416 { return readUnsatisfied(fields, from: point) }
        }
        switch status {
        case 204, 205: return .empty
        case 206: return .refused
        case 200..<300: break
        default: return .refused
        }
        guard hasCoding(fields) else { return .whole(length: length(fields)) }
        // The length is that of the coded bytes.
        return resumes ? .violation("sent the file compressed although it was asked not to") : .whole(length: nil)
    }

    private static func readRest(_ fields: HTTPFields, from point: ResumePoint) -> Answer {
        guard let value = fields[.contentRange], let range = ContentRange(value), let bytes = range.bytes else {
            return .violation("sent a part without saying which bytes it is")
        }
        guard bytes.lowerBound == point.offset else {
            return .violation(
                "sent the bytes from \(bytes.lowerBound) on when those from \(point.offset) were asked for")
        }
        // Cannot overflow: the lower end is at least 0, and the upper end below the largest number.
        let count = bytes.upperBound - bytes.lowerBound + 1
        guard length(fields) ?? count == count else {
            return .violation("sent a part whose length does not fit the bytes that it names")
        }
        guard !point.validator.isContradicted(by: fields) else {
            return .violation("sent a part of another version of the file than was asked for")
        }
        guard !hasCoding(fields) else { return .violation("compressed a part") }
        return .rest(length: count, total: range.total)
    }

    private static func readUnsatisfied(_ fields: HTTPFields, from point: ResumePoint) -> Answer {
        guard let value = fields[.contentRange], let range = ContentRange(value), range.bytes == nil,
            range.total == point.offset, !point.validator.isContradicted(by: fields)
        else { return .startAgain }
        return .complete
    }

    private static func length(_ fields: HTTPFields) -> Int64? { fields[.contentLength].flatMap(ContentRange.number) }

    private static func hasCoding(_ fields: HTTPFields) -> Bool {
        guard let coding = fields[.contentEncoding] else { return false }
        return !coding.isEmpty && coding.lowercased() != "identity"
    }
}

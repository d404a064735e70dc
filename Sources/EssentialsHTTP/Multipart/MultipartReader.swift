#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Gives one sending of a multipart body, piece by piece.
///
/// What is small is gathered into pieces of up to 64 KiB, so that a form of many fields costs few turns. Nothing is held
/// back while a caller's stream is waited for. At most one piece of a file is in memory.
actor MultipartReader {
    static let gatheredSize = 64 << 10
    static let pieceSize = SentFile.pieceSize

    /// The part that is being read.
    private struct Current {
        let entry: MultipartBody.Entry
        /// Where in the bytes it goes on, for a part in memory.
        var offset = 0
        /// Gives the pieces, for all others.
        var source: RequestBody.Source?
        /// How many bytes have come.
        var count = 0
        /// Whether the pieces come whenever a caller's stream gives them.
        var mayWait: Bool { !entry.content.isReplayable }
    }

    private var rest: ArraySlice<MultipartBody.Entry>
    private var end: Data?
    private var current: Current?
    /// A piece that did not fit behind what was handed out last.
    private var held: Data?
    private var failure: (any Error)?

    init(_ body: MultipartBody) {
        rest = body.entries[...]
        end = body.end
    }

    /// The next piece, never an empty one, or nil after the last. After an error the same error.
    ///
    /// - Throws: What a part's stream threw; `file` when a file cannot be read or is no longer as it was,
    ///   `invalidRequest` when a stream does not keep to its length.
    func next() async throws -> Data? {
        if let failure { throw failure }
        do {
            return try await gather()
        } catch {
            failure = error
            // Closes what is open.
            current = nil
            throw error
        }
    }

    private func gather() async throws -> Data? {
        var gathered = held.take() ?? Data()
        while gathered.isEmpty || gathered.count < Self.gatheredSize && current?.mayWait != true {
            guard let piece = try await piece() else { break }
            if gathered.isEmpty {
                gathered = piece
            } else if gathered.count + piece.count <= Self.gatheredSize {
                gathered.append(piece)
            } else {
                held = piece
                break
            }
        }
        return gathered.isEmpty ? nil : gathered
    }

    /// The next head, piece of a content, or the end.
    private func piece() async throws -> Data? {
        while var part = current {
            let piece = try await content(of: &part)
            part.count += piece?.count ?? 0
            current = piece == nil ? nil : part
            try check(part, isOver: piece == nil)
            if let piece, !piece.isEmpty { return piece }
            // A stream may give empty pieces without end.
            if Task.isCancelled {
                throw RequestFailure(.cancelled, "The request was cancelled while its body was read.", phase: .sending)
            }
        }
        guard let entry = rest.popFirst() else { return end.take() }
        var part = Current(entry: entry)
        if case .stream(_, _, let open) = entry.content.content { part.source = open() }
        current = part
        return entry.head
    }

    private func content(of part: inout Current) async throws -> Data? {
        if let source = part.source { return try await source() }
        guard case .bytes(let data) = part.entry.content.content, part.offset < data.count else { return nil }
        let count = min(Self.pieceSize, data.count - part.offset)
        let start = data.startIndex + part.offset
        part.offset += count
        return data.subdata(in: start..<start + count)
    }

    /// Holds a part to its length: too much is never handed out, and after too little nothing more.
    private func check(_ part: Current, isOver: Bool) throws(RequestFailure) {
        guard let length = part.entry.length, isOver ? part.count != length : part.count > length else { return }
        throw RequestFailure(
            .invalidRequest,
            isOver
                ? "The stream of the \(part.entry.shown) ended after \(part.count) of \(length) bytes."
                : "The stream of the \(part.entry.shown) gave more than the \(length) bytes of its length.",
            remedy: "Give the number of bytes that there will be, or nil when it is not known.", phase: .sending)
    }
}

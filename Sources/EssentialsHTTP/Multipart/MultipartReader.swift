#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads a multipart body for one attempt, chunk by chunk.
///
/// Small parts are combined into chunks of up to 64 KiB, so that a form with many fields needs few calls. Nothing is
/// held back while a caller's stream is awaited. At most one chunk of a file is in memory.
actor MultipartReader {
    static let gatheredSize = 64 << 10
    static let pieceSize = SentFile.pieceSize

    /// The part that is being read.
    private struct Current {
        let entry: MultipartBody.Entry
        /// The offset of the next chunk in a part in memory.
        var offset = 0
        /// The source of the chunks of any other part.
        var source: RequestBody.Source?
        /// The number of bytes that were read.
        var count = 0
        /// Whether reading can wait for a caller's stream.
        var mayWait: Bool { !entry.content.isReplayable }
    }

    private var rest: ArraySlice<MultipartBody.Entry>
    private var end: Data?
    private var current: Current?
    /// A chunk that did not fit into the previous result.
    private var held: Data?
    private var failure: (any Error)?

    init(_ body: MultipartBody) {
        rest = body.entries[...]
        end = body.end
    }

    /// The next chunk, which is never empty; `nil` after the last one. After an error, every call throws the same
    /// error.
    ///
    /// - Throws: The error of a part's stream; `file` if a file cannot be read or has changed; `invalidRequest` if a
    ///   stream does not have its declared length.
    func next() async throws -> Data? {
        if let failure { throw failure }
        do {
            return try await gather()
        } catch {
            failure = error
            // Closes an open file.
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

    /// The next header, chunk of content, or closing delimiter.
    private func piece() async throws -> Data? {
        while var part = current {
            let piece = try await content(of: &part)
            part.count += piece?.count ?? 0
            current = piece == nil ? nil : part
            try check(part, isOver: piece == nil)
            if let piece, !piece.isEmpty { return piece }
            // A stream can yield empty chunks without end.
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

    /// Checks the length of a part. Excess bytes are never returned, and nothing follows a part that is too short.
    private func check(_ part: Current, isOver: Bool) throws(RequestFailure) {
        guard let length = part.entry.length, isOver ? part.count != length : part.count > length else { return }
        throw RequestFailure(
            .invalidRequest,
            isOver
                ? "The stream of the \(part.entry.shown) ended after \(part.count) of the declared \(length) bytes."
                : "The stream of the \(part.entry.shown) has more than the declared \(length) bytes.",
            remedy: "Declare the exact number of bytes, or nil if it is not known.", phase: .sending)
    }
}

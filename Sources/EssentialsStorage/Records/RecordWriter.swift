import EssentialsTools

/// A record that is being written. It appears with ``commit(head:number:)``, as a whole or not at all.
///
/// Every value ends with ``commit(head:number:)`` or ``abandon()``. It belongs to one caller, which works
/// on a file thread.
package struct RecordWriter: Sendable {
    private let directory: RecordDirectory
    private let key: RecordKey
    private let condition: RecordCondition
    /// Whether the body has its own file, however small it is.
    private let isFile: Bool
    private var memory: [UInt8] = []
    private var body: AtomicFile?
    private let id = UInt64.random(in: .min ... .max)
    private var running = RunningChecksums()
    private var reserved = 0
    /// The number of bytes so far.
    package private(set) var size: Int64 = 0

    init(_ directory: RecordDirectory, _ key: RecordKey, _ condition: RecordCondition, isFile: Bool) {
        (self.directory, self.key, self.condition, self.isFile) = (directory, key, condition, isFile)
    }

    /// Appends bytes to the body.
    ///
    /// - Throws: `EFBIG` if the record becomes larger than the maximum or than the available space.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        let sum = size + Int64(bytes.count)
        guard sum <= Int64(directory.configuration.maximumRecordBytes) else { throw FileError(code: EFBIG) }
        // A file of its own comes with that of the head.
        try reserve(isFile ? directory.space(1, sum) : directory.space(sum, nil))
        if body == nil, isFile || sum > Int64(directory.configuration.largestInlineBody) { try makeFile() }
        if let body { try body.append(bytes) } else { memory += bytes }
        running.append(bytes)
        size = sum
    }

    /// Appends bytes to the body.
    package mutating func append(_ bytes: RawSpan) throws(FileError) {
        try bytes.withUnsafeBytes { bytes throws(FileError) in try append(bytes) }
    }

    private mutating func makeFile() throws(FileError) {
        let name = directory.path(of: RecordBodyName(key.name, id).text)
        let file = try directory.makeTemporary(for: name)
        body = file
        try file.append(memory.span.bytes)
        memory = []
    }

    private mutating func reserve(_ space: Int) throws(FileError) {
        guard space > reserved else { return }
        try directory.reserve(space - reserved)
        reserved = space
    }

    // MARK: Ending

    /// Puts the record in place of the one with its number, unless its key was invalidated or its scope removed since
    /// the writing began.
    ///
    /// - Parameter replaces: Whether the record replaces one with this head, which is asked while the directory is locked.
    ///   `nil` replaces every one.
    /// - Returns: The record; `nil` if it was not put in place.
    package mutating func commit(
        head: [UInt8], number: UInt8 = 0, replacing replaces: (([UInt8]) -> Bool)? = nil
    ) throws(FileError) -> StoredRecord? {
        defer { abandon() }
        guard head.count + key.bytes.count <= directory.configuration.maximumHeadBytes,
            let name = directory.name(key, number)
        else { throw FileError(code: EFBIG) }
        if isFile, body == nil { try makeFile() }
        let file = body == nil ? nil : RecordContent.BodyFile(size: size, checksums: running.finished)
        let facts = RecordFacts(
            id: id, begun: condition.begun, invalidation: condition.invalidation, hasFile: file != nil)
        let beginning = memory.withUnsafeBytes {
            RecordContent.beginning(facts, file, key: key.bytes, head: head, body: $0, directory.format)
        }
        let space = directory.space(Int64(beginning.count + memory.count), file?.size)
        try reserve(space)
        var placed = StoredRecord.Body.inline(memory[...])
        if let body, let file {
            // Opened before it is renamed, so that nothing can fail between renaming the body and renaming the head.
            let opened = try directory.calls.open(body.temporary, O_RDONLY | O_NOFOLLOW)
            placed = .file(CheckedFile(file: opened, size: file.size, checksums: file.checksums))
        }
        let written = RecordCommit(
            name: name, facts: facts, head: try directory.headFile(name, beginning, memory.span.bytes), body: body,
            space: space, reservation: reserved)
        guard try directory.commit(written, if: condition, replaces) else { return nil }
        reserved = 0
        directory.finishCommit(of: name)
        return StoredRecord(name: name, key: key.bytes, head: head, body: placed, facts: facts)
    }

    /// Opens the bytes written so far. The body becomes a file, however small it is.
    package mutating func opened() throws(FileError) -> CheckedFile {
        if body == nil { try makeFile() }
        guard let body else { throw FileError(code: ENOENT) }
        let file = try directory.calls.open(body.temporary, O_RDONLY | O_NOFOLLOW)
        return CheckedFile(file: file, size: size, checksums: running.finished)
    }

    /// Removes the written files, unless they were committed.
    package mutating func abandon() {
        body?.abandon()
        body = nil
        memory = []
        directory.release(reserved)
        reserved = 0
    }
}

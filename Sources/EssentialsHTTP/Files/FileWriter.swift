import EssentialsStorage
import EssentialsTools

/// Writes one download and moves it to its destination. It runs on a file thread.
///
/// Call the methods in this order: ``prepare(resource:)``, ``hashPart()`` until it returns `false`,
/// ``begin(_:length:validator:)``, ``write(_:)`` any number of times, and ``finish()``. Call ``abandon(keepsPart:)`` at
/// any point instead of the remaining methods.
actor FileWriter {
    private static let sliceSize = 1 << 20
    /// The maximum number of names that are tried for ``DownloadOptions/Existing/uniqueName``.
    private static let maximumNames = 1000

    private let queue = FileQueue()
    private let place: DownloadPlace
    private let options: DownloadOptions
    private let calls: FileCalls
    private var partial: PartialFile?
    private var resource = ""
    /// A temporary file, which is removed on every failure.
    private var temporary: AtomicFile?
    /// The path and the open file that the bytes are written to.
    private var source: (path: String, file: OpenFile)?
    private var hash: (any IncrementalHash)?
    private var hashedBytes: Int64 = 0
    private var directories = DownloadDirectories()
    private var size: Int64 = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    init(_ place: DownloadPlace, _ options: DownloadOptions, _ calls: FileCalls) {
        self.place = place
        self.options = options
        self.calls = calls
    }

    deinit {
        // Every download ends with `finish` or `abandon`. This is a safeguard.
        temporary?.abandon()
    }

    // MARK: Before the request

    /// Checks the destination, and opens the partial file of an earlier attempt if the download can be resumed.
    ///
    /// - Parameter resource: The URL of the file, for the resume record.
    /// - Returns: The point at which to resume; `nil` to download the whole file.
    func prepare(resource: String) throws(RequestFailure) -> ResumePoint? {
        try makeDirectories()
        try checkDirectory()
        try checkDestination()
        AbandonedFiles.remove(beside: place.file)
        guard options.resumes else { return nil }
        let partial = try openPartial()
        self.partial = partial
        self.resource = resource
        let record = partial.record()
        size = try onPartial("could not be inspected") { () throws(FileError) in try partial.size() }
        guard let record, record.resource == resource, size > 0 else { return nil }
        hash = options.checksum?.makeHash()
        hashedBytes = 0
        return ResumePoint(offset: size, validator: record.validator)
    }

    /// Hashes a slice of the partial file. Returns `false` when the whole partial file has been hashed.
    func hashPart() throws(RequestFailure) -> Bool {
        guard let hash, let partial, hashedBytes < size else { return false }
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 128 << 10, alignment: 1)
        defer { memory.deallocate() }
        let end = min(size, hashedBytes + Int64(Self.sliceSize))
        while hashedBytes < end {
            let wanted = UnsafeMutableRawBufferPointer(rebasing: memory.prefix(Int(clamping: end - hashedBytes)))
            let position = hashedBytes
            let count = try onPartial("could not be read") { () throws(FileError) in
                let count = try partial.file.read(into: wanted, at: position)
                guard count > 0 else { throw FileError(code: EIO) }
                return count
            }
            hash.update(UnsafeRawBufferPointer(rebasing: wanted.prefix(count)))
            hashedBytes += Int64(count)
        }
        return hashedBytes < size
    }

    private func makeDirectories() throws(RequestFailure) {
        guard options.createsDirectories else { return }
        do { try directories.make(place.directory) } catch {
            throw RequestFailure.file(place.directory, "could not be created", error, phase: .preparation)
        }
    }

    private func openPartial() throws(RequestFailure) -> PartialFile {
        for _ in 0..<16 {
            do { return try PartialFile(of: place, calls) } catch {
                guard options.createsDirectories, (error.underlying as? SystemError)?.code == ENOENT else {
                    throw error
                }
                // Another download had created the directory, failed, and removed it again.
                try makeDirectories()
            }
        }
        return try PartialFile(of: place, calls)
    }

    private func checkDirectory() throws(RequestFailure) {
        let directory = place.directory
        let missing = DownloadPlace.missingDirectory
        let status = try RequestFailure.onFile(
            directory, "cannot be written to", missing: missing, phase: .preparation
        ) { () throws(FileError) in
            try FileStatus(of: directory)
        }
        try RequestFailure.onFile(directory, "cannot be written to", phase: .preparation) { () throws(FileError) in
            guard status.isDirectory else { throw FileError(code: ENOTDIR) }
            guard faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) == 0 else { throw FileError.last }
        }
    }

    private func checkDestination() throws(RequestFailure) {
        let path = place.path
        let existing: FileStatus
        do { existing = try FileStatus(of: path, followsLink: false) } catch {
            if error.code == ENOENT { return }
            throw RequestFailure.file(path, "cannot be written", error, phase: .preparation)
        }
        let target = existing.isLink ? try? FileStatus(of: path) : existing
        guard target?.isDirectory != true else {
            throw RequestFailure.file(path, "cannot be written", FileError(code: EISDIR), phase: .preparation)
        }
        if options.existing == .uniqueName { return }
        guard options.existing == .replace else { throw alreadyThere(.preparation) }
        // A device or a socket is refused, because replacing it by a file is hardly intended.
        guard existing.isRegular || existing.isLink else { throw SentFile.notRegular(path, phase: .preparation) }
    }

    // MARK: During the transfer

    /// Prepares for the first bytes, at the resume point or at 0.
    ///
    /// - Parameters:
    ///   - offset: The number of bytes of the partial file that are kept.
    ///   - length: The number of bytes that the response will deliver; `nil` if it is not known.
    ///   - validator: The validator for the resume record. It is ignored if the offset is not 0.
    func begin(_ offset: Int64, length: Int64?, validator: ResumeValidator?) throws(RequestFailure) {
        if offset == 0 { hash = options.checksum?.makeHash() }
        size = offset
        let file: OpenFile
        if let partial {
            let record = validator.map { ResumeRecord(resource: resource, validator: $0) }
            try onPartial("could not be written") { () throws(FileError) in
                if offset > 0 { try partial.file.seek(to: offset) } else { try partial.begin(record) }
            }
            file = partial.file
            source = (partial.path, file)
        } else {
            file = try makeTemporary()
        }
        if let length, let free = calls.freeBytes(file.descriptor), free < length {
            throw failure("needs \(length) bytes, but only \(free) are free", FileError(code: ENOSPC))
        }
    }

    /// Writes the next bytes.
    func write(_ chunk: BodyChunk) throws(RequestFailure) {
        guard let source else { return }
        do {
            try chunk.withUnsafeBytes { bytes throws(FileError) in
                try calls.writeAll(bytes, to: source.file.descriptor)
                hash?.update(bytes)
            }
        } catch {
            throw RequestFailure.file(place.path, "could not be written", error, phase: .receiving)
        }
        size += Int64(chunk.count)
    }

    private func makeTemporary() throws(RequestFailure) -> OpenFile {
        var attempts = 0
        while true {
            attempts += 1
            do {
                let temporary = try AtomicFile(place.file, .content, isPrivate: false, calls: calls)
                self.temporary = temporary
                source = (temporary.temporary, temporary.file)
                return temporary.file
            } catch {
                if error.code == ENOENT, options.createsDirectories, attempts < 16 {
                    try makeDirectories()
                    continue
                }
                throw RequestFailure.file(
                    place.path, "could not be created", error, missing: DownloadPlace.missingDirectory,
                    phase: .receiving)
            }
        }
    }

    // MARK: At the end

    /// Checks the hash, flushes the file to the disk, moves it to its destination, and returns that path.
    func finish() throws(RequestFailure) -> String {
        guard let source else { return place.path }
        try checkHash()
        do { try calls.flush(source.file, isRequired: false) } catch { throw failure("could not be written", error) }
        let path = try putInPlace(source.path)
        temporary = nil
        partial?.removeRecord()
        defer { close() }
        try flushDirectory()
        return path
    }

    /// Gives up. Nothing remains, except a resumable partial file if `keepsPart` is `true`.
    func abandon(keepsPart: Bool) {
        temporary?.abandon()
        temporary = nil
        if keepsPart { partial?.removeIfUseless() } else { partial?.remove() }
        close()
        directories.removeEmpty()
    }

    private func close() {
        source = nil
        // Releases the lock last.
        partial = nil
    }

    private func checkHash() throws(RequestFailure) {
        guard let checksum = options.checksum, let found = hash?.finish() else { return }
        hash = nil
        guard found != checksum.expected else { return }
        abandon(keepsPart: false)
        throw RequestFailure(
            .file,
            "The file received for “\(RequestFailure.shownPath(place.path))” has the \(checksum.name) "
                + "\(Checksum.hexadecimal(found)), not \(Checksum.hexadecimal(checksum.expected)).",
            remedy: "Try again; if it fails again, the checksum or the server's file is wrong.", phase: .receiving)
    }

    private func flushDirectory() throws(RequestFailure) {
        // A directory that is writable but not readable cannot be opened for this.
        guard let directory = try? calls.open(place.directory, O_RDONLY | O_DIRECTORY) else { return }
        do { try calls.flush(directory) } catch {
            guard [EIO, ENOSPC, EDQUOT].contains(error.code) else { return }
            throw failure("was written, but might not survive a power failure", error)
        }
    }

    private func putInPlace(_ path: String) throws(RequestFailure) -> String {
        switch options.existing {
        case .replace:
            do { try calls.rename(path, place.path) } catch {
                throw failure("could not be moved to its destination", error)
            }
            return place.path
        case .refuse:
            guard try take(place.path, for: path) else { throw alreadyThere(.receiving) }
            return place.path
        case .uniqueName:
            for number in 0..<Self.maximumNames {
                let name = number == 0 ? place.path : place.numbered(number)
                if try take(name, for: path) { return name }
            }
            throw alreadyThere(.receiving)
        }
    }

    /// Gives a file a new name. Returns `false` if the name already exists.
    private func take(_ name: String, for path: String) throws(RequestFailure) -> Bool {
        // Another program may create the file at any moment.
        do { return try calls.moveUnlessThere(path, name, claims: true) } catch {
            throw RequestFailure.file(name, "could not be created", error, phase: .receiving)
        }
    }

    // MARK: Failures

    private func onPartial<Value>(
        _ what: String, _ work: () throws(FileError) -> Value
    ) throws(RequestFailure) -> Value {
        try RequestFailure.onFile(place.partial, what, phase: .preparation, work)
    }

    private func failure(_ what: String, _ error: FileError) -> RequestFailure {
        RequestFailure.file(place.path, what, error, phase: .receiving)
    }

    private func alreadyThere(_ phase: RequestFailure.Phase) -> RequestFailure {
        RequestFailure.file(place.path, "already exists", FileError(code: EEXIST), phase: phase)
    }
}

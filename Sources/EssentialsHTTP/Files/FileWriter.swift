#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Writes one download and puts it in its place, on a file thread.
///
/// Called in this order: ``prepare(resource:)``, ``digestPart()`` until it says no, ``begin(_:length:validator:)``,
/// ``write(_:)`` as often as needed, and ``finish()``; ``abandon(keepsPart:)`` at any point instead of what is left.
actor FileWriter {
    private static let sliceSize = 1 << 20
    /// As many names are tried for a file that must not take another's.
    private static let maximumNames = 1000

    private let queue = FileQueue()
    private let place: DownloadPlace
    private let options: DownloadOptions
    private let calls: FileCalls
    private var partial: PartialFile?
    private var resource = ""
    /// Where the bytes are until they are whole, and the file that has them.
    private var source: (path: String, file: OpenFile)?
    /// A temporary file that is to be removed whatever happens.
    private var temporary: String?
    private var digest: (any IncrementalDigest)?
    private var digested: Int64 = 0
    private var directories = DownloadDirectories()
    private var size: Int64 = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    init(_ place: DownloadPlace, _ options: DownloadOptions, _ calls: FileCalls) {
        self.place = place
        self.options = options
        self.calls = calls
    }

    deinit {
        // Every way through a download ends in `finish` or `abandon`; this is for none that was forgotten.
        if let temporary { unlink(temporary) }
    }

    // MARK: Before anything is sent

    /// Checks the destination, and opens what earlier attempts left if the download may be resumed.
    ///
    /// - Parameter resource: Whose bytes will come, for the record beside a partial file.
    /// - Returns: Where to go on, or nil for the beginning.
    func prepare(resource: String) throws(RequestFailure) -> ResumePoint? {
        try makeDirectories()
        try checkDirectory()
        try checkDestination()
        _ = AbandonedFiles.removeTemporaries(in: place.directory, where: place.isTemporary)
        guard options.resumes else { return nil }
        let partial = try openPartial()
        self.partial = partial
        self.resource = resource
        let record = partial.record()
        size = try onPartial("could not be looked at") { () throws(SystemError) in try partial.size() }
        guard let record, record.resource == resource, size > 0 else { return nil }
        digest = options.checksum?.makeDigest()
        digested = 0
        return ResumePoint(offset: size, validator: record.validator)
    }

    /// Has the digest take some of what earlier attempts left. False when it has it all.
    func digestPart() throws(RequestFailure) -> Bool {
        guard let digest, let partial, digested < size else { return false }
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 128 << 10, alignment: 1)
        defer { memory.deallocate() }
        let end = min(size, digested + Int64(Self.sliceSize))
        while digested < end {
            let wanted = UnsafeMutableRawBufferPointer(rebasing: memory.prefix(Int(clamping: end - digested)))
            let position = digested
            let count = try onPartial("could not be read") { () throws(SystemError) in
                let count = try partial.file.read(into: wanted, at: position)
                guard count > 0 else { throw SystemError(code: EIO) }
                return count
            }
            digest.update(UnsafeRawBufferPointer(rebasing: wanted.prefix(count)))
            digested += Int64(count)
        }
        return digested < size
    }

    private func makeDirectories() throws(RequestFailure) {
        guard options.createsDirectories else { return }
        do { try directories.make(place.directory) } catch {
            throw RequestFailure.file(place.directory, "could not be created", error, phase: .preparation)
        }
    }

    private func openPartial() throws(RequestFailure) -> PartialFile {
        for _ in 0..<16 {
            do { return try PartialFile(of: place) } catch {
                guard options.createsDirectories, (error.underlying as? SystemError)?.code == ENOENT else {
                    throw error
                }
                // Another download had made the directory, failed, and taken it away again.
                try makeDirectories()
            }
        }
        return try PartialFile(of: place)
    }

    private func checkDirectory() throws(RequestFailure) {
        let directory = place.directory
        let status = try RequestFailure.onFile(directory, "cannot be written to", phase: .preparation) {
            () throws(SystemError) in try FileStatus(of: directory)
        }
        try RequestFailure.onFile(directory, "cannot be written to", phase: .preparation) { () throws(SystemError) in
            guard status.isDirectory else { throw SystemError(code: ENOTDIR) }
            guard faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) == 0 else { throw SystemError.last }
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
            throw RequestFailure.file(path, "cannot be written", SystemError(code: EISDIR), phase: .preparation)
        }
        if options.existing == .uniqueName { return }
        guard options.existing == .replace else { throw alreadyThere(.preparation) }
        // A device or a socket in its place is not what anybody means to replace by a file.
        guard existing.isRegular || existing.isLink else { throw SentFile.notRegular(path, phase: .preparation) }
    }

    // MARK: While it comes

    /// The bytes begin: after what is here, or at 0.
    ///
    /// - Parameters:
    ///   - offset: How many bytes are here and stay.
    ///   - length: How many will come, if that is known.
    ///   - validator: What proves later that a part is still good. Not needed for an offset.
    func begin(_ offset: Int64, length: Int64?, validator: ResumeValidator?) throws(RequestFailure) {
        if offset == 0 { digest = options.checksum?.makeDigest() }
        size = offset
        let file: OpenFile
        if let partial {
            let record = validator.map { ResumeRecord(resource: resource, validator: $0) }
            let calls = calls
            try onPartial("could not be written") { () throws(SystemError) in
                if offset > 0 { try partial.file.seek(to: offset) } else { try partial.begin(record, calls) }
            }
            file = partial.file
            source = (place.partial, file)
        } else {
            file = try makeTemporary()
        }
        if let length, let free = calls.freeBytes(file.descriptor), free < length {
            throw failure("needs \(length) bytes, and \(free) are free", ENOSPC)
        }
    }

    /// Writes the next bytes.
    func write(_ chunk: BodyChunk) throws(RequestFailure) {
        guard let source else { return }
        do {
            try chunk.withUnsafeBytes { bytes throws(SystemError) in
                try calls.writeAll(bytes, to: source.file.descriptor)
                digest?.update(bytes)
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
            let path = place.temporary()
            do {
                let file = try OpenFile(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
                // Who looks for abandoned files may have come between the two.
                let isOurs = file.lock() && (try? FileStatus(of: path, followsLink: false)) != nil
                if !isOurs, attempts < 16 { continue }
                temporary = path
                source = (path, file)
                return file
            } catch {
                if error.code == EEXIST, attempts < 16 { continue }
                if error.code == ENOENT, options.createsDirectories, attempts < 16 {
                    try makeDirectories()
                    continue
                }
                throw RequestFailure.file(path, "could not be created", error, phase: .receiving)
            }
        }
    }

    // MARK: At the end

    /// Checks the digest, puts the bytes on the disk and the file in its place, and says where that is.
    func finish() throws(RequestFailure) -> String {
        guard let source else { return place.path }
        try checkDigest()
        try synchronize(source.file.descriptor)
        let path = try putInPlace(source.path)
        temporary = nil
        partial?.removeRecord()
        defer { close() }
        try synchronizeDirectory()
        return path
    }

    /// Gives up. Nothing stays, except what a further attempt can go on from if `keepsPart`.
    func abandon(keepsPart: Bool) {
        if let temporary { unlink(temporary) }
        temporary = nil
        if keepsPart { partial?.removeIfUseless() } else { partial?.remove() }
        close()
        directories.removeEmpty()
    }

    private func close() {
        source = nil
        // The lock goes last.
        partial = nil
    }

    private func checkDigest() throws(RequestFailure) {
        guard let checksum = options.checksum, let found = digest?.finish() else { return }
        digest = nil
        guard found != checksum.expected else { return }
        abandon(keepsPart: false)
        throw RequestFailure(
            .file,
            "What came for “\(RequestFailure.shownPath(place.path))” has the \(checksum.name) "
                + "\(Checksum.hexadecimal(found)), not \(Checksum.hexadecimal(checksum.expected)).",
            remedy: "Try again; if it stays so, the checksum or the server's file is wrong.", phase: .receiving)
    }

    private func synchronize(_ descriptor: Int32) throws(RequestFailure) {
        let code = calls.sync(descriptor)
        // A file system that cannot do it (EINVAL) loses no more than its own promises.
        guard code == 0 || code == EINVAL || code == ENOTSUP else { throw failure("could not be written", code) }
    }

    private func synchronizeDirectory() throws(RequestFailure) {
        // A directory that may be written but not read cannot be opened for this.
        guard let directory = try? OpenFile(place.directory, O_RDONLY | O_DIRECTORY) else { return }
        let code = calls.sync(directory.descriptor)
        guard code == EIO || code == ENOSPC || code == EDQUOT else { return }
        throw failure("is in its place, but could not be made to stay there after a power cut", code)
    }

    private func putInPlace(_ path: String) throws(RequestFailure) -> String {
        switch options.existing {
        case .replace:
            guard rename(path, place.path) == 0 else { throw failure("could not be put in its place", errno) }
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

    /// Gives a file a name that must be new. False when somebody has it.
    private func take(_ name: String, for path: String) throws(RequestFailure) -> Bool {
        let code = calls.link(path, name)
        if code == 0 { unlink(path) }
        guard code != 0, code != EEXIST else { return code == 0 }
        // For file systems without hard links: whoever makes the empty file owns the name, and may then replace it.
        let claim: OpenFile
        do { claim = try OpenFile(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW) } catch {
            if error.code == EEXIST { return false }
            throw RequestFailure.file(name, "could not be created", error, phase: .receiving)
        }
        defer { _ = claim }
        guard rename(path, name) == 0 else {
            let code = errno
            unlink(name)
            throw failure("could not be created", code)
        }
        return true
    }

    // MARK: Failures

    private func onPartial<Value>(
        _ what: String, _ work: () throws(SystemError) -> Value
    ) throws(RequestFailure) -> Value {
        try RequestFailure.onFile(place.partial, what, phase: .preparation, work)
    }

    private func failure(_ what: String, _ code: Int32) -> RequestFailure {
        RequestFailure.file(place.path, what, SystemError(code: code), phase: .receiving)
    }

    private func alreadyThere(_ phase: RequestFailure.Phase) -> RequestFailure {
        RequestFailure.file(place.path, "is there already", SystemError(code: EEXIST), phase: phase)
    }
}

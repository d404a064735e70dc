import EssentialsHTTP
import EssentialsRequests
import EssentialsStorage
import FoundationEssentials
import Glibc

/// Reads and writes the entries of an outbox. It runs on a file thread.
actor OutboxStore {
    /// The contents of the directory.
    struct Found: Sendable {
        var entries: [(entry: OutboxEntry, failure: OutboxFailure?)] = []
        /// The key for hashes of header fields.
        var key = FingerprintKey.process
    }

    /// The result of reading an entry for an attempt.
    enum Request: Sendable {
        case request(OutboxRecord, file: StoredBody?)
        /// The entry was damaged after it was added, and has been set aside.
        case damaged
    }

    private static let largestFile =
        OutboxRecord.format.headerSize + OutboxRecord.maximumHead + OutboxRecord.largestInlineBody

    private let queue = FileQueue()
    private let files: OutboxFiles
    /// The lock of the directory, which is held as long as the outbox is open.
    private var lock: FileLock?
    private var isClosed = false
    /// Empty files for the next entries.
    private var spares: [OutboxFiles.Name] = []
    /// Whether an entry that could not be read still has the name of a spare file.
    private var hasUnreadSpares = false
    private(set) var damaged: [String] = []
    /// The key for hashes of header fields, which is stored with the first entry that needs it.
    private var key: (value: FingerprintKey, isStored: Bool)?

    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    init(_ files: OutboxFiles) { self.files = files }

    // MARK: Opening

    /// Takes the lock and reads the directory, once. The entries are handed over before any other work on the
    /// directory.
    func open(_ install: @Sendable (Found) -> Void) throws(RequestFailure) {
        guard !isClosed else { throw Self.closed }
        guard lock == nil else { return }
        let taken = try onDirectory("could not be used as an outbox") { () throws(FileError) -> FileLock? in
            try files.directory.make()
            return try files.lock()
        }
        guard let taken else { throw inUse() }
        let names = try onDirectory("could not be read") { () throws(FileError) in
            try files.directory.names(upTo: OutboxFiles.maximumNames)
        }
        let stored = try onDirectory("could not be read") { () throws(FileError) in try files.key() }
        let key = stored ?? .random()
        (lock, self.key) = (taken, (key, stored != nil))
        var found = found(names)
        found.key = key
        install(found)
    }

    private static var closed: RequestFailure {
        RequestFailure(.closed, "The outbox was closed.", remedy: "Create another one.")
    }

    private func inUse() -> RequestFailure {
        let path = RequestFailure.shownPath(files.directory.path)
        let holder = files.holder().map { $0 == Int(getpid()) ? "this process" : "the process \($0)" }
        return RequestFailure(
            .file, "The outbox “\(path)” is in use by \(holder ?? "another process"), which sends its entries.",
            remedy: "Use one outbox for each directory, or wait until the other one is closed.",
            underlying: SystemError(code: EWOULDBLOCK))
    }

    private func found(_ texts: [String]) -> Found {
        var kinds: [OutboxEntry.ID: Set<OutboxFiles.Kind>] = [:]
        for name in texts.compactMap({ OutboxFiles.Name($0) }) { kinds[name.id, default: []].insert(name.kind) }
        var found = Found()
        damaged = []
        spares = []
        hasUnreadSpares = false
        for id in kinds.keys where kinds[id]?.remove(.spare) != nil {
            if kinds[id]?.isEmpty == true { kinds[id] = nil }
            if let written = unpack(OutboxFiles.Name(id, .spare)) { kinds[written, default: []].insert(.request) }
        }
        for (id, kinds) in kinds.sorted(by: { $0.key < $1.key }) {
            if let entry = entry(id, kinds) { found.entries.append(entry) }
        }
        return found
    }

    /// Keeps an empty file for later, and renames a file to which an entry was written. Any other file was left by a
    /// process that was killed before the entry was added.
    private func unpack(_ spare: OutboxFiles.Name) -> OutboxEntry.ID? {
        if files.size(of: spare) == 0 {
            spares.append(spare)
            return nil
        }
        let bytes: [UInt8]?
        do throws(FileError) {
            bytes = try files.read(spare, upTo: Self.largestFile)
        } catch {
            return leave(spare)
        }
        switch bytes.map({ OutboxRecord.content(of: $0) }) ?? .damaged {
        case .otherVersion:
            // After a loss of power an entry can have this name. Another version of the program may be able to send it.
            return leave(spare)
        case .record(let record) where (try? files.move(spare, to: OutboxFiles.Name(record.id, .request))) != nil:
            return record.id
        case .record, .damaged:
            try? files.remove(spare)
            return nil
        }
    }

    /// Leaves an entry that cannot be read now under the name of a spare file.
    private func leave(_ spare: OutboxFiles.Name) -> OutboxEntry.ID? {
        damaged.append(spare.text)
        hasUnreadSpares = true
        return nil
    }

    /// Reads an entry, and sets it aside if it is damaged.
    private func entry(
        _ id: OutboxEntry.ID, _ kinds: Set<OutboxFiles.Kind>
    ) -> (entry: OutboxEntry, failure: OutboxFailure?)? {
        if kinds.contains(.damaged) { damaged.append(OutboxFiles.Name(id, .damaged).text) }
        guard kinds.contains(.request) else {
            // These files are left from a removed entry, unless they may belong to an entry that could not be read.
            if !kinds.contains(.damaged), !hasUnreadSpares { try? files.removeAll(of: id) }
            return nil
        }
        let name = OutboxFiles.Name(id, .request)
        let bytes: [UInt8]?
        do throws(FileError) {
            bytes = try files.read(name, upTo: Self.largestFile)
        } catch {
            // A later attempt may read it.
            damaged.append(name.text)
            return nil
        }
        switch bytes.map({ OutboxRecord.content(of: $0) }) ?? .damaged {
        case .otherVersion:
            // Another version of the program may be able to send it.
            damaged.append(name.text)
            return nil
        case .record(let record) where record.id == id && isComplete(record):
            var failure: OutboxFailure?
            if kinds.contains(.failed) {
                let bytes = try? files.read(OutboxFiles.Name(id, .failed), upTo: 64 << 10)
                failure = OutboxFailure(bytes: bytes ?? [], date: record.date)
            }
            return (record.entry(byteCount: Self.byteCount(record, bytes?.count ?? 0)), failure)
        case .record, .damaged:
            setAside(name)
            return nil
        }
    }

    private static func byteCount(_ record: OutboxRecord, _ size: Int) -> Int {
        let (sum, overflows) = size.addingReportingOverflow(Int(clamping: record.bodyFileSize ?? 0))
        return overflows ? .max / 4 : min(sum, .max / 4)
    }

    private func isComplete(_ record: OutboxRecord) -> Bool {
        record.bodyFileSize == nil || files.size(of: OutboxFiles.Name(record.id, .body)) == record.bodyFileSize
    }

    private func setAside(_ name: OutboxFiles.Name) {
        let target = OutboxFiles.Name(name.id, .damaged)
        damaged.append((try? files.move(name, to: target)) == nil ? name.text : target.text)
    }

    /// Reads the entries without the lock, and changes nothing. Damaged entries are left out.
    func list() throws(RequestFailure) -> [OutboxEntry] {
        let texts = try onDirectory("could not be read") { () throws(FileError) in
            try files.directory.names(upTo: OutboxFiles.maximumNames)
        }
        let names = Set(texts.compactMap { OutboxFiles.Name($0) })
        var entries: [OutboxEntry.ID: OutboxEntry] = [:]
        for name in names where name.kind == .request || name.kind == .spare {
            // A file may have been removed since the names were read.
            guard let bytes = try? files.read(name, upTo: Self.largestFile),
                case .record(let record) = OutboxRecord.content(of: bytes)
            else { continue }
            var entry = record.entry(byteCount: Self.byteCount(record, bytes.count))
            let failed = OutboxFiles.Name(record.id, .failed)
            if names.contains(failed) {
                let bytes = try? files.read(failed, upTo: 64 << 10)
                entry.state = .failed(OutboxFailure(bytes: bytes ?? [], date: record.date))
            }
            entries[record.id] = entry
        }
        return entries.values.sorted { $0.id < $1.id }
    }

    // MARK: Entries

    /// Writes an entry, and returns the size of its files when they are on the disk.
    ///
    /// - Parameter space: The maximum size.
    func write(_ record: OutboxRecord, space: Int) async throws(RequestFailure) -> Int {
        guard lock != nil, !isClosed else { throw Self.closed }
        let id = record.id
        do throws(RequestFailure) {
            var record = record
            var size = 0
            switch record.parts.body {
            case .bytes(let bytes) where bytes.count > OutboxRecord.largestInlineBody:
                size = try await writeBody(&record, .bytes(bytes), space)
            case .pieces(let body): size = try await writeBody(&record, body, space)
            case .none, .parameters, .bytes: break
            }
            let bytes = try record.bytes()
            guard bytes.count <= space - size else { throw Self.noSpace }
            guard !isClosed else { throw Self.closed }
            try onDirectory("could not be written") { () throws(FileError) in
                if !record.environment.fields.isEmpty, let (key, isStored) = self.key, !isStored {
                    try files.write(key)
                    self.key = (key, true)
                }
                if spares.isEmpty { spares = try files.makeSpares() }
                guard let spare = spares.popLast() else { throw FileError(code: EIO) }
                try files.fill(spare, with: bytes, as: id)
            }
            return size + bytes.count
        } catch {
            try? files.removeAll(of: id)
            throw error
        }
    }

    /// The failure for an entry that turns out to be larger than the remaining space.
    static let noSpace = RequestFailure(.queueFull, "The outbox has no space for the request.")

    /// Writes the file of a large body, records its size and checksum, and returns the size.
    private func writeBody(
        _ record: inout OutboxRecord, _ body: RequestBody, _ space: Int
    ) async throws(RequestFailure) -> Int {
        let id = record.id
        let file = try onDirectory("could not be written") { () throws(FileError) in try files.createBody(id) }
        var (size, running) = (0, RunningChecksums())
        let next: @Sendable () async throws -> Data?
        switch body.content {
        case .none: next = { nil }
        case .bytes(let bytes):
            let pieces = OnePiece(bytes)
            next = { await pieces.take() }
        case .stream(_, _, let open): next = open()
        }
        while true {
            if Task.isCancelled { throw RequestFailure(.cancelled, "Adding the request to the outbox was cancelled.") }
            let piece: Data?
            do { piece = try await next() } catch let failure as RequestFailure { throw failure } catch {
                throw RequestFailure(.file, "The body could not be copied into the outbox.", underlying: error)
            }
            guard let piece else { break }
            guard piece.count <= space - size else { throw Self.noSpace }
            try onDirectory("could not be written") { () throws(FileError) in try files.append(piece, to: file) }
            size += piece.count
            piece.withUnsafeBytes { running.append($0) }
        }
        (record.bodyFileSize, record.bodyChecksum) = (UInt64(size), running.finished.total)
        try onDirectory("could not be written") { () throws(FileError) in
            try files.sync(file)
            try files.directory.sync()
        }
        return size
    }

    /// Reads an entry for an attempt.
    func request(_ id: OutboxEntry.ID) throws(RequestFailure) -> Request {
        let name = OutboxFiles.Name(id, .request)
        let bytes = try onDirectory("could not be read") { () throws(FileError) in
            try files.read(name, upTo: Self.largestFile)
        }
        guard let bytes, case .record(let record) = OutboxRecord.content(of: bytes), isComplete(record) else {
            setAside(name)
            return .damaged
        }
        guard record.bodyFileSize != nil else { return .request(record, file: nil) }
        if let checksum = record.bodyChecksum {
            let found = try onDirectory("could not be read") { () throws(FileError) in try files.bodyChecksum(id) }
            guard found == checksum else {
                setAside(name)
                return .damaged
            }
        }
        return .request(record, file: StoredBody(try .file(files.path(of: OutboxFiles.Name(id, .body)))))
    }

    func remove(_ id: OutboxEntry.ID) throws(RequestFailure) {
        try onDirectory("could not be changed") { () throws(FileError) in try files.removeAll(of: id) }
    }

    /// Stores the failure for which an entry was given up.
    func setAside(_ id: OutboxEntry.ID, _ failure: OutboxFailure) throws(RequestFailure) {
        try onDirectory("could not be changed") { () throws(FileError) in
            try files.write(failure.bytes, to: OutboxFiles.Name(id, .failed))
        }
    }

    /// Removes the failure for which an entry was given up.
    func restore(_ id: OutboxEntry.ID) throws(RequestFailure) {
        try onDirectory("could not be changed") { () throws(FileError) in
            try files.remove(OutboxFiles.Name(id, .failed))
        }
    }

    /// Removes the damaged files.
    func removeDamaged() throws(RequestFailure) {
        for text in damaged {
            guard let name = OutboxFiles.Name(text) else { continue }
            try remove(name.id)
        }
        damaged = []
    }

    /// Removes the empty files and releases the lock.
    func close() {
        isClosed = true
        for spare in spares { try? files.remove(spare) }
        spares = []
        lock = nil
    }

    private func onDirectory<Value>(
        _ what: String, _ work: () throws(FileError) -> Value
    ) throws(RequestFailure) -> Value {
        try RequestFailure.onFile(files.directory.path, what, phase: .preparation, work)
    }
}

/// A body in memory as a single piece.
private actor OnePiece {
    private var bytes: Data?

    init(_ bytes: Data) { self.bytes = bytes }

    func take() -> Data? { bytes.take() }
}

import EssentialsHTTP
import EssentialsStorage
import EssentialsTools
import EssentialsTransport
import FoundationEssentials

/// Works on a directory of responses, on a file thread. Each lane does one thing after the other.
///
/// Nothing throws: what fails is counted, and finds or stores nothing.
actor DiskLane {
    private let queue = FileQueue()
    private let records: RecordDirectory
    private let health: DiskHealth
    /// Whether a time of use is being written. A disk that is slow does not keep the files of more.
    private let isNoting = Atomic(false)

    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    init(_ records: RecordDirectory, _ health: DiskHealth) { (self.records, self.health) = (records, health) }

    /// The result of work on the directory; `nil` if it has failed, or if the directory is left alone now.
    ///
    /// - Parameter isNeeded: Whether the work is done also if the directory is left alone.
    private func attempt<Value>(isNeeded: Bool = false, _ work: () throws(FileError) -> Value) -> Value? {
        guard isNeeded || health.isUsable else { return nil }
        do throws(FileError) {
            let value = try work()
            health.succeeded()
            return value
        } catch {
            if health.failed(error) { records.evict(bytes: records.usage.bytes / 10) }
            return nil
        }
    }

    // MARK: Finding

    func lookup(_ name: RecordKey, _ key: ResponseKey) -> ResponseLookup {
        guard let found = attempt({ () throws(FileError) in try records.lookup(name) }) else { return ResponseLookup() }
        let responses = found.records.compactMap { response($0, key) }
        return ResponseLookup(responses, ticket: found.condition.map { ResponseTicket(context: $0) })
    }

    func ticket(_ name: RecordKey) -> ResponseTicket? {
        guard health.stores else { return nil }
        return attempt { () throws(FileError) in try records.condition(of: name) }.map { ResponseTicket(context: $0) }
    }

    /// A stored response. A record that cannot be read is removed.
    private func response(_ record: StoredRecord, _ key: ResponseKey) -> StoredResponse? {
        guard let response = StoredResponse(bytes: record.head, for: key, body: content(record)) else {
            records.discard(record)
            return nil
        }
        return response
    }

    private nonisolated func content(_ record: StoredRecord) -> StoredContent {
        switch record.body {
        case .inline(let bytes): return StoredContent(Data(bytes))
        case .file(let file):
            var content = StoredContent(
                count: Int(clamping: file.size), file: StoredFile(file, stored: (record, self))
            ) { [self] range in await read(record, file, range) }
            content.readResident = { range in file.residentBytes(in: range) }
            return content
        }
    }

    /// The bytes of a range; `nil` if they are damaged.
    private func read(_ record: StoredRecord, _ file: CheckedFile, _ range: Range<Int>) -> Data? {
        // A body that is being served is read to its end, also if the directory is left alone meanwhile.
        guard let bytes = attempt(isNeeded: true, { () throws(FileError) in try file.bytes(in: range) }) else {
            return nil
        }
        if bytes == nil { records.discard(record) }
        return bytes
    }

    // MARK: Without waiting

    /// The same as ``lookup(_:_:)`` on the caller's thread; `nil` if that is not possible.
    nonisolated func residentLookup(_ name: RecordKey, _ key: ResponseKey) -> ResponseLookup? {
        guard health.isUsable, let found = records.residentLookup(name) else { return nil }
        let responses = found.records.compactMap { StoredResponse(bytes: $0.head, for: key, body: content($0)) }
        // A record that cannot be read is removed on a file thread.
        guard responses.count == found.records.count else { return nil }
        if !found.outdated.isEmpty,
            isNoting.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged
        {
            Task.detached { [self] in await noteUse(of: found.outdated) }
        }
        return ResponseLookup(responses, ticket: ResponseTicket(context: found.condition))
    }

    /// The same as ``ticket(_:)``.
    nonisolated func residentTicket() -> ResponseTicket? {
        guard health.stores else { return nil }
        return records.residentCondition().map { ResponseTicket(context: $0) }
    }

    private func noteUse(of files: [OpenFile]) {
        records.noteUse(of: files)
        isNoting.store(false, ordering: .relaxed)
    }

    // MARK: Storing

    /// The responses of a key with their records.
    private func found(_ name: RecordKey, _ key: ResponseKey) -> [(record: StoredRecord, response: StoredResponse)]? {
        attempt { () throws(FileError) in try records.records(for: name) }?.compactMap { record in
            response(record, key).map { (record, $0) }
        }
    }

    func store(
        _ response: StoredResponse, _ body: Data, _ name: RecordKey, _ key: ResponseKey, replacing replaced: UInt64?,
        if condition: RecordCondition
    ) -> Bool {
        guard var writer = begin(name, if: condition) else { return false }
        guard append([BodyChunk(body)], to: &writer) else {
            writer.abandon()
            return false
        }
        return commit(&writer, response, name, key, replacing: replaced) != nil
    }

    /// Begins a file, also if the directory is left alone, because a caller waits for it.
    ///
    /// - Parameter condition: `nil` if the file is not stored.
    func beginFile(_ name: RecordKey, if condition: RecordCondition?) throws(FileError) -> RecordWriter {
        do throws(FileError) {
            return try records.begin(name, isFile: true, if: condition)
        } catch {
            note(error)
            throw error
        }
    }

    func discard(_ record: StoredRecord) { records.discard(record) }

    /// Counts a failure of a file. If the disk is full, records are evicted.
    func note(_ error: FileError) { _ = attempt(isNeeded: true) { () throws(FileError) in throw error } }

    func begin(_ name: RecordKey, if condition: RecordCondition) -> RecordWriter? {
        guard health.stores else { return nil }
        return attempt { () throws(FileError) in try records.begin(name, if: condition) }
    }

    /// Appends pieces of a body; `false` if that has failed.
    func append(_ chunks: [BodyChunk], to writer: inout RecordWriter) -> Bool {
        for chunk in chunks {
            var failure: FileError?
            chunk.withUnsafeBytes { bytes in
                do throws(FileError) { try writer.append(UnsafeRawBufferPointer(bytes)) } catch { failure = error }
            }
            guard let failure else { continue }
            _ = attempt { () throws(FileError) in throw failure }
            return false
        }
        return true
    }

    /// Ends a record in the place of what it replaces, in an unused place, or in that of the oldest.
    ///
    /// - Returns: The record; `nil` if it was not stored.
    func commit(
        _ writer: inout RecordWriter, _ response: StoredResponse, _ name: RecordKey, _ key: ResponseKey,
        replacing replaced: UInt64?
    ) -> StoredRecord? {
        // It does nothing after the commit.
        defer { writer.abandon() }
        let head = response.bytes(for: key)
        guard let stored = found(name, key), head.count <= StoredResponse.maximumHead else { return nil }
        let isReplaced = { (other: StoredResponse) in other.bodyNumber == replaced || response.replaces(other) }
        let former = stored.filter { isReplaced($0.response) }
        guard former.allSatisfy({ $0.response.load < response.load }) else { return nil }
        let place = former.first ?? stored.min { $0.response.load < $1.response.load }
        let record = attempt { () throws(FileError) in
            let unused = former.isEmpty ? try records.unusedNumber(of: name) : nil
            // All places can belong to other partitions.
            let number = unused ?? place.map { $0.record.name.number - name.name.number } ?? Self.randomPlace
            return try writer.commit(head: head, number: number) { present in
                // Another process, or another lane, may have stored something newer meanwhile.
                guard let other = StoredResponse(bytes: present, for: key) else { return true }
                return !isReplaced(other) || other.load < response.load
            }
        }
        guard let record, let record else { return nil }
        for other in former.dropFirst() { records.remove(other.record) }
        return record
    }

    private static var randomPlace: UInt8 { .random(in: 0..<UInt8(MemoryResponseStore.maximumVariants)) }

    func freshen(_ response: StoredResponse, _ name: RecordKey, _ key: ResponseKey) -> Bool {
        let head = response.bytes(for: key)
        guard let stored = found(name, key),
            let old = stored.first(where: { $0.response.bodyNumber == response.bodyNumber }),
            old.response.load < response.load
        else { return false }
        guard head.count <= StoredResponse.maximumHead else {
            records.remove(old.record)
            return false
        }
        let record = attempt { () throws(FileError) in try records.replaceHead(of: old.record, by: head) }
        guard let record, record != nil else { return false }
        for other in stored
        where other.response.bodyNumber != response.bodyNumber && response.replaces(other.response) {
            records.remove(other.record)
        }
        return true
    }

    // MARK: Leases

    /// A lease; an inner `nil` if it cannot be written, so that every process asks the server.
    func lease(_ name: RecordKey, for duration: Duration, now: Duration) -> RecordLease?? {
        let lease = attempt { () throws(FileError) in try records.lease(name, for: duration, now: now) }
        guard let lease else { return .some(nil) }
        return lease.map { .some($0) }
    }

    func end(_ lease: RecordLease) { _ = attempt { () throws(FileError) in try records.end(lease) } }

    // MARK: Removing

    func invalidate(_ name: RecordKey) {
        attempt(isNeeded: true) { () throws(FileError) in try records.invalidate(name) }
    }

    /// - Parameter matches: A condition for the URLs.
    func remove(in scope: RecordScope, where matches: (@Sendable (RequestURL) -> Bool)?) {
        let condition = matches.map { matches in
            { (bytes: [UInt8]) in ResponseKey.url(in: bytes).map(matches) ?? true }
        }
        attempt(isNeeded: true) { () throws(FileError) in try records.removeAll(in: scope, where: condition) }
    }

    // MARK: Counting

    /// Counts what is stored, or reads the index, once.
    func count() { attempt { () throws(FileError) in try records.open() } }

    func writeIndex() { attempt { () throws(FileError) in try records.writeIndex() } }

    var recordUsage: RecordDirectory.Usage { records.usage }

    func usage() -> ResponseCache.Usage {
        let usage = records.usage
        var result = ResponseCache.Usage()
        (result.responses, result.bytes) = (usage.count, usage.bytes)
        return result
    }
}

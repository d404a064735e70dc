import EssentialsHTTP
import EssentialsStorage
import EssentialsTools
import EssentialsTransport
import FoundationEssentials

/// Keeps responses in the files of a directory, which several processes may share.
///
/// The URL is the key of a record, the account its partition and the origin its group. So the responses of a URL are
/// invalidated for all accounts at once, and a logout hides what it removes before it removes it. What else tells partitions
/// apart chooses one of ``bucketCount`` groups of places under that name, and is compared as a whole.
final class DiskResponseStore: ResidentResponseStore {
    /// How the directory is divided.
    struct Layout {
        /// The part of the budget that one response may take.
        var part = 8
        /// Whether each body is a file of its own, and no file is ever beyond the budget.
        var hasFiles = false

        static let ofResponses = Layout()
        /// That of a ``FileCache``.
        static let ofFiles = Layout(part: 1, hasFiles: true)
    }

    /// The number of groups of places for partitions of one account that differ in trust policy, environment or secrets.
    static let bucketCount = 32
    /// The number of calls that run at the same time.
    private static let laneCount = 4
    /// After how much time the index is written again.
    private static let indexTime = Duration.seconds(60)

    let largest: Int
    let fingerprintKey: FingerprintKey
    private let records: RecordDirectory
    private let lanes: [DiskLane]
    /// For what takes longer than a response.
    private let slowLane: DiskLane
    private let counter: DiskLane
    private let health: DiskHealth
    private let lastIndex = Mutex(ContinuousClock.now)

    /// Opens a directory. It blocks, but does not read what is stored.
    ///
    /// - Throws: `file` if it cannot be used; `resources` if there is no thread for files.
    init(_ directory: FileDirectory, bytes: Int, _ layout: Layout = .ofResponses) throws(RequestFailure) {
        try FileThreads.shared.start()
        let configuration = Self.configuration(bytes: bytes, layout)
        largest = configuration.maximumBytes / layout.part
        let records = RecordDirectory(absolute: directory.path, configuration, calls: directory.calls)
        let keyFile = FingerprintKeyFile(in: directory, temporary: RecordDirectory.temporaryName)
        try RequestFailure.onFile(directory.path, "could not be used for stored responses", phase: .preparation) {
            () throws(FileError) in try records.use()
        }
        fingerprintKey = keyFile.key
        if let failure = keyFile.failures.last {
            throw RequestFailure(
                .file, "The key of the directory \(directory.path) could not be read or written: \(failure).",
                remedy: "Choose a directory that only this program uses.", phase: .preparation,
                underlying: SystemError(failure))
        }
        let health = DiskHealth()
        (self.records, self.health) = (records, health)
        lanes = (0..<Self.laneCount).map { _ in DiskLane(records, health) }
        let slowLane = DiskLane(records, health)
        self.slowLane = slowLane
        // Counted now, so that the first response that is stored does not wait for it.
        let counter = DiskLane(records, health)
        self.counter = counter
        Task.detached { await counter.count() }
    }

    /// A file that only directories of responses have.
    static var ownName: String { RecordDirectory.invalidationsName }

    static func configuration(bytes: Int, _ layout: Layout = .ofResponses) -> RecordDirectory.Configuration {
        var configuration = RecordDirectory.Configuration(mark: "SErespns", version: 1, maximumBytes: bytes)
        configuration.maximumRecordBytes = configuration.maximumBytes / layout.part + StoredResponse.maximumHead
        if layout.hasFiles { (configuration.largestInlineBody, configuration.allowsLastBlockBeyond) = (0, false) }
        configuration.maximumHeadBytes = 2 * StoredResponse.maximumHead
        configuration.maximumCount = min(max(configuration.maximumBytes / 4_096, 1_024), 1 << 20)
        configuration.recordsPerKey = UInt8(MemoryResponseStore.maximumVariants)
        configuration.invalidatesAllPartitions = true
        return configuration
    }

    var problems: CacheProblems {
        var problems = health.problems
        if !records.hasNotedRemovals { problems.readableAfterRestart.append(records.path) }
        return problems
    }

    private func lane(_ key: RecordKey) -> DiskLane { lanes[Int(key.name.key % UInt128(Self.laneCount))] }

    // MARK: Keys

    /// The key of a record; `nil` if the responses must not outlive the process.
    private func recordKey(_ key: ResponseKey) -> RecordKey? {
        guard let partition = key.partition, !key.hasEnded else { return nil }
        let bucket = fingerprintKey.hash(of: Array(partition.utf8)) % UInt128(Self.bucketCount)
        let name = RecordName(
            key: urlHash(key.url), partition: hash(of: key.account), group: hash(of: key.url.origin),
            number: UInt8(bucket) * UInt8(MemoryResponseStore.maximumVariants))
        return RecordKey(name, key.bytes)
    }

    private func urlHash(_ url: RequestURL) -> UInt128 { fingerprintKey.hash(of: Array(url.description.utf8)) }

    private func hash(of account: EntityPartition?) -> UInt64 {
        let text = account.map { "\u{1}" + $0.name } ?? ""
        return UInt64(truncatingIfNeeded: fingerprintKey.hash(of: Array(text.utf8)))
    }

    private func hash(of origin: Origin) -> UInt64 {
        UInt64(truncatingIfNeeded: fingerprintKey.hash(of: Array(origin.description.utf8)))
    }

    // MARK: Finding

    func lookup(_ key: ResponseKey) async -> ResponseLookup {
        guard let name = recordKey(key) else { return ResponseLookup() }
        return await lane(name).lookup(name, key)
    }

    func ticket(for key: ResponseKey) async -> ResponseTicket? {
        guard let name = recordKey(key) else { return nil }
        return await lane(name).ticket(name)
    }

    func body(of response: StoredResponse, for key: ResponseKey) async -> StoredContent? {
        guard let name = recordKey(key) else { return nil }
        return await lane(name).lookup(name, key).responses.first { $0.bodyNumber == response.bodyNumber }?.body
    }

    func residentLookup(_ key: ResponseKey) -> ResponseLookup? {
        recordKey(key).flatMap { lane($0).residentLookup($0, key) }
    }

    func residentTicket(for key: ResponseKey) -> ResponseTicket? {
        recordKey(key).flatMap { lane($0).residentTicket() }
    }

    // MARK: Storing

    func store(
        _ response: StoredResponse, _ body: Data, for key: ResponseKey, replacing replaced: UInt64?,
        since ticket: ResponseTicket
    ) async -> Bool {
        guard let name = recordKey(key), let condition = ticket.context as? RecordCondition, body.count <= largest
        else {
            return false
        }
        let isStored = await lane(name).store(response, body, name, key, replacing: replaced, if: condition)
        writeIndexNowAndThen()
        return isStored
    }

    func begin(
        _ response: StoredResponse, for key: ResponseKey, replacing replaced: UInt64?, since ticket: ResponseTicket
    ) async -> (any ResponseWriter)? {
        guard let name = recordKey(key), let condition = ticket.context as? RecordCondition,
            let writer = await lane(name).begin(name, if: condition)
        else { return nil }
        writeIndexNowAndThen()
        return DiskResponseWriter(
            DiskResponseWriter.Target(response: response, name: name, key: key, replaced: replaced), writer,
            on: DiskLane(records, health), largest: largest)
    }

    func freshen(_ response: StoredResponse, for key: ResponseKey, since ticket: ResponseTicket) async -> Bool {
        guard let name = recordKey(key) else { return false }
        return await lane(name).freshen(response, name, key)
    }

    func lease(_ key: ResponseKey, for duration: Duration) async -> ResponseLease? {
        guard let name = recordKey(key), let now = BootTime.system?.elapsed else { return .free }
        let lane = lane(name)
        guard let lease = await lane.lease(name, for: duration, now: now) else { return nil }
        return lease.map { lease in ResponseLease { await lane.end(lease) } } ?? .free
    }

    // MARK: Removing

    func invalidate(_ url: RequestURL) async {
        let name = RecordKey(
            RecordName(key: urlHash(url), partition: hash(of: EntityPartition?.none), group: hash(of: url.origin)), [])
        await lane(name).invalidate(name)
    }

    func remove(in scope: ResponseScope) async {
        let group = scope.origin.map { hash(of: $0) }
        let scopes =
            scope.accounts.map { accounts in
                accounts.map { RecordScope(partition: hash(of: $0), group: group) }
            } ?? [RecordScope(group: group)]
        for part in scopes { await slowLane.remove(in: part, where: scope.matches) }
    }

    // MARK: Files

    /// Where a response is stored; `nil` if it must not outlive the process.
    func target(
        _ response: StoredResponse, _ key: ResponseKey, replacing replaced: UInt64?
    ) -> DiskResponseWriter.Target? {
        recordKey(key).map {
            DiskResponseWriter.Target(response: response, name: $0, key: key, replaced: replaced)
        }
    }

    /// Begins a file for a body.
    ///
    /// - Parameter target: `nil` if it is not stored.
    func beginFile(_ target: ResponseFileWriter.Target? = nil) async throws(FileError) -> ResponseFileWriter {
        let lane = DiskLane(records, health)
        let unnamed = RecordName(key: .random(in: .min ... .max), partition: 0, group: 0)
        let writer = try await lane.beginFile(
            target?.place.name ?? RecordKey(unnamed, []), if: target?.condition)
        writeIndexNowAndThen()
        return ResponseFileWriter(writer, target, on: lane)
    }

    /// The space that is reserved for files that are being written.
    var reserved: Int { records.reserved }

    func recordUsage() async -> RecordDirectory.Usage { await counter.recordUsage }

    func usage() async -> ResponseCache.Usage { await counter.usage() }

    func close() async { await slowLane.writeIndex() }

    private func writeIndexNowAndThen() {
        let isTime = lastIndex.withLock { last in
            guard ContinuousClock.now - last >= Self.indexTime else { return false }
            last = .now
            return true
        }
        if isTime { Task.detached { [slowLane] in await slowLane.writeIndex() } }
    }
}

import EssentialsHTTP

/// Blobs that are being removed together: those of an origin, of all accounts or of one.
struct BlobBar: Sendable, Hashable {
    let origin: UInt64
    /// The hash of the account's name; `nil` means all accounts.
    var account: UInt64?

    func concerns(_ name: EntityFile.Name) -> Bool {
        name.origin == origin && (account == nil || name.partition == account)
    }
}

/// What is in a directory of blobs, and which blobs are open. It is a value that touches no file.
///
/// The sum of what is stored and of what is reserved for blobs that are being written never exceeds the maximum. Whoever
/// takes files out of the index removes them before anything else is reserved.
struct BlobIndex: Sendable {
    /// The maximum number of blobs.
    static let maximumCount = EntityFileStore.maximumFiles
    /// The maximum number of blobs whose files are open.
    static let maximumOpen = 64
    /// The maximum number of blobs that are known not to be decodable.
    private static let maximumDoubts = 1_024
    /// Files take whole blocks on the disk.
    static let blockSize: Int64 = 4_096

    let maximumBytes: Int
    /// What is reserved for blobs that are being written.
    private(set) var reserved = 0
    /// The number of damaged blobs that were removed.
    var damaged = 0
    private var files: LeastRecentlyUsed<EntityFile.Name, UInt64>
    /// Open blobs by the text with which they were asked for in the place of now.
    private var open: LeastRecentlyUsed<String, BlobEntry>
    /// The number of the place in which the texts have their meaning.
    private var place: UInt64 = 0
    /// The origins and accounts whose blobs are being removed, and how often. They are not read until then.
    private var barred: [BlobBar: Int] = [:]
    /// Blobs whose bytes could not be decoded.
    private var doubted: Set<EntityFile.Name> = []

    init(maximumBytes: Int) {
        self.maximumBytes = min(max(maximumBytes, 0), 1 << 60)
        // The list itself evicts nothing, because the files of what it evicts are to be removed.
        files = LeastRecentlyUsed(maximumCount: .max, maximumBytes: .max)
        open = LeastRecentlyUsed(maximumCount: Self.maximumOpen, maximumBytes: 0)
    }

    var count: Int { files.count }
    /// The size of the stored blobs on the disk.
    var bytes: Int { files.bytes }

    /// The size of files on the disk.
    static func space(_ sizes: Int64...) -> Int {
        let blocks = sizes.reduce(0 as Int64) { $0 + (max(min($1, 1 << 50), 1) + blockSize - 1) / blockSize }
        return Int(clamping: blocks * blockSize)
    }

    // MARK: Open blobs

    /// The open blob for a text, which counts as a use.
    ///
    /// - Parameter place: The number of the place in which the blob was asked for. In another one than that of now there is
    ///   none, because the text may mean another blob.
    mutating func entry(for text: String, in place: UInt64) -> BlobEntry? {
        guard place == self.place, let entry = open.use(text), !isBarred(entry.name) else { return nil }
        _ = files.use(entry.name)
        return entry
    }

    /// Keeps a blob open for a text, if it is stored, and if the place in which it was asked for is still that of now.
    mutating func keepOpen(_ entry: BlobEntry, for text: String, in place: UInt64) {
        guard place == self.place, files.value(of: entry.name) == entry.record.generation else { return }
        _ = open.insert(entry, for: text, bytes: 0)
    }

    /// Forgets what texts mean, because they mean something else in the place with a number. A transfer that began in an
    /// earlier one and ends later gives them no meaning.
    mutating func enter(place: UInt64) {
        self.place = place
        closeAll()
    }

    // MARK: Bars

    /// Lets some blobs not be read until they are removed.
    mutating func bar(_ bar: BlobBar) { barred[bar, default: 0] += 1 }

    /// The blobs are removed.
    mutating func unbar(_ bar: BlobBar) {
        let count = barred[bar, default: 0] - 1
        barred[bar] = count > 0 ? count : nil
    }

    /// Whether a blob is not to be read.
    func isBarred(_ name: EntityFile.Name) -> Bool {
        !barred.isEmpty && barred.keys.contains { $0.concerns(name) }
    }

    /// Closes all blobs.
    mutating func closeAll() { open.removeAll { _ in true } }

    private mutating func close(_ name: EntityFile.Name) {
        let closed = Set(open.keys.filter { open.value(of: $0)?.name == name })
        if !closed.isEmpty { open.removeAll { closed.contains($0) } }
    }

    /// Notes that the bytes of a blob could not be decoded, so that the server is asked whether it has others.
    mutating func doubt(_ name: EntityFile.Name) {
        close(name)
        // A forgotten doubt only means that the blob is used again before the server is asked.
        if doubted.count >= Self.maximumDoubts { doubted = [] }
        doubted.insert(name)
    }

    /// Whether there was a doubt, which is over with this question.
    mutating func takeDoubt(of name: EntityFile.Name) -> Bool { doubted.remove(name) != nil }

    // MARK: Space

    /// Reserves space for a blob that is being written.
    ///
    /// - Returns: The files to remove before anything is written; `nil` if there is not so much space.
    mutating func reserve(_ bytes: Int) -> [BlobBodyName]? {
        guard bytes <= maximumBytes - reserved else { return nil }
        reserved += bytes
        return evict()
    }

    /// Gives space back.
    mutating func release(_ bytes: Int) { reserved = max(reserved - bytes, 0) }

    private mutating func evict() -> [BlobBodyName] {
        var evicted: [BlobBodyName] = []
        while files.bytes > maximumBytes - reserved || files.count > Self.maximumCount,
            let (name, generation) = files.removeOldest()
        {
            close(name)
            evicted.append(BlobBodyName(name, generation))
        }
        return evicted
    }

    // MARK: Stored blobs

    /// The generation of a stored blob.
    func generation(of name: EntityFile.Name) -> UInt64? { files.value(of: name) }

    /// Notes that a blob is stored, and that it was used.
    ///
    /// - Parameter reservation: The part of the space that was reserved for it.
    /// - Returns: The files to remove.
    mutating func insert(_ body: BlobBodyName, space: Int, reservation: Int = 0) -> [BlobBodyName] {
        release(reservation)
        if files.value(of: body.name) != body.generation { close(body.name) }
        _ = files.insert(body.generation, for: body.name, bytes: space)
        return evict()
    }

    /// Forgets a blob.
    mutating func remove(_ name: EntityFile.Name) {
        files.remove(name)
        close(name)
    }

    /// Forgets all blobs that fulfil a condition.
    mutating func removeAll(where isRemoved: (EntityFile.Name) -> Bool) {
        for name in files.removeAll(where: isRemoved) { close(name) }
    }
}

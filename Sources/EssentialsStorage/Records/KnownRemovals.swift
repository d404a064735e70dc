/// The removals of a directory as this process has last read or written them.
struct KnownRemovals: Sendable {
    var removals = RecordRemovals()
    /// The status of the file; `nil` if there was no file, because nothing was removed yet or the file was lost.
    var status: FileStatus?
    /// The same file, kept open so that no later file gets its inode number.
    var file: OpenFile?
    /// Whether the file is damaged. Then its removals are unknown.
    var isDamaged = false
    /// The number of times that this process has read or written the file.
    var version = 0
}

/// Removals that could not be written to the file. Only this process knows them.
struct UnwrittenRemovals: Sendable {
    private var scopes: Set<RecordScope> = []
    private var names: Set<RecordName> = []
    /// Increases with each removal that could not be written. Records that began at a smaller count are not committed.
    private(set) var count: UInt64 = 0

    var isEmpty: Bool { scopes.isEmpty && names.isEmpty }

    func contains(_ name: RecordName) -> Bool {
        !isEmpty && (names.contains(name) || scopes.contains { $0.contains(name) })
    }

    /// Refuses the commits of all records that are being written now.
    mutating func endCommits() { count += 1 }

    mutating func add(_ scope: RecordScope) {
        count += 1
        // The number of scopes is limited. Beyond the limit all records are hidden.
        scopes = scopes.count < RecordRemovals.maximumRemovals ? scopes.union([scope]) : [RecordScope()]
    }

    mutating func add(_ left: some Collection<RecordName>) {
        count += 1
        names.formUnion(left)
        guard names.count > RecordRemovals.maximumNames else { return }
        for name in names { add(RecordScope(partition: name.partition, group: name.group)) }
        names = []
    }

    /// Adds these removals to those that are written next.
    func note(in removals: inout RecordRemovals) {
        for scope in scopes { removals.begin(scope, isWhole: true) }
        if !names.isEmpty { removals.add(Array(names)) }
    }

    /// Removes the removals that have been written.
    mutating func subtract(_ other: UnwrittenRemovals) {
        scopes.subtract(other.scopes)
        names.subtract(other.names)
    }

    /// Removes a scope that no longer has files.
    mutating func remove(_ scope: RecordScope) { scopes.remove(scope) }

    /// Removes records that no longer have files.
    mutating func remove(_ removed: some Sequence<RecordName>) { names.subtract(removed) }
}

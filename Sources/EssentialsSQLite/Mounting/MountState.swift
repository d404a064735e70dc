#if Persistence
    import EssentialsPersistence

    /// The rows of temporary tables that differ in another state of the levels.
    struct MountChanges: Sendable {
        struct Change: Sendable, Equatable {
            let id: StoredValue
            let finding: OverlayMachine.Finding
        }

        /// Whether the temporary tables must be emptied first.
        var isFromScratch = false
        /// The changed rows of each table.
        var tables: [String: [Change]] = [:]

        fileprivate mutating func add(_ keys: some Sequence<RowKey>, of machine: OverlayMachine) {
            for key in keys { tables[key.table, default: []].append(Change(id: key.id, finding: machine.find(key))) }
        }

        /// All rows that have an entry in any level.
        fileprivate static func all(_ machine: OverlayMachine) -> MountChanges {
            var changes = MountChanges(isFromScratch: true)
            for table in machine.pendingTables {
                var list: [Change] = []
                for (index, level) in machine.levels.enumerated() {
                    let nearer = machine.levels[(index + 1)...]
                    for id in level.entries(in: table).keys {
                        let key = RowKey(table: table, id: id)
                        if nearer.contains(where: { $0.entry(key) != nil }) { continue }
                        list.append(Change(id: id, finding: machine.find(key)))
                    }
                }
                changes.tables[table] = list
            }
            return changes
        }
    }

    /// The content of the temporary tables of a connection.
    ///
    /// It keeps versions and ids, never levels: a level with a second reference is copied as a whole by its next
    /// change.
    struct MountState: Sendable, Equatable {
        /// The scope whose rows the tables hold; `nil` if they are empty.
        private(set) var scope: UInt64?
        /// The versions of the scope's levels that the tables hold; `nil` if they are unknown.
        private(set) var versions: [UInt64]?
        /// The rows that a further level has changed. They are written again whatever the versions are.
        private(set) var stale: Set<RowKey> = []
        /// The version of the further level; `nil` if the tables hold none.
        private var furtherVersion: UInt64?
        /// The tables that have temporary tables and a view.
        var mounted: Set<String> = []
        /// The number of rows that were written since the connection was opened.
        var written = 0
        /// The number of hidden rows of the file in each table, if it was counted since the last change of the tables.
        var hidden: [String: HiddenRows] = [:]

        /// The number of hidden rows of one table.
        struct HiddenRows: Sendable, Equatable {
            /// The version of the file, which changes with a commit by any other connection.
            let fileVersion: Int64
            let count: Int
        }

        /// Moves to the levels of a scope at the beginning of a read.
        ///
        /// - Returns: The changes to write.
        mutating func begin(_ machine: OverlayMachine, scope: UInt64) -> MountChanges {
            defer {
                self.scope = scope
                versions = machine.versions
                stale = []
                furtherVersion = nil
            }
            guard self.scope == scope, let versions, let keys = machine.changes(since: versions) else {
                return .all(machine)
            }
            var changes = MountChanges()
            changes.add(keys.union(stale), of: machine)
            return changes
        }

        /// Moves to changed levels within a read.
        ///
        /// - Parameter machine: The levels of the scope, or these and one further level on top, which ends with the
        ///   read. The version of the further level only grows within a read.
        /// - Returns: The changes to write.
        mutating func advance(to machine: OverlayMachine) -> MountChanges {
            guard let versions, let below = machine.changes(ofLowest: versions),
                machine.levels.count <= versions.count + 1
            else {
                // The number of levels has changed, or a log is too short.
                let depth = versions?.count
                self.versions = depth == machine.levels.count ? machine.versions : nil
                (stale, furtherVersion) = ([], nil)
                return .all(machine)
            }
            self.versions = Array(machine.versions.prefix(versions.count))
            var changes = MountChanges()
            guard machine.levels.count > versions.count, let further = machine.levels.last else {
                changes.add(below.union(stale), of: machine)
                (stale, furtherVersion) = ([], nil)
                return changes
            }
            if let furtherVersion, let changed = further.changes(since: furtherVersion) {
                // A unit of work calls this after each of its changes, so only the new changes are considered.
                stale.formUnion(changed)
                changes.add(below.union(changed), of: machine)
            } else {
                further.forEach { key, _ in stale.insert(key) }
                changes.add(below.union(stale), of: machine)
            }
            furtherVersion = further.version
            return changes
        }

        /// Ends a read whose transaction was committed. The changes of a further level are no longer valid.
        mutating func end() { furtherVersion = nil }

        /// Records that the tables are empty.
        mutating func clear() { (scope, versions, stale, furtherVersion, hidden) = (nil, nil, [], nil, [:]) }
    }
#endif

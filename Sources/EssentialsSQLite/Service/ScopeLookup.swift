#if Persistence
    public import EssentialsPersistence
    import EssentialsTools

    extension SQLitePersistenceService {
        /// The rows with these ids, if each of them is pending or deleted in the scope or in a scope above it.
        ///
        /// It takes a lock for one dictionary access at each level. It runs no SQL, and waits neither for I/O nor for
        /// other calls.
        public func rowsAtHand(of table: String, ids: [StoredValue]) -> (any WorkRows)? {
            guard core.process.isCurrent, let layout = core.readyStore?.schema.tables[table]?.layout,
                let found = ids.count == 1 ? pendingRow(of: table, id: ids[0]) : pendingRows(of: table, ids: ids)
            else { return nil }
            return RowsAtHand(layout, found)
        }

        private func pendingRow(of table: String, id: StoredValue) -> [StoredValue: StoredRow]? {
            let key = RowKey(table: table, id: id)
            var entry: OverlayEntry?
            // From the nearest to the farthest level. Rows that move are in the parent before they leave the child.
            for level in chain.reversed() {
                let isOpen = level.contents.withLock { contents in
                    if entry == nil { entry = contents.level.entry(key) }
                    return !contents.isClosed
                }
                guard isOpen else { return nil }
            }
            return entry.map { entry in entry.row.map { [id: $0] } ?? [:] }
        }

        private func pendingRows(of table: String, ids: [StoredValue]) -> [StoredValue: StoredRow]? {
            var found: [StoredValue: StoredRow] = [:]
            var missing = ids
            var versions: [UInt64] = []
            for level in chain.reversed() {
                let isOpen = level.contents.withLock { contents in
                    guard !contents.isClosed else { return false }
                    versions.append(contents.level.version)
                    missing.removeAll { id in
                        guard let entry = contents.level.entry(RowKey(table: table, id: id)) else { return false }
                        found[id] = entry.row
                        return true
                    }
                    return true
                }
                guard isOpen else { return nil }
            }
            guard missing.isEmpty else { return nil }
            // Rows of several levels are one state if no level has changed meanwhile.
            if ids.count > 1, chain.count > 1 {
                let now = chain.reversed().map { $0.contents.withLock { $0.level.version } }
                guard now == versions else { return nil }
            }
            return found
        }
    }
#endif

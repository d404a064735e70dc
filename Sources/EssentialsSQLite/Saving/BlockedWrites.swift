#if Persistence
    import EssentialsPersistence

    /// Writes that cannot be made because other rows still hold their values, and the order in which they are tried again.
    ///
    /// A write that needs a unique value waits for the row that has the value, if that row is to be written too. So each write
    /// is tried about once for each unique index, however long the path is along which values move. Rows that wait for each
    /// other in a circle go on when one of them gives its value up for a free one.
    struct BlockedWrites<Write> {
        /// A write that waits.
        struct Waiting {
            let key: RowKey
            let write: Write
            /// The columns whose value the write needs.
            let columns: [String]
        }

        /// A row in a circle, and the write that needs its value.
        struct Circle {
            let row: RowKey
            let write: Write
            let needed: Waiting
        }

        /// How often many writes that wait for no known row are tried, and up to how many writes a path of them is followed to
        /// its end, whatever its length.
        private static var maximumRounds: Int { 16 }
        private static var minimumBudget: Int { 100_000 }

        /// The maximum number of times that one row gives values up.
        private static var maximumMoves: Int { 8 }

        private var ready: [(key: RowKey, write: Write)]
        /// The writes that wait for each row.
        private var waiting: [RowKey: [Waiting]] = [:]
        /// The row that each waiting write waits for, and the write.
        private var holders: [RowKey: (holder: RowKey, write: Write)] = [:]
        /// The writes that wait for no known row.
        private var stuck: [(key: RowKey, write: Write)] = []
        private var unwritten: Set<RowKey>
        /// Rows from which circles are looked for, at least all that wait since they were last looked for.
        private var starts: [RowKey] = []
        /// The rows that are known to wait for no circle.
        private var hopeless: Set<RowKey> = []
        private var moves: [RowKey: Int] = [:]
        private var hasProgress = false
        /// How many more writes without a known row are tried again. Each of them may wait for all others.
        private var budget: Int

        /// - Parameter writes: The writes in the order of the save, one for each row.
        init(_ writes: [(key: RowKey, write: Write)]) {
            ready = writes.reversed()
            unwritten = Set(writes.map(\.key))
            budget = max(Self.maximumRounds * writes.count, Self.minimumBudget)
        }

        /// All writes that are left, in no order.
        var rest: [Write] { (ready + stuck).map(\.write) + holders.values.map(\.write) }

        /// The next write to try.
        mutating func next() -> (key: RowKey, write: Write)? { ready.popLast() }

        /// A write has succeeded. Those that wait for its row are tried again.
        mutating func isWritten(_ key: RowKey) {
            unwritten.remove(key)
            hasProgress = true
            release(key)
        }

        /// A write has failed again.
        ///
        /// - Parameter holder: The row that has the value of some columns, as far as it is known.
        mutating func hasFailed(_ write: Write, at key: RowKey, holder: (key: RowKey, columns: [String])?) {
            guard let holder, holder.key != key, unwritten.contains(holder.key) else {
                return stuck.append((key, write))
            }
            holders[key] = (holder.key, write)
            starts.append(key)
            waiting[holder.key, default: []].append(Waiting(key: key, write: write, columns: holder.columns))
        }

        /// A circle of writes that wait for each other; `nil` if there is none.
        mutating func circle() -> Circle? {
            while let start = starts.last {
                var path: [RowKey] = []
                var seen: Set<RowKey> = []
                var key = start
                while let next = holders[key], !hopeless.contains(key), seen.insert(key).inserted {
                    path.append(key)
                    key = next.holder
                }
                if seen.contains(key), let own = holders[key],
                    let needed = waiting[key]?.first(where: { seen.contains($0.key) })
                {
                    return Circle(row: key, write: own.write, needed: needed)
                }
                hopeless.formUnion(path)
                starts.removeLast()
            }
            return nil
        }

        /// A row of a circle has given up its value, or cannot.
        mutating func hasMoved(_ row: RowKey, _ isFree: Bool) {
            moves[row, default: 0] += 1
            if isFree, moves[row, default: 0] <= Self.maximumMoves { release(row) } else { hopeless.insert(row) }
        }

        /// Tries the writes that wait for no known row once more, if others have succeeded since.
        mutating func retry() -> Bool {
            guard hasProgress, !stuck.isEmpty, stuck.count <= budget else { return false }
            hasProgress = false
            budget -= stuck.count
            ready = stuck.reversed()
            stuck = []
            return true
        }

        private mutating func release(_ key: RowKey) {
            for write in waiting.removeValue(forKey: key) ?? [] {
                holders[write.key] = nil
                ready.append((write.key, write.write))
            }
        }
    }
#endif

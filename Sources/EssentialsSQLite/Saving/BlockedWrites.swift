#if Persistence
    import EssentialsPersistence

    /// Writes that fail because other rows still hold their unique values, and the order in which they are retried.
    ///
    /// A write that needs a unique value waits for the row that holds the value, if the save writes that row too. So
    /// each write is tried about once for each unique index, however long the chain of rows is. If rows wait for each
    /// other in a circle, one of them exchanges its value for a free one, so that the others can be written.
    struct BlockedWrites<Write> {
        /// A write that waits.
        struct Waiting {
            let key: RowKey
            let write: Write
            /// The columns whose values the write needs.
            let columns: [String]
        }

        /// A row in a circle, and the write that needs its value.
        struct Circle {
            let row: RowKey
            let write: Write
            let needed: Waiting
        }

        /// The number of rounds in which many writes that wait for no known row are retried. Few writes have more
        /// rounds through the minimum budget, so that a chain of any length among them is followed to its end.
        private static var maximumRounds: Int { 16 }
        private static var minimumBudget: Int { 100_000 }

        /// The maximum number of times that one row gives up a value.
        private static var maximumMoves: Int { 8 }

        private var ready: [(key: RowKey, write: Write)]
        /// The writes that wait for each row.
        private var waiting: [RowKey: [Waiting]] = [:]
        /// The row that each waiting write waits for, and the write.
        private var holders: [RowKey: (holder: RowKey, write: Write)] = [:]
        /// The writes that wait for no known row.
        private var stuck: [(key: RowKey, write: Write)] = []
        private var unwritten: Set<RowKey>
        /// The rows where the search for circles starts. They include all rows that began to wait since the last
        /// search.
        private var starts: [RowKey] = []
        /// The rows that do not wait for a circle, as far as is known.
        private var hopeless: Set<RowKey> = []
        private var moves: [RowKey: Int] = [:]
        private var hasProgress = false
        /// The remaining number of retries of writes that wait for no known row. Each of them may depend on all others.
        private var budget: Int

        /// - Parameter writes: The writes in the order of the save, one for each row.
        init(_ writes: [(key: RowKey, write: Write)]) {
            ready = writes.reversed()
            unwritten = Set(writes.map(\.key))
            budget = max(Self.maximumRounds * writes.count, Self.minimumBudget)
        }

        /// All remaining writes, in no order.
        var rest: [Write] { (ready + stuck).map(\.write) + holders.values.map(\.write) }

        /// The next write to try.
        mutating func next() -> (key: RowKey, write: Write)? { ready.popLast() }

        /// Records a successful write, and retries the writes that wait for its row.
        mutating func isWritten(_ key: RowKey) {
            unwritten.remove(key)
            hasProgress = true
            release(key)
        }

        /// Records a write that has failed again.
        ///
        /// - Parameter holder: The row that has the values of some columns, if it is known.
        mutating func hasFailed(_ write: Write, at key: RowKey, holder: (key: RowKey, columns: [String])?) {
            guard let holder, holder.key != key, unwritten.contains(holder.key) else {
                return stuck.append((key, write))
            }
            holders[key] = (holder.key, write)
            starts.append(key)
            waiting[holder.key, default: []].append(Waiting(key: key, write: write, columns: holder.columns))
        }

        /// A circle of writes that wait for each other; `nil` if there is no circle.
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

        /// Records whether a row of a circle has given up its value.
        mutating func hasMoved(_ row: RowKey, _ isFree: Bool) {
            moves[row, default: 0] += 1
            if isFree, moves[row, default: 0] <= Self.maximumMoves { release(row) } else { hopeless.insert(row) }
        }

        /// Retries the writes that wait for no known row, if others have succeeded since.
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

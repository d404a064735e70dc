import TestTools

#if Persistence
    import GRDB
    import Testing

    @testable import EssentialsPersistence
    @testable import EssentialsSQLite

    /// Scopes over films, studios and samples in a store, with a slow model of the store.
    struct MountWorld {
        struct Scope {
            let parent: UInt64?
            var level = OverlayLevel()
        }

        /// The number of queries. Each of them runs many times, so that its statements are prepared once.
        private static let queryCount = 40
        private static let tables: [(name: String, ids: Range<Int64>)] = [
            (Sample.table, 0..<10), (Film.table, 0..<8), (Studio.table, 0..<5),
        ]
        private static let migration = Migration(
            "1 tables",
            sql: """
                CREATE TABLE studio(id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL) STRICT;
                CREATE TABLE film(id INTEGER PRIMARY KEY NOT NULL, title TEXT NOT NULL, year INTEGER,
                    studio INTEGER) STRICT;
                CREATE INDEX film_studio ON film(studio);
                \(Sample.schema)
                """)

        private let store: OpenStore
        private let pool: MountPool
        /// The rows of the store.
        private var file: [RowKey: StoredRow] = [:]
        private var scopes: [UInt64: Scope] = [:]
        private var random: RandomQuery
        private let queries: [MountQuery]
        private var nextScope: UInt64 = 1
        private(set) var reads = 0
        /// The number of pairs of films and studios that were compared.
        private(set) var pairs = 0

        init(seed: UInt64) throws {
            store = try OpenStore(
                .temporary(models: [Sample.self, Film.self, Studio.self]), migrations: [Self.migration])
            pool = MountPool(path: store.database.name, schema: store.schema, maximum: 2)
            var random = RandomQuery(numbers: SeededNumbers(state: seed))
            queries = (0..<Self.queryCount).map { _ in random.mountQuery() }
            self.random = random
        }

        func close() throws {
            pool.close()
            store.mounts.close()
            try store.database.close()
        }

        private mutating func number(_ range: Range<Int>) -> Int { random.number(range) }

        private mutating func key() -> RowKey {
            // Half of all changes concern samples.
            let (name, ids) = Self.tables[Swift.max(number(0..<4) - 1, 0)]
            return RowKey(table: name, id: .integer(Int64.random(in: ids, using: &random.numbers)))
        }

        private mutating func row(_ key: RowKey) throws -> StoredRow {
            guard case .integer(let id) = key.id else { throw Stop() }
            let layout = try store.schema.table(key.table).layout
            switch key.table {
            case Film.table:
                let (year, studio) = (number(1918..<1925), number(-3..<6))
                let film = Film(
                    id: id, title: random.name(), year: year == 1918 ? nil : year,
                    studio: studio < 0 ? nil : Int64(studio))
                return try RowEncoder.row(film, layout: layout)
            case Studio.table: return try RowEncoder.row(Studio(id: id, name: random.name()), layout: layout)
            default:
                var sample = Sample.random(id: id, &random.numbers)
                // SQLite stores a negative zero without its sign.
                if sample.real == 0 { sample.real = 0 }
                return try RowEncoder.row(sample, layout: layout)
            }
        }

        private mutating func scope() throws -> UInt64 {
            try scopes.keys.sorted().randomElement(using: &random.numbers).orThrow()
        }

        // MARK: Steps

        /// A new set of scopes over the same store: up to four levels, with siblings.
        mutating func restart() {
            for scope in scopes.keys.sorted() where number(0..<2) == 0 { pool.forget(scope: scope) }
            scopes = [:]
            open(below: nil)
            for _ in 0..<number(1..<5) {
                if let parent = try? scope() { open(below: parent) }
            }
        }

        private mutating func open(below parent: UInt64?) {
            guard parent.map({ path($0).count < 4 && scopes.count < 6 }) ?? true else { return }
            scopes[nextScope] = Scope(parent: parent)
            nextScope += 1
        }

        /// Closes a scope and those within it.
        private mutating func close(_ scope: UInt64) {
            guard scopes[scope]?.parent != nil else { return }
            for other in scopes.keys.sorted() where path(other).contains(scope) {
                pool.forget(scope: other)
                scopes[other]?.level.rollback()
            }
            scopes = scopes.filter { !path($0.key).contains(scope) }
        }

        private func path(_ scope: UInt64) -> [UInt64] {
            var path = [scope]
            while let parent = scopes[path[0]]?.parent { path.insert(parent, at: 0) }
            return path
        }

        private func machine(_ scope: UInt64) throws -> OverlayMachine {
            try OverlayMachine(levels: path(scope).compactMap { scopes[$0]?.level })
        }

        private mutating func take(_ machine: OverlayMachine, _ scope: UInt64) {
            for (scope, level) in zip(path(scope), machine.levels) { scopes[scope]?.level = level }
        }

        mutating func step() throws {
            let scope = try scope()
            var machine = try machine(scope)
            switch number(0..<18) {
            case 0...8: try change(&machine)
            case 9: machine.rollback()
            case 10: _ = machine.discard([key()])
            case 11, 12: try machine.saveToParent { _ in .policy(.mine) }
            case 13: return try save(&machine, scope)
            case 14:
                let key = key()
                return try write([(key, number(0..<3) == 0 ? nil : row(key))])
            case 15: return open(below: scope)
            case 16: return close(scope)
            default: if number(0..<500) == 0 { try overflow(&machine) }
            }
            take(machine, scope)
        }

        /// Creates, updates or deletes a row.
        private mutating func change(_ machine: inout OverlayMachine) throws {
            let key = key()
            let seen = Self.fold(machine, file)[key]
            let row = try number(0..<3) == 0 ? nil : row(key)
            switch (seen, row) {
            case (nil, nil): break
            case (nil, let row?): try machine.create(row, at: key, stored: file[key])
            case (_, let row?): try machine.update(row, at: key, stored: file[key])
            case (_, nil): try machine.delete(key, stored: file[key])
            }
        }

        /// Makes more changes than a log keeps.
        private mutating func overflow(_ machine: inout OverlayMachine) throws {
            let key = key()
            guard Self.fold(machine, file)[key] != nil else { return }
            let rows = try [row(key), row(key)]
            for number in 0...(ChangeLog.capacity * 2) {
                try machine.update(rows[number % 2], at: key, stored: file[key])
            }
        }

        private mutating func save(_ machine: inout OverlayMachine, _ scope: UInt64) throws {
            var rows: [(RowKey, StoredRow?)] = []
            try machine.folded { _ in .policy(.mine) }.forEach { key, entry in rows.append((key, entry.row)) }
            try write(rows)
            machine.saved()
            take(machine, scope)
        }

        /// Writes rows into the store, like a save or a writer outside the scopes.
        private mutating func write(_ rows: [(key: RowKey, row: StoredRow?)]) throws {
            try store.database.write { db in
                for (key, row) in rows {
                    let table = SQLBuilder.quoted(key.table)
                    try db.cachedStatement(sql: "DELETE FROM \(table) WHERE id = ?")
                        .execute(arguments: [key.id.databaseValue])
                    guard let row else { continue }
                    let marks = row.values.map { _ in "?" }.joined(separator: ", ")
                    try db.cachedStatement(sql: "INSERT INTO \(table) VALUES (\(marks))")
                        .execute(arguments: StatementArguments(row.values.map(\.databaseValue)))
                }
            }
            for (key, row) in rows { file[key] = row }
        }

        // MARK: Comparing

        /// The rows that a scope sees.
        private static func fold(_ machine: OverlayMachine, _ file: [RowKey: StoredRow]) -> [RowKey: StoredRow] {
            var rows = file
            for level in machine.levels { level.forEach { key, entry in rows[key] = entry.row } }
            return rows
        }

        private struct Stop: Error {}

        /// Reads in a random scope, sometimes with the changes of a unit of work, and sometimes with an error at the
        /// end.
        mutating func read() throws {
            let scope = try scope()
            let machine = try machine(scope)
            let fails = number(0..<8) == 0
            let isUnit = number(0..<6) == 0
            var copy = self
            do {
                try pool.read(scope, machine.levels) { reads in
                    try copy.compare(reads, machine)
                    guard isUnit else { return }
                    var unit = try OverlayMachine(levels: machine.levels + [OverlayLevel()])
                    for _ in 0..<copy.number(1..<4) {
                        for _ in 0..<copy.number(0..<4) { try copy.change(&unit) }
                        try reads.apply(unit)
                        try copy.compare(reads, unit)
                    }
                    if copy.number(0..<3) == 0 {
                        try reads.apply(machine)
                        try copy.compare(reads, machine)
                    }
                    if fails { throw Stop() }
                }
            } catch is Stop {
                // The next read shows whether the state of the temporary tables is known.
            }
            (random, reads, pairs) = (copy.random, reads + 1, copy.pairs)
        }

        /// Compares the rows of a query, their number, and one more result with the fold of all rows.
        private mutating func compare(_ reads: MountedReads, _ machine: OverlayMachine) throws {
            let visible = Self.fold(machine, file)
            let query = queries[number(queries.indices)]
            let naive = NaiveQuery(
                rows: Dictionary(grouping: visible, by: \.key.table).mapValues { $0.map(\.value) })
            let rows = naive.rows(query.node)
            try #require(try reads.rows(query.node) == rows, query.comment)
            try #require(try reads.count(query.node) == rows.count, query.comment)
            switch number(0..<4) {
            case 0:
                let count = naive.rows(query.values).count
                try #require(try reads.count(query.values) == count, query.comment)
                // The same count through the view, which exists only while it is mounted.
                guard reads.isPending(query.node.table) else { return }
                let viewed = try SelectStatement.counting(query.values).values(reads.db)
                try #require(viewed == [.integer(Int64(count))], query.comment)
            case 1: try #require(try reads.values(query.distinct) == naive.values(query.distinct), query.comment)
            case 2:
                let counts = Dictionary(grouping: naive.values(query.values)) { $0 }.mapValues(\.count)
                let found = try reads.counts(query.values).map { ($0.value, $0.count) }
                try #require(Dictionary(uniqueKeysWithValues: found) == counts, query.comment)
            default: try join(reads, machine, query, visible, rows)
            }
        }

        /// Compares rows that are looked up by their ids, and films with the studios that they refer to.
        private mutating func join(
            _ reads: MountedReads, _ machine: OverlayMachine, _ query: MountQuery, _ visible: [RowKey: StoredRow],
            _ rows: [StoredRow]
        ) throws {
            let work = PersistenceWork(
                ScopeWork(
                    machine.adding(OverlayLevel()), reads: reads, store: store, scopes: [], mayChange: false,
                    isCancelled: { false }))
            let ids = (Int64(0)..<10).map { StoredValue.integer($0) }
            let table = query.node.table
            let seen = visible.filter { $0.key.table == table }
            let found = try work.rows.rows(of: table, ids: ids)
            try #require(found == Dictionary(uniqueKeysWithValues: seen.map { ($0.key.id, $0.value) }), query.comment)
            guard case .films(let films) = query else { return }
            let expected = try rows.map { row in
                let key = RowKey(table: Studio.table, id: row["studio"] ?? .null)
                return (
                    try RowDecoder.model(Film.self, from: row),
                    try visible[key].map { try RowDecoder.model(Studio.self, from: $0) }
                )
            }
            let joined = try work.fetch(films, with: MountQuery.relation)
            try #require(joined.map(\.0) == expected.map(\.0) && joined.map(\.1) == expected.map(\.1), query.comment)
            pairs += joined.count
        }
    }
#endif

#if Persistence
    import GRDB
    import Testing

    @testable import EssentialsPersistence
    @testable import EssentialsSQLite

    extension NaiveQuery {
        init(rows: [StoredRow]) { self.rows = rows }
    }

    /// Scopes over samples in a file, with a slow model of the file.
    struct MountWorld {
        struct Scope {
            let parent: UInt64?
            var level = OverlayLevel()
        }

        static let ids: Range<Int64> = 0..<10

        let fixture: MountFixture
        let pool: MountPool
        /// The rows of the file.
        var file: [Int64: StoredRow] = [:]
        var scopes: [UInt64: Scope] = [:]
        var random: RandomQuery
        private var nextScope: UInt64 = 1
        private(set) var reads = 0

        init(seed: UInt64) throws {
            fixture = try MountFixture()
            pool = fixture.pool(2)
            random = RandomQuery(numbers: SeededNumbers(state: seed))
        }

        mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random.numbers) }
        mutating func id() -> Int64 { Int64.random(in: Self.ids, using: &random.numbers) }

        mutating func row(_ id: Int64) throws -> StoredRow {
            var sample = Sample.random(id: id, &random.numbers)
            // SQLite stores a negative zero without its sign.
            if sample.real == 0 { sample.real = 0 }
            return try RowEncoder.row(sample, layout: fixture.schema.table(Sample.table).layout)
        }

        mutating func scope() throws -> UInt64 {
            try scopes.keys.sorted().randomElement(using: &random.numbers).orThrow()
        }

        // MARK: Steps

        /// A new set of scopes over the same file: up to four levels, with siblings.
        mutating func restart() {
            for scope in scopes.keys where number(0..<2) == 0 { pool.forget(scope: scope) }
            scopes = [:]
            open(below: nil)
            for _ in 0..<number(1..<5) {
                guard let parent = try? scope(), path(parent).count < 4 else { continue }
                open(below: parent)
            }
        }

        private mutating func open(below parent: UInt64?) {
            scopes[nextScope] = Scope(parent: parent)
            nextScope += 1
        }

        private func path(_ scope: UInt64) -> [UInt64] {
            var path = [scope]
            while let parent = scopes[path[0]]?.parent { path.insert(parent, at: 0) }
            return path
        }

        func machine(_ scope: UInt64) throws -> OverlayMachine {
            try OverlayMachine(levels: path(scope).compactMap { scopes[$0]?.level })
        }

        private mutating func take(_ machine: OverlayMachine, _ scope: UInt64) {
            for (scope, level) in zip(path(scope), machine.levels) { scopes[scope]?.level = level }
        }

        mutating func step() throws {
            let scope = try scope()
            var machine = try machine(scope)
            switch number(0..<14) {
            case 0...6: try change(&machine)
            case 7: machine.rollback()
            case 8: _ = machine.discard([RowKey(table: Sample.table, id: .integer(id()))])
            case 9, 10: try machine.saveToParent { _ in .policy(.mine) }
            case 11: return try save(&machine, scope)
            case 12: return try change(file: id(), to: number(0..<3) == 0 ? nil : row(id()))
            default: if number(0..<100) == 0 { try overflow(&machine) }
            }
            take(machine, scope)
        }

        mutating func change(_ machine: inout OverlayMachine) throws {
            let id = id()
            let key = RowKey(table: Sample.table, id: .integer(id))
            let seen = Self.fold(machine, file)[id]
            let row = try number(0..<3) == 0 ? nil : row(id)
            switch (seen, row) {
            case (nil, nil): break
            case (nil, let row?): try machine.create(row, at: key, stored: file[id])
            case (_, let row?): try machine.update(row, at: key, stored: file[id])
            case (_, nil): try machine.delete(key, stored: file[id])
            }
        }

        /// More changes than a log keeps.
        private mutating func overflow(_ machine: inout OverlayMachine) throws {
            let id = id()
            let key = RowKey(table: Sample.table, id: .integer(id))
            guard Self.fold(machine, file)[id] != nil else { return }
            let rows = try [row(id), row(id)]
            for number in 0...(ChangeLog.capacity * 2) {
                try machine.update(rows[number % 2], at: key, stored: file[id])
            }
        }

        private mutating func save(_ machine: inout OverlayMachine, _ scope: UInt64) throws {
            var rows: [(Int64, StoredRow?)] = []
            try machine.folded { _ in .policy(.mine) }.forEach { key, entry in
                if case .integer(let id) = key.id { rows.append((id, entry.row)) }
            }
            for (id, row) in rows { try change(file: id, to: row) }
            machine.saved()
            take(machine, scope)
        }

        private mutating func change(file id: Int64, to row: StoredRow?) throws {
            let table = SQLBuilder.quoted(Sample.table)
            try fixture.writer.write { db in
                try db.execute(sql: "DELETE FROM \(table) WHERE id = ?", arguments: [id])
                guard var values = row?.values else { return }
                values[0] = .integer(id)
                try db.execute(
                    sql: "INSERT INTO \(table) VALUES (?, ?, ?, ?, ?, ?, ?)",
                    arguments: StatementArguments(values.map(\.databaseValue)))
                file[id] = StoredRow(try fixture.schema.table(Sample.table).layout, values)
            }
            if row == nil { file[id] = nil }
        }

        // MARK: Comparing

        /// The rows that a scope sees.
        static func fold(_ machine: OverlayMachine, _ file: [Int64: StoredRow]) -> [Int64: StoredRow] {
            var rows = file
            for level in machine.levels {
                level.forEach { key, entry in
                    if case .integer(let id) = key.id { rows[id] = entry.row }
                }
            }
            return rows
        }

        /// Reads in a random scope, sometimes with the changes of a unit of work, and sometimes with an error at the end.
        mutating func read() throws {
            let scope = try scope()
            let machine = try machine(scope)
            let file = file
            let fails = number(0..<8) == 0
            let isUnit = number(0..<4) == 0
            var copy = self
            do {
                try pool.read(scope, machine.levels) { reads in
                    try copy.compare(reads, machine, file)
                    if isUnit {
                        var unit = try OverlayMachine(levels: machine.levels + [OverlayLevel()])
                        for _ in 0..<copy.number(1..<4) {
                            for _ in 0..<copy.number(0..<4) { try copy.change(&unit) }
                            try reads.apply(unit)
                            try copy.compare(reads, unit, file)
                        }
                        if copy.number(0..<3) == 0 {
                            try reads.apply(machine)
                            try copy.compare(reads, machine, file)
                        }
                    }
                    if fails { throw Stop() }
                }
            } catch is Stop {
                // The next read shows whether the temporary tables are known.
            }
            random = copy.random
            reads += 1
        }

        private struct Stop: Error {}

        private mutating func compare(
            _ reads: MountedReads, _ machine: OverlayMachine, _ file: [Int64: StoredRow]
        ) throws {
            let naive = NaiveQuery(rows: Array(Self.fold(machine, file).values))
            // The pending rows of a scope may all be the file's.
            let query = random.query(depth: 2)
            let comment = Comment(rawValue: "\(query.node)")
            let rows = naive.rows(query.node)
            try #require(try reads.rows(query.node) == rows, comment)
            try #require(try reads.count(query.node) == rows.count, comment)
            let filter = Query(filter: query.filter).values { $0.number }.node
            let count = naive.rows(filter).count
            try #require(try reads.count(filter) == count, comment)
            // The same count by the view alone, which is there only while it is mounted.
            let viewed = try SelectStatement.counting(filter).values(reads.db)
            if reads.isPending(Sample.table) { try #require(viewed == [.integer(Int64(count))], comment) }
            let values = query.values { $0.note }.distinct().node
            try #require(try reads.values(values) == naive.values(values), comment)
            try #require(try reads.counts(filter).map(\.count).reduce(0, +) == count, comment)
        }
    }
#endif

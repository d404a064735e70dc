import TestTools

#if Persistence
    import GRDB

    @testable import EssentialsPersistence
    @testable import EssentialsSQLite

    /// A model with a column of each kind, and rows with values that are easy to get wrong.
    struct Sample: PersistentModel, Hashable {
        var id: Int64
        var text: String
        var note: String?
        var number: Int?
        var real: Double?
        var bytes: [UInt8]?
        var other: Int64?

        static let table = "odd \"table\""
        static let columns = Columns()

        struct Columns: ModelColumns {
            let id = Column<Sample, Int64>("id")
            let text = Column<Sample, String>("text")
            let note = Column<Sample, String?>("note")
            let number = Column<Sample, Int?>("number")
            let real = Column<Sample, Double?>("real")
            let bytes = Column<Sample, [UInt8]?>("bytes")
            let other = Column<Sample, Int64?>("other")

            var all: [ModelColumn<Sample>] {
                [id.erased, text.erased, note.erased, number.erased, real.erased, bytes.erased, other.erased]
            }
        }

        static let layout = RowLayout(columns.all.map(\.name))
        static let names = layout.names

        static let schema = """
            CREATE TABLE "odd ""table\"""(id INTEGER PRIMARY KEY NOT NULL, text TEXT NOT NULL, note TEXT, number INTEGER,
                real REAL, bytes BLOB, other INTEGER) STRICT;
            CREATE INDEX by_text ON "odd ""table\"""(text);
            CREATE INDEX by_number ON "odd ""table\"""(number);
            """

        static let texts = [
            "", "a", "A", "ab", "abc", "b", "%", "_", "a%b", "a_b", "\\", "'", "\"", "''", "é", "e\u{301}", "É", "ß",
            "日本",
            "日", "👍🏽", "👍", "\u{D7FF}", "\u{E000}", "a\u{10FFFF}", "\u{10FFFF}\u{10FFFF}", "[a]", "*", "?", "a\nb", " a",
            "a ",
            "\u{1}", "ı", "İ", "--", "NULL",
        ]
        static let blobs: [[UInt8]] = [[], [0], [0, 0], [255], [97], [0, 255, 1]]
        static let numbers = [-2, -1, 0, 1, 2, Int.max, Int.min]
        static let reals = [-1.5, -0.0, 0, 0.5, 1, 2, 1e300, -.infinity, .infinity]

        static func random(id: Int64, _ numbers: inout SeededNumbers) -> Sample {
            func maybe<Value>(_ value: Value?) -> Value? { Bool.random(using: &numbers) ? value : nil }
            return Sample(
                id: id, text: text(&numbers), note: maybe(text(&numbers)),
                number: maybe(Self.numbers.randomElement(using: &numbers)),
                real: maybe(reals.randomElement(using: &numbers)), bytes: maybe(blobs.randomElement(using: &numbers)),
                other: maybe(.random(in: 0..<40, using: &numbers)))
        }

        static func text(_ numbers: inout SeededNumbers) -> String {
            let one = texts.randomElement(using: &numbers) ?? ""
            return Bool.random(using: &numbers) ? one : one + (texts.randomElement(using: &numbers) ?? "")
        }
    }

    extension NaiveQuery {
        init(_ samples: [Sample]) throws {
            self.init(rows: [Sample.table: try samples.map { try RowEncoder.row($0, layout: Sample.layout) }])
        }

        /// Tables of samples and others. The only condition in SQL is whether a sample has a number other than 0.
        init(rows: [String: [StoredRow]]) {
            self.init(tables: rows) { row in row["number"]?.isNull == false && row["number"] != 0 }
        }
    }

    /// A database in memory with random rows.
    struct SampleDatabase {
        let samples: [Sample]
        let queue: DatabaseQueue

        init(count: Int64, _ numbers: inout SeededNumbers) throws {
            let samples = (0..<count).map { Sample.random(id: $0, &numbers) }
            self.samples = samples
            queue = try DatabaseQueue()
            try queue.write { db in
                try db.execute(sql: Sample.schema)
                for sample in samples {
                    let row = try RowEncoder.row(sample, layout: Sample.layout)
                    try db.execute(
                        sql: "INSERT INTO \(SQLBuilder.quoted(Sample.table)) VALUES (?, ?, ?, ?, ?, ?, ?)",
                        arguments: StatementArguments(row.values.map(\.databaseValue)))
                }
            }
        }

        func fetch(_ query: Query<Sample>) throws -> [Sample] {
            let statement = try SelectStatement(query.node, columns: Sample.names)
            return try queue.read { db in
                try statement.rows(db, layout: Sample.layout).map { try RowDecoder.model(Sample.self, from: $0) }
            }
        }

        func values(_ node: RowQuery) throws -> [StoredValue] {
            let statement = try SelectStatement(node, columns: [])
            return try queue.read { try statement.values($0) }
        }

        func count(_ node: RowQuery) throws -> Int? {
            let statement = try SelectStatement.counting(node)
            return try queue.read { try Int.fetchOne($0, statement.request) }
        }
    }
#endif

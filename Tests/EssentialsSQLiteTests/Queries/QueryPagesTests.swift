import TestTools

#if Persistence
    import GRDB
    import Testing

    @testable import EssentialsPersistence
    @testable import EssentialsSQLite

    /// The pages of a query as statements.
    struct QueryPagesTests {
        private func plan(_ query: Query<Sample>) throws -> (lines: [String], rows: [StoredRow]) {
            var numbers = SeededNumbers(state: 1)
            let database = try SampleDatabase(count: 200, &numbers)
            return try database.queue.read { db in
                var pages = try QueryPages(query, size: 10)
                let first = try SelectStatement(#require(pages.next), columns: Sample.names)
                try pages.take(first.rows(db, layout: Sample.layout))
                let second = try SelectStatement(#require(pages.next), columns: Sample.names)
                let lines = try Row.fetchAll(
                    db, sql: "EXPLAIN QUERY PLAN \(second.sql)",
                    arguments: StatementArguments(second.arguments.map(\.databaseValue))
                ).map { row -> String in row["detail"] }
                return (lines, try second.rows(db, layout: Sample.layout))
            }
        }

        @Test(
            "A later page begins in the index of its order, in either direction",
            arguments: [
                (Sample.all, "PRIMARY KEY"),
                (Sample.all.sorted { [$0.id.descending] }, "PRIMARY KEY"),
                (Sample.all.sorted { [$0.text.ascending] }, "by_text"),
                (Sample.all.sorted { [$0.text.descending, $0.number.ascending] }, "by_text"),
            ])
        func plans(query: Query<Sample>, index: String) throws {
            let (lines, rows) = try plan(query)
            #expect(lines.contains { $0.hasPrefix("SEARCH") && $0.contains(index) }, "\(lines)")
            #expect(!lines.contains { $0.contains("MULTI-INDEX") || $0.hasPrefix("SCAN") }, "\(lines)")
            #expect(rows.count == 10)
        }

        @Test("Pages end at the limit, after a page that is not full, and after one that does not advance")
        func ends() throws {
            let row = try RowEncoder.row(Sample(id: 1, text: "a"), layout: Sample.layout)
            var limited = try QueryPages(Sample.all.limit(3), size: 2)
            #expect(limited.next?.limit == 2)
            try limited.take([row, RowEncoder.row(Sample(id: 2, text: "a"), layout: Sample.layout)])
            #expect(limited.next?.limit == 1)
            try limited.take([RowEncoder.row(Sample(id: 3, text: "a"), layout: Sample.layout)])
            #expect(limited.next == nil)
            var short = try QueryPages(Sample.all.offset(5), size: 2)
            #expect(short.next?.offset == 5)
            try short.take([row])
            #expect(short.next == nil)
            var stuck = try QueryPages(Sample.all, size: 1)
            try stuck.take([row])
            #expect(stuck.next?.offset == 0)
            let failure = #expect(throws: PersistenceFailure.self) { try stuck.take([row]) }
            #expect(failure?.reason == .invalidQuery)
            #expect(try QueryPages(Sample.all.limit(0), size: 1).next == nil)
        }
    }
#endif

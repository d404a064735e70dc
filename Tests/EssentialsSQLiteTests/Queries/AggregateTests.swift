#if Persistence
    import GRDB
    import Testing

    @testable import EssentialsPersistence
    @testable import EssentialsSQLite

    @Suite struct AggregateTests {
        private let queue: DatabaseQueue

        init() throws {
            queue = try DatabaseQueue()
            try queue.write { db in
                try db.execute(sql: Sample.schema)
                try db.execute(
                    sql: """
                        INSERT INTO "odd ""table\"""(id, text, number, real) VALUES
                            (1, 'a', 5, 0.5), (2, 'b', 5, NULL), (3, 'c', NULL, NULL), (4, 'd', -2, 1.5)
                        """)
            }
        }

        private func value(_ node: RowQuery, _ function: SelectStatement.Aggregate) throws -> StoredValue? {
            let statement = try SelectStatement.aggregating(node, function)
            return try queue.read { try statement.values($0).first }
        }

        @Test(
            "A sum, an average and both extremes are computed over the values that are not NULL",
            arguments: [
                (SelectStatement.Aggregate.sum, 8 as StoredValue), (.min, -2), (.max, 5), (.average, .real(8.0 / 3)),
            ])
        func aggregates(function: SelectStatement.Aggregate, expected: StoredValue) throws {
            #expect(try value(Sample.all.values { $0.number }.node, function) == expected)
        }

        @Test("Filter, order, limit and distinct values count")
        func parts() throws {
            let numbers = Sample.all.values { $0.number }
            #expect(try value(Sample.where { $0.number > 0 }.values { $0.number }.node, .sum) == 10)
            #expect(try value(Sample.all.sorted { [$0.id.descending] }.limit(3).values { $0.number }.node, .sum) == 3)
            #expect(try value(Sample.all.offset(1).values { $0.number }.node, .sum) == 3)
            #expect(try value(numbers.distinct().node, .sum) == 3)
            #expect(try value(Sample.where { $0.id > 9 }.values { $0.number }.node, .sum) == .null)
            #expect(try value(Sample.all.values { $0.real }.node, .max) == 1.5)
            #expect(try value(Sample.all.node, .max) == 4)
        }

        @Test("Values are counted from the smallest on, NULL first")
        func counts() throws {
            let statement = try SelectStatement.countingValues(Sample.all.values { $0.number }.node)
            let rows = try queue.read { try Row.fetchAll($0, statement.request).map { [$0[0], $0[1]] as [Int?] } }
            #expect(rows == [[nil, 1], [-2, 1], [5, 2]])
            let limited = try SelectStatement.countingValues(Sample.all.limit(2).values { $0.number }.node)
            #expect(try queue.read { try Row.fetchAll($0, limited.request).map { [$0[0], $0[1]] } } == [[5, 2]])
        }
    }
#endif

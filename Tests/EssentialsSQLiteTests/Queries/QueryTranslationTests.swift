import TestTools

#if Persistence
    import GRDB
    import Testing

    @testable import EssentialsPersistence
    @testable import EssentialsSQLite

    @Suite struct QueryTranslationTests {
        @Test("Random queries find the rows, values and counts that a naive evaluation finds")
        func randomQueries() throws {
            let seed = UInt64.random(in: .min ... .max)
            print("seed of random queries: \(seed)")
            var numbers = SeededNumbers(state: seed)
            let database = try SampleDatabase(count: 40, &numbers)
            let naive = try NaiveQuery(database.samples)
            var random = RandomQuery(numbers: numbers)
            for step in 0..<500 {
                let query = random.query()
                let where_ = Comment(rawValue: "seed \(seed), step \(step): \(query.node)")
                let expected = naive.rows(query.node)
                let found = try database.fetch(query)
                try #require(try found == expected.map { try RowDecoder.model(Sample.self, from: $0) }, where_)
                try #require(try database.count(query.node) == expected.count, where_)
                let distinct = query.values { $0.note }.distinct().node
                try #require(try database.values(distinct) == naive.values(distinct), where_)
                try #require(try database.count(distinct) == naive.values(distinct).count, where_)
                let values = query.values { $0.bytes }.node
                try #require(try database.values(values) == naive.values(values), where_)
            }
        }

        @Test("Each single operator finds the same rows as a naive evaluation, even when negated")
        func operators() throws {
            let seed = UInt64.random(in: .min ... .max)
            print("seed of operators: \(seed)")
            var numbers = SeededNumbers(state: seed)
            let database = try SampleDatabase(count: 60, &numbers)
            let naive = try NaiveQuery(database.samples)
            var nodes: [RowFilter] = []
            for text in Sample.texts {
                for match in RowFilter.TextMatch.allCases {
                    nodes += ["text", "note"].map { .text($0, match, RowFilter.Argument(text)) }
                }
                for comparison in RowFilter.Comparison.allCases {
                    nodes += ["text", "note"].map { .comparison($0, comparison, RowFilter.Argument(text)) }
                }
            }
            for comparison in RowFilter.Comparison.allCases {
                nodes += Sample.numbers.map { .comparison("number", comparison, RowFilter.Argument($0)) }
                nodes += Sample.reals.map { .comparison("real", comparison, RowFilter.Argument($0)) }
                nodes += Sample.blobs.map { .comparison("bytes", comparison, RowFilter.Argument($0)) }
                nodes += Sample.names.map { .comparison($0, comparison, RowFilter.Argument(Int?.none)) }
                nodes.append(.columns("other", comparison, "id"))
            }
            for node in nodes.flatMap({ [$0, .not($0)] }) {
                let query = Query<Sample>(filter: Filter(node))
                let expected = try naive.rows(query.node).map { try RowDecoder.model(Sample.self, from: $0) }
                try #require(try database.fetch(query) == expected, "seed \(seed): \(node)")
            }
        }

        @Test("A filter and its opposite find every row once")
        func complement() throws {
            let seed = UInt64.random(in: .min ... .max)
            var numbers = SeededNumbers(state: seed)
            let database = try SampleDatabase(count: 40, &numbers)
            var random = RandomQuery(numbers: numbers)
            for _ in 0..<300 {
                let filter = random.filter(3)
                let one = try database.count(Query(filter: filter).node) ?? -1
                let other = try database.count(Query(filter: !filter).node) ?? -1
                try #require(one + other == 40, "seed \(seed): \(filter.node)")
            }
        }

        @Test("Long chains of conditions are translated and run")
        func longChains() throws {
            var numbers = SeededNumbers(state: 1)
            let database = try SampleDatabase(count: 10, &numbers)
            let columns = Sample.columns
            let any = (0..<5000).reduce(columns.id == -1) { $0 || columns.id == Int64($1) }
            #expect(try database.count(Query(filter: any).node) == 10)
            let none = (0..<5000).reduce(columns.id == 0) { $0 && columns.id != Int64($1) }
            #expect(try database.count(Query(filter: none).node) == 0)
        }

        @Test("The first text after a prefix is beyond all texts with that prefix")
        func prefixEnd() {
            #expect(TextCondition.end(ofPrefix: "a") == "b")
            #expect(TextCondition.end(ofPrefix: "a\u{10FFFF}") == "b")
            #expect(TextCondition.end(ofPrefix: "\u{D7FF}") == "\u{E000}")
            #expect(TextCondition.end(ofPrefix: "\u{7F}") == "\u{80}")
            #expect(TextCondition.end(ofPrefix: "\u{10FFFF}") == nil)
        }

        @Test("A prefix is found with the index of its column")
        func prefixPlan() throws {
            var numbers = SeededNumbers(state: 1)
            let database = try SampleDatabase(count: 1, &numbers)
            let statement = try SelectStatement(
                Sample.where { $0.text.hasPrefix("a") }.node, columns: Sample.names)
            let plan = try database.queue.read { db in
                try String.fetchAll(
                    db, sql: "EXPLAIN QUERY PLAN " + statement.sql,
                    arguments: StatementArguments(statement.arguments.map(\.databaseValue)),
                    adapter: SuffixRowAdapter(fromIndex: 3))
            }
            #expect(plan.contains { $0.contains("by_text (text>? AND text<?)") }, "\(plan)")
        }
    }
#endif

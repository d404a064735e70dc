#if Persistence
    import EssentialsPersistence
    import GRDB
    import Testing

    @testable import EssentialsSQLite

    struct PendingCountTests {
        private let fixture: MountFixture
        /// Twenty of fifty films of 2000 are deleted, and one other film is changed.
        private let level: OverlayLevel

        init() throws {
            fixture = try MountFixture()
            try fixture.execute(
                """
                WITH RECURSIVE number(id) AS (VALUES (100) UNION ALL SELECT id + 1 FROM number WHERE id < 149)
                INSERT INTO film(id, title, year) SELECT id, 'Film', 2000 FROM number
                """)
            var level = OverlayLevel()
            for id in Int64(100)..<120 {
                try level.put(nil, "film", id, stored: fixture.film(id, "Film", 2000))
            }
            try level.put(fixture.film(1, "Metropolis", 1927), "film", 1, stored: fixture.film(1, "Metropolis", 1926))
            self.level = level
        }

        @Test("The number of all rows follows scopes and commits of others, and is recounted only after a change")
        func all() throws {
            let pool = fixture.pool()
            func count(_ level: OverlayLevel) throws -> (rows: Int, known: Int?) {
                try pool.read(1, [level]) { reads in
                    let known = reads.state.hidden["film"]?.count
                    return (try reads.count(Film.all.node), known)
                }
            }
            #expect(try count(level) == (33, nil))
            #expect(try count(level) == (33, 21))
            // One deleted film, and one other film.
            try fixture.execute("DELETE FROM film WHERE id IN (100, 120)")
            #expect(try count(level) == (32, 21))
            #expect(try count(level) == (32, 20))
            var changed = level
            try changed.put(nil, "film", 121, stored: fixture.film(121, "Film", 2000))
            #expect(try count(changed) == (31, nil))
            #expect(try count(changed) == (31, 21))
            pool.forget(scope: 1)
            #expect(try count(level) == (32, nil))
            pool.close()
        }

        @Test("A count by an index is right for few rows and for many, and finds its hidden rows by the index")
        func byIndex() throws {
            let pool = fixture.pool()
            try pool.read(1, [level]) { reads in
                let year = Film.where { $0.year == 2000 }
                // At first nothing is known about the statement, and later everything.
                for _ in 0..<3 {
                    #expect(try reads.count(year.node) == 30)
                    #expect(try reads.count(Film.where { $0.year == 1926 }.node) == 1)
                    #expect(try reads.count(Film.where { $0.year == 1927 }.node) == 1)
                    #expect(try reads.count(Film.where { $0.year > 1900 }.node) == 33)
                    #expect(try reads.count(Film.where { $0.title.hasSuffix("lm") }.node) == 30)
                }
                let sql = PendingSQL(table: try reads.schema.table("film"))
                let statement = try SelectStatement.counting(year.node, source: sql.hiddenFromRows).sql
                    .replacing("?", with: "2000")
                let plan = try MountedFile.plan(statement, reads.db)
                #expect(plan.first?.contains("SEARCH main.film USING COVERING INDEX film_year") == true, "\(plan)")
                #expect(plan.last?.contains("SEARCH temp.essentials_gone_film USING PRIMARY KEY") == true, "\(plan)")
            }
            pool.close()
        }
    }
#endif

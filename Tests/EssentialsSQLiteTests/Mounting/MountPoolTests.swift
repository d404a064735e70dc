#if Persistence
    import Dispatch
    import EssentialsTools
    import GRDB
    import Testing

    @testable import EssentialsPersistence
    @testable import EssentialsSQLite

    @Suite struct MountPoolTests {
        private struct Stop: Error {}

        private let fixture: MountFixture

        init() throws { fixture = try MountFixture() }

        /// A level with one new film and one deleted film.
        private func level() throws -> OverlayLevel {
            var level = OverlayLevel()
            try level.put(fixture.film(9, "Nosferatu", 1922), "film", 9)
            try level.put(nil, "film", 2, stored: fixture.film(2, "M", 1931))
            return level
        }

        @Test("Only tables with pending rows are mounted, and columns outside the model are read")
        func mounting() throws {
            let pool = fixture.pool()
            #expect(try pool.read(1, [OverlayLevel()]) { try $0.temporaryObjects() } == 0)
            #expect(try pool.read(1, [level()]) { try $0.temporaryObjects() } == 3)
            let rows = try pool.read(1, [level()]) { try $0.rows(Film.all.node) }
            #expect(
                rows.map { $0["note"] } == ["1", nil, nil] as [StoredValue?]
                    || rows.map { $0["note"] } == ["1", .null, .null])
            #expect(rows.allSatisfy { $0.layout === rows[0].layout })
            pool.close()
        }

        @Test("An error undoes the rows and the tables that the read has created")
        func rollback() throws {
            let pool = fixture.pool(1)
            let levels = [try level()]
            #expect(try pool.read(1, [OverlayLevel()]) { try $0.titles() } == ["Faust", "M", "Metropolis"])
            #expect(throws: Stop.self) { try pool.read(1, levels) { _ in throw Stop() } }
            #expect(try pool.read(1, [OverlayLevel()]) { try $0.temporaryObjects() } == 0)
            #expect(try pool.titles(1, levels) == ["Faust", "Metropolis", "Nosferatu"])
            var more = levels
            try more[0].put(fixture.film(8, "Der Golem", 1920), "film", 8)
            #expect(throws: Stop.self) { try pool.read(1, more) { _ in throw Stop() } }
            #expect(try pool.titles(1, more) == ["Der Golem", "Faust", "Metropolis", "Nosferatu"])
            #expect(pool.count == 1)
            pool.close()
        }

        @Test("The changes of a unit of work are gone in the next read")
        func unit() throws {
            let pool = fixture.pool(1)
            let level = try level()
            try pool.read(1, [level]) { reads in
                var unit = OverlayLevel()
                try unit.put(fixture.film(9, "Der Golem", 1920), "film", 9, stored: fixture.film(9, "Nosferatu", 1922))
                try reads.apply(OverlayMachine(levels: [level, unit]))
                #expect(try reads.titles() == ["Der Golem", "Faust", "Metropolis"])
            }
            #expect(try pool.titles(1, [level]) == ["Faust", "Metropolis", "Nosferatu"])
            pool.close()
        }

        @Test("Counts look up the hidden rows and do not scan the view, even with subqueries over pending tables")
        func counts() throws {
            let pool = fixture.pool()
            var level = try level()
            try level.put(fixture.studio(1, "Decla"), "studio", 1, stored: fixture.studio(1, "Ufa"))
            try pool.read(1, [level]) { reads in
                let decla = Studio.where { $0.name == "Decla" }.values { $0.id }
                #expect(try reads.count(Film.where { $0.studio.isIn(decla) }.node) == 2)
                #expect(try reads.count(Film.all.node) == 3)
                #expect(try reads.aggregate(Film.all.values { $0.year }.node, .max) == 1926)
                let sql = PendingSQL(table: try reads.schema.table("film"))
                let statement = try SelectStatement.counting(Film.all.node, source: sql.hidden).sql
                let plan = try MountedFile.plan(statement, reads.db)
                #expect(plan.contains { $0.contains("SEARCH main.film USING INTEGER PRIMARY KEY") }, "\(plan)")
                let range = try SelectStatement(Film.where { $0.year == 1920 }.node, columns: ["id"]).sql
                    .replacing("?", with: "1920")
                let both = try MountedFile.plan(range, reads.db)
                #expect(both.filter { $0.contains("SEARCH") && $0.contains("film_year") }.count == 2, "\(both)")
            }
            pool.close()
        }

        @Test("Forgetting a scope leaves empty tables, also after its running read")
        func forget() throws {
            let pool = fixture.pool()
            _ = try pool.titles(1, [level()])
            #expect(pool.idleScopes == [1])
            pool.forget(scope: 1)
            #expect(pool.idleScopes == [nil])
            try pool.read(1, [level()]) { _ in pool.forget(scope: 1) }
            #expect(pool.idleScopes == [nil])
            #expect(try pool.titles(2, [OverlayLevel()]) == ["Faust", "M", "Metropolis"])
            pool.close()
        }

        @Test("Closing waits for a running read, and then no read begins")
        func close() throws {
            let pool = fixture.pool()
            let ended = DispatchSemaphore(value: 0)
            let isDone = Mutex(false)
            try pool.read(1, [level()]) { reads in
                DispatchQueue.global().async {
                    pool.close()
                    isDone.withLock { $0 = true }
                    ended.signal()
                }
                let titles = try reads.titles()
                #expect(titles == ["Faust", "Metropolis", "Nosferatu"])
                let isClosed = isDone.withLock { $0 }
                #expect(!isClosed)
            }
            ended.wait()
            #expect(pool.count == 0)
            let failure = #expect(throws: PersistenceFailure.self) { try pool.titles(1, [OverlayLevel()]) }
            #expect(failure?.reason == .closed)
        }

        @Test("A read waits for a connection, and fails as busy after its timeout")
        func waiting() throws {
            let path = fixture.folder.file("store.sqlite")
            let short = MountPool(path: path, schema: fixture.schema, maximum: 1, timeout: .milliseconds(1))
            let level = try level()
            try short.read(1, [level]) { _ in
                let failure = #expect(throws: PersistenceFailure.self) { try short.titles(2, [level]) }
                #expect(failure?.reason == .busy)
            }
            short.close()
            let pool = fixture.pool(1)
            let group = DispatchGroup()
            let titles = Mutex<[[StoredValue]]>([])
            try pool.read(1, [level]) { _ in
                for scope in 2..<6 as Range<UInt64> {
                    DispatchQueue.global().async(group: group) {
                        let found = (try? pool.titles(scope, [scope % 2 == 0 ? level : OverlayLevel()])) ?? []
                        titles.withLock { $0.append(found) }
                    }
                }
            }
            group.wait()
            #expect(
                titles.withLock { Set($0) } == [["Faust", "Metropolis", "Nosferatu"], ["Faust", "M", "Metropolis"]])
            #expect(titles.withLock { $0.count } == 4)
            #expect(pool.count == 1)
            pool.close()
        }
    }
#endif

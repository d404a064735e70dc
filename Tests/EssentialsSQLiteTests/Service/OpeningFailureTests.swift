#if Persistence
    import Dispatch
    import EssentialsPersistence
    import Glibc
    import GRDB
    import Testing

    @testable import EssentialsSQLite

    /// The failures of calls on a store that is not open yet, or cannot be opened.
    @Suite(.timeLimit(.minutes(5)))
    struct OpeningFailureTests {
        private let fixture: StoreFixture

        init() throws { fixture = try StoreFixture() }

        private func wait<Value>(
            _ service: any PersistenceService, for call: PersistenceCall<Value>
        ) -> PersistenceFailure? {
            do throws(PersistenceFailure) {
                _ = try service.wait(for: call)
                return nil
            } catch {
                return error
            }
        }

        @Test("A blocking call fails as notReady while the store is being opened, also on scopes")
        func notReady() async throws {
            let gate = DispatchSemaphore(value: 0)
            let slow = Migration("2 slow") { _ in gate.wait() }
            let store = SQLitePersistenceService(fixture.store, migrations: [StoreFixture.first, slow])
            let edits = try store.child("edit")
            for service in [store, edits] as [any PersistenceService] {
                #expect(service.state == .opening)
                for failure in [
                    wait(service, for: .read { try $0.count(Company.all) }),
                    wait(service, for: .find(Company.self, id: 1)),
                    wait(service, for: .perform(save: .pending) { try $0.create(Company(id: 1, name: "Ufa")) }),
                    wait(service, for: .save(.store)), wait(service, for: .rollback()),
                ] {
                    #expect(failure?.reason == .notReady)
                    #expect(failure?.legacyCode == 2001)
                    #expect(failure?.store == fixture.path)
                }
            }
            gate.signal()
            try await store.ready()
            #expect(wait(edits, for: .read { try $0.count(Company.all) }) == nil)
            await store.close()
        }

        /// A cause for which a store cannot be opened.
        enum Cause: String, CaseIterable {
            case busy, newerSchema, migration, schemaMismatch, corrupt, readOnly, file, opening

            /// Only root may write everything.
            static var possible: [Cause] { allCases.filter { $0 != .readOnly || geteuid() != 0 } }
        }

        private func prepare(_ cause: Cause) async throws -> (migrations: [Migration], holder: StoreDatabase?) {
            let more = Migration("2 more", sql: "CREATE TABLE more(a)")
            switch cause {
            case .busy: return ([StoreFixture.first], try fixture.open())
            case .newerSchema: try fixture.open([StoreFixture.first, more]).close()
            case .migration:
                return ([StoreFixture.first, Migration("2 broken", sql: "INSERT INTO missing VALUES (1)")], nil)
            case .schemaMismatch:
                return ([Migration("1 other", sql: "CREATE TABLE company(id INTEGER PRIMARY KEY NOT NULL)")], nil)
            case .corrupt: fixture.write(Array(String(repeating: "no database ", count: 100).utf8), to: "store.sqlite")
            case .readOnly:
                try fixture.open().close()
                chmod(fixture.path, 0o400)
                return ([StoreFixture.first, more], nil)
            case .file: mkdir(fixture.path, 0o700)
            case .opening: try makeVirtual()
            }
            return ([StoreFixture.first], nil)
        }

        /// Makes a table use a module that this SQLite library lacks. No other reason covers this failure.
        private func makeVirtual() throws {
            try fixture.open().close()
            let queue = try DatabaseQueue(path: fixture.path)
            try queue.writeWithoutTransaction { db in
                try db.execute(
                    sql: """
                        PRAGMA writable_schema = ON;
                        DELETE FROM sqlite_schema WHERE tbl_name = 'company' AND type = 'index';
                        UPDATE sqlite_schema SET rootpage = 0, sql = 'CREATE VIRTUAL TABLE company USING missing(id, name)'
                            WHERE name = 'company';
                        """)
            }
            try queue.close()
        }

        @Test(
            "Every failure to open a store has the code 2001 and its own reason, in every call and scope",
            arguments: Cause.possible)
        func causes(_ cause: Cause) async throws {
            let (migrations, holder) = try await prepare(cause)
            let store = SQLitePersistenceService(fixture.store, migrations: migrations)
            let edits = try store.child("edit")
            do throws(PersistenceFailure) {
                try await edits.ready()
                Issue.record("The store was opened.")
            } catch {
                #expect(error.reason.name == cause.rawValue)
                #expect(error.legacyCode == 2001)
                if [.migration, .corrupt, .opening].contains(cause) { #expect(error.underlying is DatabaseError) }
            }
            for service in [store, edits] as [any PersistenceService] {
                for failure in [
                    wait(service, for: .read { try $0.count(Company.all) }), wait(service, for: .save(.store)),
                    wait(service, for: .find(Company.self, id: 1)), wait(service, for: .rollback()),
                ] {
                    #expect(failure?.reason.name == cause.rawValue)
                    #expect(failure?.legacyCode == 2001)
                    #expect(failure?.store == fixture.path)
                    #expect(failure?.message.isEmpty == false)
                }
            }
            await store.close()
            try holder?.close()
            rmdir(fixture.path)
        }
    }
#endif

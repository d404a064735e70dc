#if Persistence
    import EssentialsPersistence
    import GRDB
    import Glibc
    import Testing

    @testable import EssentialsSQLite
    @testable import StoreProbe

    /// Stores in which a change was interrupted while they had no log, for example during their creation, so that a
    /// journal is left.
    struct InterruptedChangeTests {
        private let folder: TemporaryFolder
        private var path: String { folder.file("copy.sqlite") }

        /// Copies a store and its journal while a transaction has written some of its pages.
        init() async throws {
            folder = try TemporaryFolder()
            let original = folder.file("store.sqlite")
            let store = Posting.service(original)
            try await store.create(Lane.unit.rows(after: 20), save: .store)
            try await store.create(Progress(id: Int64(Lane.unit.rawValue), step: 20), save: .store)
            await store.close()
            let queue = try DatabaseQueue(path: original)
            try await queue.writeWithoutTransaction { [folder] db in
                try db.execute(sql: "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; PRAGMA cache_spill = 1")
                try db.execute(sql: "BEGIN; UPDATE posting SET note = 'lost', amount = 0; DELETE FROM progress")
                for suffix in ["", "-journal"] {
                    let bytes = try folder.bytes("store.sqlite" + suffix)
                    try #require(!bytes.isEmpty)
                    try folder.write(bytes, to: "copy.sqlite" + suffix)
                }
                try db.execute(sql: "ROLLBACK")
            }
            try queue.close()
        }

        @Test("A store undoes an interrupted change when it opens")
        func opening() async throws {
            let found = try await FoundPostings(path)
            #expect(found.step == 20 && found.faults == [])
        }

        @Test("An inspection and a place that cannot be written give the remedy for an interrupted change")
        func reading() async throws {
            let inspection = try StoreInspection(path: path)
            let failure = #expect(throws: PersistenceFailure.self) { try inspection.information() }
            #expect(failure?.reason == .readOnly && failure?.remedy == "Open the store once where it can be written.")
            let journal = try folder.bytes("copy.sqlite-journal")
            let lines = try await ReadOnlyPlace.lines(of: path, in: folder, withoutWriting: folder.path)
            #expect(lines == ["inspect: readOnly", "open: readOnly"])
            // The inspection has changed nothing.
            #expect(try folder.bytes("copy.sqlite-journal") == journal)
            #expect(try await FoundPostings(path).step == 20)
        }
    }
#endif

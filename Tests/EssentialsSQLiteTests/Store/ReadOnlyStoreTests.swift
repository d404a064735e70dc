import TestTools

#if Persistence
    import EssentialsPersistence
    import Glibc
    import Testing

    @testable import EssentialsSQLite
    @testable import StoreProbe

    /// Stores in places that cannot be written.
    struct ReadOnlyStoreTests {
        private let fixture: StoreFixture

        init() throws { fixture = try StoreFixture() }

        @Test(
            "A read-only file, or a file in a read-only folder, can be read, and writes fail as readOnly",
            arguments: [false, true])
        func reading(isFolder: Bool) async throws {
            let store = Posting.service(fixture.path)
            try await store.create(Posting(id: 1, lane: 0, step: 0, amount: 0, note: "first"), save: .store)
            await store.close()
            let lines = try await ReadOnlyPlace.lines(
                of: fixture.path, in: fixture.folder, withoutWriting: isFolder ? fixture.folder.path : fixture.path)
            let begin = ["inspect: 1 rows, no new file", "open: done", "find: first"]
            let writes = ["save", "validate", "delete", "reserve", "import"].map { "\($0): readOnly" } + ["rows: 2, 1"]
            #expect(lines == begin + writes + writes + ["migrate: readOnly"])
            let again = Posting.service(fixture.path, more: [Migration("2 more", sql: "CREATE TABLE more(id)")])
            try await again.create(Posting(id: 2, lane: 0, step: 0, amount: 0, note: ""), save: .store)
            #expect(try await again.count(Posting.all) == 2)
            await again.close()
        }

        @Test("If a reader may not read the claim beside a store, the failure names the file")
        func hiddenClaim() async throws {
            let store = Posting.service(fixture.path)
            try await store.create(Posting(id: 1, lane: 0, step: 0, amount: 0, note: "first"), save: .store)
            await store.close()
            let lines = try await ReadOnlyPlace.lines(
                of: fixture.path, in: fixture.folder, withoutWriting: fixture.folder.path,
                withoutReading: fixture.path + "-owner", mode: "open")
            #expect(
                lines == [
                    "file: The store can only be read by this user, who must also be able to read \(fixture.path)-owner."
                ])
        }

        @Test("A new store in a read-only folder fails as readOnly")
        func creating() async throws {
            let folder = fixture.folder
            let lines = try await ReadOnlyPlace.lines(of: fixture.path, in: folder, withoutWriting: folder.path)
            #expect(lines == ["inspect: file", "open: readOnly"])
        }

        @Test("The path of a store is escaped in the name for SQLite")
        func names() {
            #expect(ReadOnlyStore.uri("/var/a b?#%é") == "file:/var/a%20b%3F%23%25%C3%A9?immutable=1")
            #expect(ReadOnlyStore.uri("shop.sqlite") == "file:./shop.sqlite?immutable=1")
        }

        @Test("A writable file is not a read-only store, nor is a missing one")
        func writable() throws {
            #expect(!ReadOnlyStore.isThere(fixture.path))
            fixture.write([], to: "store.sqlite")
            #expect(!ReadOnlyStore.isThere(fixture.path))
        }
    }

    extension ReadOnlyPlace {
        /// Removes everyone's right to write a file or its folder, and runs the program `StoreProbe` as a user without
        /// special rights.
        static func lines(
            of path: String, in folder: TemporaryFolder, withoutWriting place: String,
            withoutReading hidden: String? = nil, mode: String = "read"
        ) async throws -> [String] {
            if geteuid() == 0 {
                for file in [folder.path] + folder.entries.map(folder.file) {
                    try #require(chown(file, 65_534, 65_534) == 0)
                }
            }
            chmod(place, place == folder.path ? 0o500 : 0o400)
            if let hidden { chmod(hidden, 0) }
            defer { chmod(place, 0o700) }
            return try await ChildProcess.onThread {
                let process = try ChildProcess("StoreProbe", [mode, path])
                defer { process.wait() }
                return process.lines(for: .seconds(60))
            }
        }
    }
#endif

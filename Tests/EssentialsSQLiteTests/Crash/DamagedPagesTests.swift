#if Persistence
    import EssentialsPersistence
    import Glibc
    import Testing

    @testable import EssentialsSQLite

    /// Stores whose pages were overwritten from outside.
    struct DamagedPagesTests {
        enum Damage: CaseIterable {
            /// The first page, which has the header of the file.
            case header
            /// A page of rows in the middle of the file.
            case overwritten
            case zeros
            /// Only the pointers to the rows on a page. They lead to a row that is longer than the rest of the page.
            case pointers
            /// The second half is missing.
            case truncated

            func apply(to bytes: inout [UInt8]) throws {
                let starts = stride(from: bytes.count / 8_192 * 4_096, to: bytes.count, by: 4_096)
                // A page with the rows of a table begins with 13.
                let page = try #require(starts.first { bytes[$0] == 13 })
                switch self {
                case .header: bytes.replaceSubrange(0..<100, with: Array(repeating: 0xA5, count: 100))
                case .overwritten: bytes.replaceSubrange(page..<page + 4_096, with: repeatElement(0xA5, count: 4_096))
                case .zeros: bytes.replaceSubrange(page..<page + 4_096, with: repeatElement(0, count: 4_096))
                case .pointers:
                    for pointer in stride(from: page + 8, to: page + 40, by: 2) {
                        bytes.replaceSubrange(pointer..<pointer + 2, with: [0x0F, 0xF0])
                    }
                    bytes.replaceSubrange(page + 0xFF0..<page + 4_096, with: repeatElement(0x7F, count: 16))
                case .truncated: bytes.removeSubrange(page...)
                }
            }
        }

        private func failure(_ body: () async throws -> Void) async -> PersistenceFailure? {
            do {
                try await body()
                return nil
            } catch {
                return error as? PersistenceFailure
            }
        }

        @Test(
            "Overwritten pages make reads and saves fail as corrupt with the store's path, and nothing is erased",
            arguments: Damage.allCases)
        func damage(damage: Damage) async throws {
            let fixture = try StoreFixture()
            let whole = SQLitePersistenceService(fixture.store, migrations: [StoreFixture.first])
            let companies = (1...4_000).map { Company(id: $0, name: "Company \($0)") }
            try await whole.create(companies, save: .store)
            await whole.close()
            var bytes = fixture.read("store.sqlite")
            try damage.apply(to: &bytes)
            fixture.write(bytes, to: "store.sqlite")
            let files = fixture.folder.entries
            let store = SQLitePersistenceService(fixture.store, migrations: [StoreFixture.first])
            let edits = try store.child("edit")
            for _ in 0..<2 {
                let failures = [
                    await failure { _ = try await store.fetch(Company.all) },
                    await failure { _ = try await edits.fetch(Company.where { $0.name.hasSuffix("7") }) },
                    await failure {
                        try await edits.update(Company.all, save: .store) { $0.name += "!" }
                    },
                ]
                #expect(failures.map { $0?.reason } == Array(repeating: .corrupt, count: 3))
                #expect(failures.map { $0?.store } == Array(repeating: fixture.path, count: 3))
                #expect(failures.allSatisfy { $0?.remedy?.contains("essentials store check") == true })
            }
            await store.close()
            // Opening a store changes the first page, which also counts changes, and may add an empty one.
            let after = fixture.read("store.sqlite")
            let isKept = after.count >= bytes.count && after[4_096..<bytes.count] == bytes[4_096...]
            #expect(isKept)
            #expect(files.allSatisfy(fixture.folder.entries.contains))
        }
    }
#endif

#if Persistence
    import EssentialsPersistence

    @testable import EssentialsSQLite

    /// A store with the companies C1, C2 and C3, and two nested scopes.
    struct NestedScopes {
        private let fixture: StoreFixture
        let store: SQLitePersistenceService
        let edits: any PersistenceService
        /// The scope within ``edits``.
        let inner: any PersistenceService

        init() async throws {
            fixture = try StoreFixture()
            store = SQLitePersistenceService(fixture.store, migrations: [StoreFixture.first])
            try await store.create((1...3).map { Company(id: $0, name: "C\($0)") }, save: .store)
            edits = try store.child("edit")
            inner = try edits.child("inner")
        }
    }
#endif

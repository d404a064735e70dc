// swift-format-ignore-file
// The code stands as in the documentation comments.

#if Persistence
    import EssentialsPersistenceTestKit
    import EssentialsSQLite
    import EssentialsPersistence
    import Testing

    private func DatabaseService(_ store: SQLiteStore) -> any PersistenceService { given() }

    // PersistenceServiceConformance.swift
    private func persistenceServiceConformanceExample() async throws {
        for part in PersistenceServiceConformance.all {
            let violations = await part.violations {
                DatabaseService(.temporary(models: PersistenceServiceConformance.models))
            }
            #expect(violations == [], "\(part)")
        }
    }
#endif

public import EssentialsLocator
public import EssentialsPersistence

#if Persistence
    public import EssentialsSQLite

    /// Closing the locator closes the store, or drops what is pending in a scope of it.
    extension SQLitePersistenceService: Closeable {}
#endif

extension ServiceLocator {
    /// Opens a scope of the persistence service that this locator resolves, and registers it in this locator, so that all
    /// of a workflow works on its pending rows. Closing the locator closes the scope, which drops what was not saved.
    ///
    /// ```swift
    /// try await app.withScope("edit") { workflow in
    ///     let edits = try workflow.openPersistence()
    ///     try await edits.update(film.id, save: .pending) { $0.year = 1927 }
    ///     try await edits.save(.store)              // without this line nothing has happened
    /// }
    /// ```
    ///
    /// Any thread. The store need not be open yet.
    ///
    /// - Parameters:
    ///   - name: The scope's name, for messages. The default is the name of the locator.
    ///   - resolution: How conflicts are decided if a save does not say. The default is that of the scope above.
    /// - Returns: The scope, which the locator holds too.
    /// - Throws: `ServiceLocatorError` if no persistence service is found, or this locator has one of its own already;
    ///   `PersistenceFailure` with the reason `closed`, or `limit` if there are too many scopes within each other.
    @discardableResult
    public func openPersistence(
        _ name: String? = nil, resolving resolution: ConflictResolution? = nil
    ) throws -> any PersistenceService {
        let parent = try resolve((any PersistenceService).self)
        let scope = try parent.child(name ?? self.name, resolving: resolution)
        try register(scope, as: (any PersistenceService).self)
        if !(scope is any Closeable) {
            try register(ScopeCloser(scope: scope), as: ScopeCloser.self)
        }
        return scope
    }
}

/// Closes a scope whose type does not conform to `Closeable`, such as that of a test double.
private struct ScopeCloser: Closeable {
    let scope: any PersistenceService

    func close() async { await scope.close() }
}

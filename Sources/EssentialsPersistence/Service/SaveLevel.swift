/// How far a call saves its changes. Each call that changes rows names its level; there is no default.
///
/// ```swift
/// try await edits.update(film.id, save: .pending) { $0.year = 1927 }   // only this scope and those below see it
/// try await edits.save(.store)                                         // now everybody does
/// ```
public enum SaveLevel: String, Sendable, Hashable, CaseIterable {
    /// The change stays pending in the scope. The scope and the scopes below it see the change.
    case pending
    /// All pending rows of the scope move to its parent scope; those of the root scope are saved into the store.
    case parent
    /// All pending rows of the scope and of all scopes above it are saved into the store, in one transaction.
    case store
}

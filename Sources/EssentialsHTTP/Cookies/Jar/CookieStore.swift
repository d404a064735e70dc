/// Keeps the cookies of a jar after the jar is gone. A jar without a store keeps them in memory only.
package protocol CookieStore: Sendable {
    /// Reads all cookies, in the order of their creation. The call may block.
    ///
    /// - Throws: `file` if the store exists but cannot be used.
    func load() throws(RequestFailure) -> [Cookie]

    /// Saves the changes of a journal. Calls run one after another.
    ///
    /// - Throws: `file` if they cannot be saved; the journal then has the changes again.
    func save(_ journal: any CookieJournal) async throws(RequestFailure)
}

/// The changes of a jar that its store does not have yet.
package protocol CookieJournal: Sendable {
    /// The number of changed cookies.
    var changeCount: Int { get }

    /// Hands over all changes. The store calls one of the other two methods next.
    func takeChanges() -> [CookieIdentity: CookieChange]

    /// Takes back changes that could not be saved.
    func restore(_ changes: [CookieIdentity: CookieChange])

    /// Reports that changes were saved.
    ///
    /// - Parameters:
    ///   - kept: The identities of the stored cookies that the store keeps.
    ///   - contents: All cookies of the store if another process has changed it; otherwise `nil`.
    func confirm(
        _ changes: [CookieIdentity: CookieChange], kept: Set<CookieIdentity>, contents: [Cookie]?)
}

extension CookieJournal {
    package var hasChanges: Bool { changeCount > 0 }
}

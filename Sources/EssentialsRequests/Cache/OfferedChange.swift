import EssentialsHTTP

/// What a response would change in the cache of a ``CacheBinding``, once its reader agrees.
package final class OfferedChange: Sendable {
    enum Kind: Sendable {
        /// The response is stored, in place of that with a number of its body. If it is not, the outdated one is not used
        /// without the server any more.
        case store(StoredResponse, replacing: UInt64?, outdated: StoredResponse?)
        /// A stored response is not used without the server any more.
        case makeStale(StoredResponse)
    }

    let kind: Kind
    let key: ResponseKey
    let ticket: ResponseTicket
    private let submission: Submission
    private let store: any ResponseStore

    init(
        _ kind: Kind, _ key: ResponseKey, _ ticket: ResponseTicket, _ submission: Submission,
        in store: any ResponseStore
    ) {
        (self.kind, self.key, self.ticket, self.submission, self.store) = (kind, key, ticket, submission, store)
    }

    /// Whether the response can be stored.
    package var stores: Bool { if case .store = kind { true } else { false } }

    /// Whether an attempt had credentials, cookies or other secrets, on whichever way the response was reached.
    package var isPersonal: Bool { if case .store(let response, _, _) = kind { response.isPersonal } else { false } }

    /// Whether the credentials of the request still allow the change.
    var isAllowed: Bool { submission.mayStore }

    /// Lets what is stored not be used without the server any more, because the response is newer and is not stored.
    package func supersede() async {
        guard isAllowed else { return }
        switch kind {
        case .makeStale(let outdated), .store(_, replacing: _, outdated: let outdated?):
            _ = await store.freshen(outdated, for: key, since: ticket)
        case .store: break
        }
    }
}

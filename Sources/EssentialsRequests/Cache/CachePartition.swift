import EssentialsHTTP

/// For whom and under which trust a response was fetched. It is part of the key of each stored response, so that a response
/// is never found for another account, tenant or trust policy.
///
/// It is an object, because many keys hold it, and its hash is computed once.
final class CachePartition: Sendable, Hashable {
    /// Whose credentials the request had.
    enum Account: Sendable, Hashable {
        /// No credentials.
        case anonymous
        /// The credentials of one scope, which keeps its identity through every refresh of a token.
        case session(Session)
        /// The account that the application has named.
        case named(EntityPartition)
    }

    /// A scope of credentials. It outlives the credentials, and no later scope is equal to it.
    struct Session: Sendable, Hashable {
        let phase: ScopePhase

        static func == (one: Session, other: Session) -> Bool { one.phase === other.phase }

        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(phase)) }
    }

    /// What tells partitions apart.
    struct Content: Sendable, Hashable {
        /// The fingerprint of the trust policy under which the request is sent.
        let trust: String
        /// Where requests go if their URLs do not decide it alone; empty if they do.
        let route: String
        /// The name and the header fields of the environment; empty at other origins, which do not receive the fields.
        let environment: String
        let account: Account
        /// A hash of the values of the request's own secret fields; zero if there are none.
        let secrets: UInt128
        /// The storage of cookies that the request uses. It is retained, so that no later storage can be taken for it.
        let cookies: CookieChoice?
        /// The number of the storage's session, which ends when a logout removes the cookies.
        let session: UInt64
    }

    let content: Content
    /// The options with which stored heads are read.
    let options: CacheOptions
    /// The partition as a text that is the same in every process with one key for secrets; `nil` if it must not outlive the
    /// process.
    let name: String?
    let number: Int

    init(_ content: Content, _ options: CacheOptions, name: String?) {
        (self.content, self.options, self.name) = (content, options, name)
        number = content.hashValue
    }

    var account: Account { content.account }
    /// Whether the application has named the account.
    var isNamed: Bool { if case .named = account { true } else { false } }

    /// Whether its credentials were cleared or replaced, so that nothing is ever found in it again.
    var hasEnded: Bool {
        if case .session(let session) = account { session.phase.hasEnded } else { false }
    }

    static func == (one: CachePartition, other: CachePartition) -> Bool {
        one === other || one.number == other.number && one.content == other.content
    }

    func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

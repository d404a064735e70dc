import EssentialsHTTP
import Synchronization

/// The scopes of credentials by origin.
final class AuthorizationStore: Sendable {
    /// The credentials of one origin, as the stages use them.
    enum Content: Sendable {
        case field(String)
        case digest(DigestSession)
        case tokens(TokenSession)

        init(_ credentials: Credentials, for origin: Origin) {
            self =
                switch credentials.content {
                case .field(let value): .field(value)
                case .digest(let account): .digest(DigestSession(account, for: origin))
                case .tokens(let source): .tokens(TokenSession(source))
                }
        }

        /// Ends what belongs to the credentials.
        ///
        /// - Parameter new: The same credentials, if they were set again.
        func end(replacedBy new: Content?) {
            guard case .tokens(let session) = self else { return }
            if case .tokens(let successor)? = new { session.end(replacedBy: successor) } else { session.end() }
        }
    }

    private struct State {
        /// One scope for each origin, in the order of their beginning.
        var scopes: [CredentialScope] = []
        /// Earlier scopes without credentials that the first credentials have followed, until a clearing ends them.
        var followed: [CredentialScope] = []
        /// The scopes for which accounts were used or entered last.
        var accounts: [AccountUse: CredentialScope] = [:]
    }

    private struct AccountUse: Hashable {
        let origin: Origin
        let account: String
    }

    /// More origins than any application has environments. When it is exceeded, the oldest entry is removed, one without
    /// credentials first.
    static let limit = 64
    /// The maximum number of accounts that are remembered. Beyond it all are forgotten, and count as never used.
    static let accountLimit = 1_024

    private let state = Mutex(State())

    /// Sets the credentials of an origin.
    ///
    /// - Returns: Whether they have replaced others, whose scope has ended.
    func set(_ new: Credentials, for origin: Origin) -> Bool {
        let scope = CredentialScope(new, for: origin)
        typealias Change = (former: CredentialScope?, oldest: CredentialScope?, isSame: Bool)
        let (former, oldest, isSame) = state.withLock { state -> Change in
            let former = state.scopes.first { $0.origin == origin }
            if let former, former.includes(new) { return (former, nil, true) }
            state.scopes.removeAll { $0.origin == origin }
            if let former, !former.hasCredentials {
                former.follow()
                state.followed.append(former)
                if state.followed.count > Self.limit { state.followed.removeFirst() }
            }
            return (former, Self.add(scope, &state), false)
        }
        oldest?.end()
        guard let former else { return false }
        // Without the lock, because waiting requests continue.
        if isSame { former.renew() } else if former.hasCredentials { former.end() }
        return !isSame && former.hasCredentials
    }

    /// Ends the scope of an origin, with or without credentials.
    func clear(_ origin: Origin) {
        let ended = state.withLock { state in
            let ended = (state.scopes + state.followed).filter { $0.origin == origin }
            state.scopes.removeAll { $0.origin == origin }
            state.followed.removeAll { $0.origin == origin }
            return ended
        }
        for scope in ended { scope.end() }
    }

    /// Ends the refreshes of the service. Its requests have ended.
    func close() {
        for scope in state.withLock({ $0.scopes }) { scope.content?.end(replacedBy: nil) }
    }

    /// Adds a scope, and returns the one that had to go for it.
    private static func add(_ scope: CredentialScope, _ state: inout State) -> CredentialScope? {
        state.scopes.append(scope)
        guard state.scopes.count > limit else { return nil }
        let position = state.scopes.dropLast().firstIndex { !$0.hasCredentials } ?? 0
        return state.scopes.remove(at: position)
    }

    // MARK: Requests

    /// The scope of a request that is submitted now: that of its operation or, if that is for another origin or there is
    /// none, the present one.
    func scope(for origin: Origin, of request: DataRequest) -> CredentialScope {
        if let scope = request.scope, scope.origin == origin { return scope }
        return scope(for: origin)
    }

    /// The scope in which an operation at an origin begins.
    func scope(for origin: Origin) -> CredentialScope {
        let (scope, oldest) = state.withLock { state -> (CredentialScope, CredentialScope?) in
            if let scope = state.scopes.first(where: { $0.origin == origin }) { return (scope, nil) }
            let scope = CredentialScope(nil, for: origin)
            return (scope, Self.add(scope, &state))
        }
        // It has no credentials, or there are more origins with credentials than can be remembered.
        if let oldest, oldest.hasCredentials { oldest.end() }
        return scope
    }

    /// The scope of a request whose preparation has ended: that in which it was submitted or, if that has no credentials,
    /// the present one, so that an interceptor can log in.
    ///
    /// - Throws: `authorization` if the scope has ended.
    func bound(_ submitted: CredentialScope) throws(RequestFailure) -> CredentialScope {
        guard !submitted.hasEnded else { throw CredentialScope.endedFailure(host: submitted.origin.host.text) }
        return submitted.isCurrent || submitted.hasCredentials ? submitted : scope(for: submitted.origin)
    }

    // MARK: Accounts

    /// Whether the stores of an account may be read and written in a scope. Credentials that have replaced others, or that
    /// were set after a logout, suspend the account until it is entered again.
    func admits(_ account: String, in scope: CredentialScope) -> Bool {
        guard !account.isEmpty else { return true }
        guard !scope.hasEnded else { return false }
        return state.withLock { state in
            let use = AccountUse(origin: scope.origin, account: account)
            if let known = state.accounts[use] {
                if known === scope { return true }
                guard !known.hasEnded else { return false }
            }
            if state.accounts.count >= Self.accountLimit { state.accounts = [:] }
            state.accounts[use] = scope
            return true
        }
    }

    /// Enters an account in the present scope of an origin.
    func enter(_ account: String, at origin: Origin) {
        let scope = scope(for: origin)
        state.withLock { state in
            if state.accounts.count >= Self.accountLimit { state.accounts = [:] }
            state.accounts[AccountUse(origin: origin, account: account)] = scope
        }
    }
}

import EssentialsHTTP
import EssentialsTools

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
        /// One scope for each origin, in the order of their beginning. One that has ended stays until the next one takes
        /// its place, so that what begins in between fails as what began before.
        var scopes: [CredentialScope] = []
        /// Earlier scopes without credentials, in which operations may still run. They end with the credentials that have
        /// followed them.
        var earlier: [EarlierScope] = []
        /// The scopes for which accounts were used or entered last.
        var accounts = SuspendedAccounts()
    }

    private struct EarlierScope {
        let origin: Origin
        weak var scope: CredentialScope?
    }

    /// More origins than any application has environments. When it is exceeded, the oldest entry is removed, one without
    /// credentials first.
    static let limit = 64

    private let state = Mutex(State())
    /// How often credentials were cleared or replaced, at any origin.
    private let endings = Atomic<UInt64>(0)

    /// A number that changes whenever credentials are cleared or replaced, at any origin.
    var sessionNumber: UInt64 { endings.load(ordering: .acquiring) }

    // MARK: Changes

    /// What one step of a change has done.
    private enum Step {
        /// The same credentials were set again.
        case same(CredentialScope)
        /// These scopes have ended. The new one follows after what belongs to them was removed.
        case ended([CredentialScope])
        /// The new scope is there. Another one had to go for it.
        case done(oldest: CredentialScope?)
    }

    /// Sets the credentials of an origin.
    ///
    /// Nothing begins in the new scope before the closure has returned, and nothing that begins meanwhile is sent.
    ///
    /// - Parameter whenReplacing: Removes what belongs to former credentials. It is called without the lock, and again if
    ///   another thread sets other credentials at the same time.
    /// - Returns: Whether they have replaced others.
    func set(_ new: Credentials, for origin: Origin, whenReplacing: () -> Void) -> Bool {
        let scope = CredentialScope(new, for: origin)
        var hasReplaced = false
        while true {
            let step = state.withLock { state in next(to: scope, with: new, &state) }
            // Without the lock, because waiting requests continue.
            switch step {
            case .same(let scope):
                scope.renew()
                return hasReplaced
            case .done(let oldest):
                oldest?.endContent()
                return hasReplaced
            case .ended(let scopes):
                for scope in scopes { scope.endContent() }
                hasReplaced = true
                whenReplacing()
            }
        }
    }

    private func next(to scope: CredentialScope, with new: Credentials, _ state: inout State) -> Step {
        if let former = state.scopes.first(where: { $0.origin == scope.origin }), !former.hasEnded {
            if former.includes(new) { return .same(former) }
            if former.hasCredentials { return .ended(end(scope.origin, &state)) }
            former.phase.follow()
            Self.keep(former, &state)
        }
        state.scopes.removeAll { $0.origin == scope.origin }
        return .done(oldest: add(scope, &state))
    }

    /// Ends the scope of an origin, with or without credentials.
    ///
    /// - Parameter whileEnded: Removes what belongs to it, before anything can begin in the next scope. It is called without
    ///   the lock.
    /// - Returns: The accounts of the credentials that have ended.
    func clear(_ origin: Origin, whileEnded: () -> Void) -> Set<EntityPartition> {
        let ended = state.withLock { end(origin, &$0) }
        for scope in ended { scope.endContent() }
        whileEnded()
        state.withLock { $0.scopes.removeAll { $0.origin == origin && $0.hasEnded } }
        return Set(ended.compactMap(\.account))
    }

    /// Ends all scopes of an origin.
    private func end(_ origin: Origin, _ state: inout State) -> [CredentialScope] {
        var ended = state.earlier.filter { $0.origin == origin }.compactMap(\.scope)
        state.earlier.removeAll { $0.origin == origin }
        ended += state.scopes.filter { $0.origin == origin && !$0.hasEnded }
        for scope in ended { scope.phase.end() }
        endings.add(1, ordering: .releasing)
        return ended
    }

    /// Ends the refreshes of the service, and waits for those that must not be given up. Its requests have ended.
    func close() async {
        let scopes = state.withLock { $0.scopes }
        for scope in scopes { scope.endContent() }
        var sources: Set<TokenSource> = []
        for scope in scopes { if case .tokens(let session)? = scope.content { sources.insert(session.source) } }
        await withDiscardingTaskGroup { group in
            for source in sources { group.addTask { await source.waitForExchanges() } }
        }
    }

    /// Adds a scope, and returns the one with credentials that had to go for it and has ended.
    private func add(_ scope: CredentialScope, _ state: inout State) -> CredentialScope? {
        state.scopes.append(scope)
        guard state.scopes.count > Self.limit else { return nil }
        let position = state.scopes.dropLast().firstIndex { !$0.hasCredentials } ?? 0
        let oldest = state.scopes.remove(at: position)
        guard oldest.hasCredentials else {
            Self.keep(oldest, &state)
            return nil
        }
        oldest.phase.end()
        endings.add(1, ordering: .releasing)
        return oldest
    }

    /// Remembers a scope without credentials as long as something runs in it.
    private static func keep(_ scope: CredentialScope, _ state: inout State) {
        if state.earlier.count >= Self.limit { state.earlier.removeAll { $0.scope == nil } }
        state.earlier.append(EarlierScope(origin: scope.origin, scope: scope))
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
            return (scope, add(scope, &state))
        }
        // There are more origins with credentials than can be remembered.
        oldest?.endContent()
        return scope
    }

    /// The scope of a request whose preparation has ended: that in which it was submitted or, if that has no credentials,
    /// the present one, so that an interceptor can log in.
    ///
    /// - Throws: `authorization` if the scope has ended.
    func bound(_ submitted: CredentialScope?) throws(RequestFailure) -> CredentialScope? {
        guard let submitted else { return nil }
        guard !submitted.hasEnded else { throw CredentialScope.endedFailure(host: submitted.origin.host.text) }
        return submitted.isCurrent || submitted.hasCredentials ? submitted : scope(for: submitted.origin)
    }

    // MARK: Accounts

    /// Whether the stores of an account may be read and written in a scope. Credentials that have replaced others, or that
    /// were set after a logout, suspend the account until it is entered again.
    func admits(_ account: String, in scope: CredentialScope) -> Bool {
        guard !account.isEmpty else { return true }
        return state.withLock { state in
            !scope.hasEnded && state.accounts.admits(account, at: scope.origin, in: scope.phase)
        }
    }

    /// Enters an account in the present scope of an origin.
    func enter(_ account: String, at origin: Origin) {
        let scope = scope(for: origin)
        state.withLock { $0.accounts.enter(account, at: origin, in: scope.phase) }
    }
}

/// The accounts that were used, and in which scope. Those whose scope has ended are suspended.
struct SuspendedAccounts: Sendable {
    private struct Use: Hashable {
        let origin: Origin
        let account: String
    }

    /// The maximum number of accounts that are remembered.
    static let limit = 1_024

    private var phases: [Use: ScopePhase] = [:]
    /// The origins of which a suspended account was forgotten. Accounts that are not known there are suspended too.
    private var forgotten: Set<Origin> = []

    /// Whether an account may be used in a scope that has not ended.
    mutating func admits(_ account: String, at origin: Origin, in phase: ScopePhase) -> Bool {
        let use = Use(origin: origin, account: account)
        if let known = phases[use] {
            if known === phase { return true }
            guard !known.hasEnded else { return false }
        } else if forgotten.contains(origin) {
            return false
        }
        // An operation that began before the present credentials does not take the account back to its time.
        if phase.isCurrent { set(phase, for: use) }
        return true
    }

    mutating func enter(_ account: String, at origin: Origin, in phase: ScopePhase) {
        set(phase, for: Use(origin: origin, account: account))
    }

    private mutating func set(_ phase: ScopePhase, for use: Use) {
        if phases[use] == nil, phases.count >= Self.limit { forget() }
        phases[use] = phase
    }

    /// Makes room: accounts that are not suspended count as never used. If all are, they stay so without being known.
    private mutating func forget() {
        phases = phases.filter { $0.value.hasEnded }
        guard phases.count >= Self.limit else { return }
        for use in phases.keys { forgotten.insert(use.origin) }
        phases = [:]
    }
}

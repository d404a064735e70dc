import EssentialsTools
package import EssentialsTransport

/// How far a scope of credentials is. It outlives the credentials, so that they need not be kept to know that they have
/// ended.
final class ScopePhase: Sendable {
    private static let followed: UInt8 = 1
    private static let ended: UInt8 = 2
    private let phase = Atomic<UInt8>(0)

    var hasEnded: Bool { phase.load(ordering: .acquiring) == Self.ended }
    var isCurrent: Bool { phase.load(ordering: .acquiring) == 0 }

    /// The first credentials were set after this time without any.
    func follow() { phase.store(Self.followed, ordering: .releasing) }
    func end() { phase.store(Self.ended, ordering: .releasing) }
}

/// The time in which requests to an origin are sent for one user: from setting credentials until others replace them or
/// they are cleared, or a time without credentials.
///
/// An operation takes its scope when it begins, and all of its requests belong to that scope. If the scope has ended, none
/// of them is sent any more, because it would go out with the credentials of somebody else.
///
/// A token source keeps its scope through every refresh, and setting equal credentials again keeps it too. The first
/// credentials after a time without any end nothing: requests that were submitted before go on, until these credentials are
/// replaced by others or cleared.
package final class CredentialScope: Sendable {
    /// The origin to which the credentials are sent.
    package let origin: Origin
    /// The credentials of the scope; `nil` for a time without credentials.
    private let credentials: Credentials?
    /// The credentials as the stages use them, unless they are tokens.
    private let fixed: AuthorizationStore.Content?
    /// The use of the token source, which begins anew when the same source is set again.
    private let tokens: Mutex<AuthorizationStore.Content?>
    let phase = ScopePhase()

    init(_ credentials: Credentials?, for origin: Origin) {
        self.origin = origin
        self.credentials = credentials
        let content = credentials.map { AuthorizationStore.Content($0, for: origin) }
        if case .tokens? = content {
            fixed = nil
            tokens = Mutex(content)
        } else {
            fixed = content
            tokens = Mutex(nil)
        }
    }

    /// The account to which the credentials belong; `nil` if the application has not named it.
    var account: EntityPartition? { credentials?.account }
    /// Whether the scope has credentials.
    package var hasCredentials: Bool { credentials != nil }
    /// Whether the credentials were cleared or replaced. It reads one number.
    package var hasEnded: Bool { phase.hasEnded }
    /// Whether the scope is the one in which an operation would begin now.
    package var isCurrent: Bool { phase.isCurrent }

    /// The credentials as the stages use them; `nil` without credentials.
    var content: AuthorizationStore.Content? {
        credentials == nil ? nil : fixed ?? tokens.withLock { $0 }
    }

    /// Whether these credentials belong to the scope.
    func includes(_ other: Credentials) -> Bool { credentials == other }

    /// The same credentials were set again, so that what has stopped for them begins anew.
    func renew() {
        guard let credentials, case .tokens = credentials.content else { return }
        let content = AuthorizationStore.Content(credentials, for: origin)
        let former = tokens.withLock { tokens in
            defer { tokens = content }
            return tokens
        }
        former?.end(replacedBy: content)
    }

    /// Ends what belongs to credentials that were cleared or replaced: requests that wait for a token fail. The phase has
    /// ended before.
    func endContent() { content?.end(replacedBy: nil) }

    /// The failure of a request whose scope has ended.
    package static func endedFailure(host: String?) -> RequestFailure {
        RequestFailure(
            .authorization, "The credentials with which the request was submitted were cleared or replaced.",
            remedy: "Submit the request again, if it is meant for the present credentials.", host: host,
            transmission: .unsent)
    }
}

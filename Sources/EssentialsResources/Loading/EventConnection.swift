import EssentialsHTTP
import EssentialsRequests
import EssentialsTools

/// One connection of an event stream: the account for which it was opened, and whether its events still count.
///
/// A connection that carries credentials ends with them. A connection without credentials continues after a login or
/// logout, because its events are the same for every account.
final class EventConnection: Sendable {
    /// The environment and the account of the connection.
    let environment: AdoptedEnvironment
    /// The scope of its credentials; `nil` if the stream has another origin than the environment.
    private let scope: CredentialScope?
    /// Whether it carries credentials of an account, such as a cookie: 0 before the response, 1 for no, 2 for yes.
    private let personal = Atomic<UInt8>(0)
    /// Whether the connection was found to have ended. This never changes back.
    private let isOver = Atomic(false)

    /// - Parameter last: The previous connection. If it carried credentials in the same scope, this connection counts
    ///   as carrying them too, until its response shows what was sent.
    init(_ environment: AdoptedEnvironment, of address: ResourceURL, after last: EventConnection? = nil) {
        self.environment = environment
        let scope = environment.scope.flatMap { address.isOf($0.origin) ? $0 : nil }
        self.scope = scope
        guard let scope, let last, last.scope === scope, last.personal.load(ordering: .acquiring) == 2 else { return }
        personal.store(2, ordering: .releasing)
    }

    /// Whether both use the credentials of the same origin, or both use none.
    func isOfSameOrigin(as other: EventConnection) -> Bool { scope?.origin == other.scope?.origin }

    /// Records from the response whether credentials were sent.
    func received(_ response: DataResponse) {
        let isPersonal = hasCredentials || EventStreamRules.isPersonal(response, in: environment.snapshot)
        personal.store(isPersonal ? 2 : 1, ordering: .releasing)
    }

    private var hasCredentials: Bool { scope?.hasCredentials ?? false }

    /// Whether it ended with its credentials. Before the response, it counts as if it carried some.
    var hasEnded: Bool {
        if isOver.load(ordering: .acquiring) { return true }
        guard scope?.hasEnded == true, personal.load(ordering: .acquiring) != 1 else { return false }
        isOver.store(true, ordering: .releasing)
        return true
    }

    /// Ends the connection if it used the credentials of an origin, which were cleared or replaced.
    ///
    /// - Returns: Whether this has ended the connection.
    func credentialsEnded(at origin: Origin) -> Bool {
        guard scope?.origin == origin, personal.load(ordering: .acquiring) != 1 else { return false }
        isOver.store(true, ordering: .releasing)
        return true
    }

    /// Whether it was opened before a login. With the new credentials the server sends another stream, to which the
    /// events of this connection do not belong.
    ///
    /// - Parameter present: The environment of the next connection.
    func precedesLogin(_ present: AdoptedEnvironment) -> Bool {
        guard let scope, let next = present.scope, next.origin == scope.origin else { return false }
        return next !== scope && next.hasCredentials
    }

    /// Whether the stream waits for a login before it connects again. After an account's credentials were cleared,
    /// nothing is sent without credentials on its behalf.
    ///
    /// - Parameter present: The environment of the next connection.
    func awaitsLogin(before present: AdoptedEnvironment) -> Bool {
        guard hasEnded, let scope, let next = present.scope, next.origin == scope.origin else { return false }
        guard !next.hasCredentials else { return false }
        if scope.hasCredentials { return true }
        // A session that uses only a cookie begins without credentials, so entering an account counts as its login.
        let isEntered = present.number != environment.number && !present.partition.isShared
        return personal.load(ordering: .acquiring) == 2 && !isEntered
    }
}

extension HTTPResourceService {
    /// Whether the events of a connection still count.
    func isLive(_ connection: EventConnection) -> Bool {
        adoption.isCurrent(connection.environment) && !connection.hasEnded
    }
}

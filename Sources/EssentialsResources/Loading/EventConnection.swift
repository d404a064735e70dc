import EssentialsHTTP
import EssentialsRequests
import EssentialsTools

/// One connection of an event stream: for whom it was opened, and whether what it brings still counts.
///
/// A connection that carries credentials ends with them. One that was opened without any goes on when somebody logs in or
/// out, because it says the same to everybody.
final class EventConnection: Sendable {
    /// The environment and the account for which it was opened.
    let environment: AdoptedEnvironment
    /// The scope of its credentials; `nil` if it goes to another origin than that of the environment.
    private let scope: CredentialScope?
    /// Whether it carries credentials of its user, such as a cookie: 0 before the response, 1 for no, 2 for yes.
    private let personal = Atomic<UInt8>(0)
    /// Whether it was found to have ended. It stays so.
    private let isOver = Atomic(false)

    /// - Parameter last: The connection before. If it carried credentials in the same scope, this one counts as if it did,
    ///   until its response shows what was sent.
    init(_ environment: AdoptedEnvironment, of address: ResourceURL, after last: EventConnection? = nil) {
        self.environment = environment
        let scope = environment.scope.flatMap { address.isOf($0.origin) ? $0 : nil }
        self.scope = scope
        guard let scope, let last, last.scope === scope, last.personal.load(ordering: .acquiring) == 2 else { return }
        personal.store(2, ordering: .releasing)
    }

    /// Whether both use the credentials of the same origin, or both use none.
    func isOfSameOrigin(as other: EventConnection) -> Bool { scope?.origin == other.scope?.origin }

    /// Takes note of the response, from which it is known what was sent.
    func received(_ response: DataResponse) {
        let isPersonal = hasCredentials || EventStreamRules.isPersonal(response, in: environment.snapshot)
        personal.store(isPersonal ? 2 : 1, ordering: .releasing)
    }

    private var hasCredentials: Bool { scope?.hasCredentials ?? false }

    /// Whether it ended with its credentials. Before the response it counts as if it had some.
    var hasEnded: Bool {
        if isOver.load(ordering: .acquiring) { return true }
        guard scope?.hasEnded == true, personal.load(ordering: .acquiring) != 1 else { return false }
        isOver.store(true, ordering: .releasing)
        return true
    }

    /// The credentials of an origin were cleared or replaced.
    ///
    /// - Returns: Whether the connection has ended by that.
    func credentialsEnded(at origin: Origin) -> Bool {
        guard scope?.origin == origin, personal.load(ordering: .acquiring) != 1 else { return false }
        isOver.store(true, ordering: .releasing)
        return true
    }

    /// Whether it was opened before a login. With the credentials the stream is another one, to which its events do not
    /// belong.
    ///
    /// - Parameter present: The environment in which it would be connected again.
    func precedesLogin(_ present: AdoptedEnvironment) -> Bool {
        guard let scope, let next = present.scope, next.origin == scope.origin else { return false }
        return next !== scope && next.hasCredentials
    }

    /// Whether the stream waits for a login before it is connected again: after credentials were cleared, nothing goes out
    /// without any for those who had some.
    ///
    /// - Parameter present: The environment in which it would be connected.
    func awaitsLogin(before present: AdoptedEnvironment) -> Bool {
        guard hasEnded, let scope, let next = present.scope, next.origin == scope.origin else { return false }
        guard !next.hasCredentials else { return false }
        if scope.hasCredentials { return true }
        // A session by cookie alone begins without credentials. The account says that there is one.
        let isEntered = present.number != environment.number && !present.partition.isShared
        return personal.load(ordering: .acquiring) == 2 && !isEntered
    }
}

extension HTTPResourceService {
    /// Whether what a connection brings still counts.
    func isLive(_ connection: EventConnection) -> Bool {
        adoption.isCurrent(connection.environment) && !connection.hasEnded
    }
}

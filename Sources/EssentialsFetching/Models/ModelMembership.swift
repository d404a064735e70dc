import EssentialsHTTP
import EssentialsRequests
import EssentialsTools

/// The data-request services that a ``ModelCache`` has joined, and the origins to whose credentials its keys may
/// belong.
final class ModelMembership: Sendable {
    private struct Member {
        weak var store: (any AnyObject & Sendable)?
        /// Prevents later requests of the service from sharing a response with earlier requests.
        let separateRequests: @Sendable () -> Void
    }

    private struct State {
        var members: [Member] = []
        var hasJoined = false
        /// The origins by the text of the environment in keys.
        var origins: [String: [Origin]] = [:]
    }

    /// The maximum number of environments, which no application reaches in one process. Beyond it all earlier ones are
    /// forgotten, and models that were stored with their credentials and without an account are not found any more.
    private static let maximumEnvironments = 256
    /// The maximum number of origins for one text of the environment, because an application can use a text for several
    /// origins.
    private static let maximumOrigins = 8

    private let state = Mutex(State())

    /// Whether a service was joined, so that the cache knows which models were received with credentials.
    var hasJoined: Bool { state.withLock { $0.hasJoined } }

    /// The origins with whose credentials models of an environment may have been received.
    func origins(of environment: String) -> [Origin] { state.withLock { $0.origins[environment] ?? [] } }

    /// Records an operation of a service.
    ///
    /// - Parameters:
    ///   - service: The service; `nil` for a test double.
    ///   - join: Joins the service. It is called the first time, outside the lock.
    func note(
        _ service: HTTPDataRequestService?, _ origin: Origin, environment: String,
        join: () throws(RequestFailure) -> Void
    ) throws(RequestFailure) {
        // This object distinguishes services. A weak reference to the service itself would slow down its requests.
        let members = service?.privateStateMembers
        let isKnown = state.withLock { state in
            note(origin, environment, &state)
            guard let members else { return true }
            return state.members.contains { $0.store === members }
        }
        guard !isKnown, let members, let service else { return }
        try join()
        state.withLock { state in
            state.hasJoined = true
            state.members.removeAll { $0.store == nil }
            guard !state.members.contains(where: { $0.store === members }) else { return }
            state.members.append(Member(store: members, separateRequests: service.separateRequests))
        }
    }

    /// Prevents later requests of all services from sharing a response with earlier requests. It is called before
    /// models are deleted, so that no deleted model comes back with an earlier response.
    func separateRequests() {
        for member in state.withLock({ $0.members }) { member.separateRequests() }
    }

    private func note(_ origin: Origin, _ environment: String, _ state: inout State) {
        if state.origins[environment]?.contains(origin) == true { return }
        if state.origins.count >= Self.maximumEnvironments, state.origins[environment] == nil { state.origins = [:] }
        let known = state.origins[environment, default: []]
        state.origins[environment] = [origin] + known.prefix(Self.maximumOrigins - 1)
    }
}

import EssentialsHTTP
import EssentialsRequests
import Synchronization

/// The data-request services that a ``ModelCache`` has joined, and the origins whose credentials its keys may belong to.
final class ModelMembership: Sendable {
    private struct Member {
        weak var store: (any AnyObject & Sendable)?
    }

    private struct State {
        var members: [Member] = []
        var hasJoined = false
        /// The origins by the text of the environment in keys.
        var origins: [String: [Origin]] = [:]
    }

    /// More environments than an application has in one process. Beyond it those that were used before are forgotten, and
    /// models that were stored with their credentials and without an account are not found any more.
    private static let maximumEnvironments = 256
    /// The maximum number of origins for one text of the environment, which an application can give to several.
    private static let maximumOrigins = 8

    private let state = Mutex(State())

    /// Whether a service was joined, so that the cache knows which models were received with credentials.
    var hasJoined: Bool { state.withLock { $0.hasJoined } }

    /// The origins with whose credentials models of an environment may have been received.
    func origins(of environment: String) -> [Origin] { state.withLock { $0.origins[environment] ?? [] } }

    /// Notes an operation of a service.
    ///
    /// - Parameters:
    ///   - members: The object that tells services apart; `nil` for a test double.
    ///   - join: Joins the service. It is called the first time, outside the lock.
    func note(
        _ members: (any AnyObject & Sendable)?, _ origin: Origin, environment: String,
        join: () throws(RequestFailure) -> Void
    ) throws(RequestFailure) {
        let isKnown = state.withLock { state in
            note(origin, environment, &state)
            guard let members else { return true }
            return state.members.contains { $0.store === members }
        }
        guard !isKnown, let members else { return }
        try join()
        state.withLock { state in
            state.hasJoined = true
            state.members.removeAll { $0.store == nil }
            if !state.members.contains(where: { $0.store === members }) { state.members.append(Member(store: members)) }
        }
    }

    private func note(_ origin: Origin, _ environment: String, _ state: inout State) {
        if state.origins[environment]?.contains(origin) == true { return }
        if state.origins.count >= Self.maximumEnvironments, state.origins[environment] == nil { state.origins = [:] }
        let known = state.origins[environment, default: []]
        state.origins[environment] = [origin] + known.prefix(Self.maximumOrigins - 1)
    }
}

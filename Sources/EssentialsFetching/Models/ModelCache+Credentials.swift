public import EssentialsHTTP
public import EssentialsRequests
import EssentialsTools

/// A place where an entity cache may hold a model.
struct ModelPlace: Sendable {
    let key: EntityKey
    /// The origin with whose credentials the model was received without an account.
    var credentials: Origin?
}

extension ModelCache {
    /// Joins the service that sends the requests of an operation, unless it has already joined.
    ///
    /// - Parameters:
    ///   - origin: The origin to which the operation sends credentials.
    ///   - environment: The text of the operation's environment in keys.
    func join(_ requests: any DataRequestService, _ origin: Origin, environment: String) {
        do throws(RequestFailure) {
            try membership.note(requests.sender, origin, environment: environment) {
                () throws(RequestFailure) in
                try requests.privateStateRegistry?.add(privateStateStore: self)
            }
        } catch {
            ownProblems.add(error, "join")
        }
    }
}

/// A model cache is cleared together with the credentials of the data-request services whose models it keeps. It joins
/// them when a ``ModelCaching`` service uses it for the first time. If only the application itself uses a cache, it can
/// join a service:
///
/// ```swift
/// try requests.privateStateRegistry?.add(privateStateStore: cache)
/// ```
extension ModelCache: PrivateStateStore {
    /// Deletes the models that were fetched with the credentials of an origin and without a partition. Models of a
    /// partition, models of other origins, and models that were fetched without credentials stay.
    ///
    /// A cache that no ``ModelCaching`` service has used does not know how its models were received, and deletes all
    /// models without a partition.
    ///
    /// The models are not found any more from the beginning. The function returns when the entity cache has deleted
    /// them, or after five seconds if it takes longer.
    public func clearPrivateState(of origin: Origin) async {
        // A failed removal is counted, and tried again in the background.
        let removal = entityRemoval()
        clear(origin) { access, scope in access.addRemoval(of: scope) { removal.end(isDone: $0) } }
        await removal.isDone()
    }

    /// Hides the same models at once, and deletes them in the background.
    public func credentialsWereReplaced(at origin: Origin) { clear(origin) { $0.addRemoval(of: $1) } }

    private func clear(_ origin: Origin, _ remove: (CacheAccess, EntityScope) -> Void) {
        let all = !membership.hasJoined
        let partition = EntityPartition.credentials(of: origin)
        var scope = EntityScope(partition: partition, origin: EntityKey.modelOrigin)
        if all {
            scope = EntityScope(origin: EntityKey.modelOrigin) { $0.partition.isShared || $0.partition == partition }
        }
        // This is one step, so that no model is saved or read in between.
        let removed = memory.withLock { memory in
            if let access { remove(access, scope) }
            return memory.removeAll(ofCredentials: origin, all: all)
        }
        withExtendedLifetime(removed) {}
        access?.work()
        // Observers of a suspended account load again too.
        changes.allChanged()
    }
}

extension ModelCache: AccountFollower {
    /// Makes the observers of the account's models load again.
    package func accountWasEntered(_ account: EntityPartition, at origin: Origin) { changes.changed(of: account) }
}

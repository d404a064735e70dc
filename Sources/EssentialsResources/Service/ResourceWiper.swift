import EssentialsHTTP
import EssentialsRequests

/// Wipes resources, ends event streams, and removes entities from caches, together with the credentials of a
/// data-request service.
///
/// The data-request service refers to it weakly. It does not refer to the resource service itself: every handle retains
/// that service, and retaining an object takes several times as long if a weak reference to it exists.
final class ResourceWiper: CredentialsFollower {
    private let table: ResourceTable
    private let caching: EntityCaching
    private let adoption: EnvironmentAdoption
    private let followers: EventFollowers

    init(
        _ table: ResourceTable, _ caching: EntityCaching, _ adoption: EnvironmentAdoption, _ followers: EventFollowers
    ) {
        (self.table, self.caching, self.adoption, self.followers) = (table, caching, adoption, followers)
    }

    func clearPrivateState(of origin: Origin) async {
        followers.credentialsEnded(at: origin)
        let partition = adoption.adopt().partition
        var scopes = [Self.credentials(of: origin)]
        if !partition.isShared { scopes.append(EntityScope(partition: partition, origin: origin.description)) }
        // This comes first: resources that are created meanwhile find no entity, and loads that began earlier store
        // none.
        let removal = caching.remove(scopes)
        wipe(origin, keepsInterest: false)
        await removal.isDone()
    }

    func credentialsWereReplaced(at origin: Origin) {
        followers.credentialsEnded(at: origin)
        // The account is suspended, so its entities are not found either.
        caching.remove([Self.credentials(of: origin)])
        wipe(origin, keepsInterest: true)
    }

    func credentialsWereSet(at origin: Origin) { followers.credentialsWereSet(at: origin) }

    /// The scope of entities that were received with credentials of an origin while no account was entered.
    private static func credentials(of origin: Origin) -> EntityScope {
        EntityScope(partition: .credentials(of: origin), origin: origin.description)
    }

    private func wipe(_ origin: Origin, keepsInterest: Bool) {
        // All resources are wiped before the first observer is called, because it may read others.
        let left = table.cores.filter { $0.address.isOf(origin) }.map {
            $0.leave(.authorization, keepsInterest: keepsInterest)
        }
        for moved in left {
            table.recount(moved.core)
            moved.finish()
        }
    }
}

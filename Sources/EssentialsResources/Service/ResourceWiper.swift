import EssentialsHTTP
import EssentialsRequests

/// Wipes resources, and removes their entities from caches, together with the credentials of a data-request service.
///
/// The data-request service refers to it weakly. It does not refer to the resource service itself, because every handle
/// retains that one, and an object to which a weak reference exists takes several times as long to retain.
final class ResourceWiper: PrivateStateStore {
    private let table: ResourceTable
    private let caching: EntityCaching
    private let adoption: EnvironmentAdoption

    init(_ table: ResourceTable, _ caching: EntityCaching, _ adoption: EnvironmentAdoption) {
        (self.table, self.caching, self.adoption) = (table, caching, adoption)
    }

    func clearPrivateState(of origin: Origin) async {
        let scope = EntityScope(partition: adoption.adopt().partition, origin: origin.description)
        caching.forget(scope)
        // All are wiped before the first observer is called, which may look at others.
        let left = table.cores.filter { $0.address.isOf(origin) }.map { $0.leave(.authorization) }
        for moved in left {
            moved.finish()
            table.resize(moved.core, bytes: 0)
        }
        // Once more, because a load may have ended just before it was cancelled.
        await caching.removeAll(in: scope)
    }
}

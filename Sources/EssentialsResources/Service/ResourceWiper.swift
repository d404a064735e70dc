import EssentialsHTTP
import EssentialsRequests

/// Wipes resources, and their entities in caches, together with the credentials of a data-request service.
///
/// The data-request service refers to it weakly. It does not refer to the resource service itself, because every handle
/// retains that one, and an object to which a weak reference exists takes several times as long to retain.
final class ResourceWiper: PrivateStateStore {
    private let table: ResourceTable
    private let caching: EntityCaching

    init(_ table: ResourceTable, _ caching: EntityCaching) { (self.table, self.caching) = (table, caching) }

    func clearPrivateState(of origin: Origin) async {
        for core in table.cores where core.address.isOf(origin) { core.wipe(.authorization) }
        await caching.removeAll(in: EntityScope(origin: origin.description))
    }
}

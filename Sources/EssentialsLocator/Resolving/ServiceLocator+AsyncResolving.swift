extension ServiceLocator {
    /// The service registered for a type, of any kind, waiting for asynchronous factories.
    ///
    /// The first resolve of an asynchronous registration starts its factory in a task; all that come until it ends wait
    /// for that task without blocking a thread. When the waiting task is cancelled it stops waiting, and the factory goes
    /// on for the others.
    ///
    /// ```swift
    /// let database = try await locator.resolveAsync((any Database).self)
    /// ```
    ///
    /// Any task. Cost: that of ``resolve(_:named:)`` once built, and a short lock.
    ///
    /// - Throws: What ``resolve(_:named:)`` throws, and ``ServiceLocatorError/Reason/cancelled``. Work that a factory
    ///   has started counts as part of it when cycles are looked for.
    public func resolveAsync<Service: Sendable>(
        _ type: Service.Type, named name: String? = nil
    ) async throws(ServiceLocatorError) -> Service {
        let key = ServiceKey(type, name: name)
        var locator = self
        while true {
            if let slot = locator.table.slot(for: key)?.takeUnretainedValue() {
                if let asynchronous = slot as? AsyncSlot {
                    // False when the registration was removed: look again in the same locator.
                    guard try await asynchronous.prepare(owner: locator) else { continue }
                    let service = try ServiceMemory.fill(type) { memory in
                        asynchronous.copy(into: memory)
                        return true
                    }
                    locator.noteDependency(on: slot)
                    if let service { return service }
                }
                var provision = Provision.absent
                let service = try ServiceMemory.fill(type) { memory throws(ServiceLocatorError) in
                    provision = try slot.provide(into: memory, owner: locator, requester: self)
                    return provision == .provided
                }
                if let service {
                    locator.noteDependency(on: slot)
                    return service
                }
                if provision == .moved { continue }
                if provision == .missing { throw missing(type, name: name) }
            } else if locator.isClosed {
                throw .closed(locator)
            }
            guard let parent = locator.parent else { throw missing(type, name: name) }
            locator = parent
        }
    }
}

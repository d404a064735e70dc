extension ServiceLocator {
    /// The error for a type that nobody has, with what comes close to it. Locks and casts; error path only.
    func missing<Service: Sendable>(_ type: Service.Type, key: ServiceKey) -> ServiceLocatorError {
        var searched: [String] = []
        var nearMisses: [String] = []
        var next: ServiceLocator? = self
        while let locator = next {
            searched.append(locator.name)
            nearMisses += locator.nearMisses(type, key: key)
            next = locator.parent
        }
        return .missing(
            typeName: ServiceSlot<Service>.serviceTypeName, name: key.name, searched: searched, nearMisses: nearMisses)
    }

    private func nearMisses<Service: Sendable>(_ type: Service.Type, key: ServiceKey) -> [String] {
        let typeName = ServiceSlot<Service>.serviceTypeName
        return table.liveSlots().compactMap { slot in
            let registered = "\(slot.label) in \"\(name)\" (\(slot.site))"
            if slot.key == key {
                return "\(registered), whose object is gone: it was registered weakly"
            }
            if slot.key.typeWord == key.typeWord {
                return registered
            }
            if slot.typeName == ServiceSlot<MainActorBox<Service>>.serviceTypeName {
                return "\(registered): use resolveOnMainActor"
            }
            if slot.typeName == typeName {
                return "\(registered), which is another type of the same name: its module is linked twice"
            }
            if slot.holds(type) {
                return "\(registered), whose service is also \(typeName)"
            }
            return nil
        }
    }
}

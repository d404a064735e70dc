extension ServiceLocator {
    /// The error for a type that nobody has, with what comes close to it. Locks and casts; error path only.
    @usableFromInline @inline(never)
    func missing<Service: Sendable>(_ type: Service.Type, name: String?) -> ServiceLocatorError {
        let key = ServiceKey(type, name: name)
        var searched: [String] = []
        var nearMisses: [String] = []
        // What is registered under the key itself, and was not found, is gone.
        var hasGone = false
        var next: ServiceLocator? = self
        while let locator = next {
            searched.append(locator.name)
            nearMisses += locator.nearMisses(type, key: key)
            if let slot = locator.table.slot(for: key)?.takeUnretainedValue(), slot.isGone {
                hasGone = true
                if slot.provisionWhenGone == .missing { break }
            }
            next = locator.parent
        }
        return .missing(
            typeName: Slot.typeName(type), name: key.name, searched: searched, nearMisses: nearMisses,
            hasGone: hasGone)
    }

    private func nearMisses<Service: Sendable>(_ type: Service.Type, key: ServiceKey) -> [String] {
        let typeName = Slot.typeName(type)
        return table.liveSlots().compactMap { slot in
            let registered = "\(slot.label) in \"\(name)\" (\(slot.site))"
            if slot.key == key, slot.isGone {
                return "\(registered), whose object is gone: it was registered weakly"
            }
            if slot.key.typeWord == key.typeWord {
                return registered
            }
            if slot.typeName == Slot.typeName(MainActorBox<Service>.self) {
                return "\(registered): use resolveOnMainActor"
            }
            if slot.typeName == typeName {
                return "\(registered), which is another type of the same name: its module is linked twice"
            }
            if "\(slot.typeName) (main actor)" == typeName {
                return "\(registered): use resolve"
            }
            if let service = slot.stored(), service is Service {
                return "\(registered), whose service is also \(typeName)"
            }
            return nil
        }
    }
}

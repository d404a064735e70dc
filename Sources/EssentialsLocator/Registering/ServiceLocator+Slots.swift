extension ServiceLocator {
    /// Puts a slot into the table, where none may be but one whose object is gone.
    func add(_ slot: Slot) throws(ServiceLocatorError) -> Registration {
        if let context = AssemblyContext.running(in: self) { return try context.add(slot, []) }
        slot.belongs(to: self)
        while try settle(table.insert(slot, policy: .refuse), slot) == false {}
        return Registration(slot)
    }

    /// The same for several slots, all or none.
    func add(_ first: Slot, _ others: [Slot]) throws(ServiceLocatorError) -> Registration {
        if let context = AssemblyContext.running(in: self) { return try context.add(first, others) }
        try insert([first] + others)
        return Registration(first, others)
    }

    /// The same past an assembly that runs. `slots` is not empty.
    func insert(_ slots: [Slot]) throws(ServiceLocatorError) {
        for slot in slots { slot.belongs(to: self) }
        while try settle(table.insert(slots, policy: .refuse), slots[0]) == false {}
    }

    /// False when the insertion is worth another try.
    private func settle(
        _ insertion: RegistrationTable.Insertion, _ slot: Slot
    ) throws(ServiceLocatorError) -> Bool {
        switch insertion {
        case .inserted: return true
        case .refused(let refused, let existing):
            // Asked here and not under the table's lock: the last reference to an object may be the one that looks.
            guard existing.isGone else { throw .duplicate(refused, existing: existing, in: self) }
            remove(existing)
            return false
        case .full: throw .tooManyRegistrations(slot, in: self)
        case .closed: throw .closed(self)
        }
    }

    /// Replaces what is under a slot's key; the old service, if it was retained.
    func exchange<Service: Sendable>(_ slot: Slot, _ type: Service.Type) throws(ServiceLocatorError) -> Service? {
        if let context = AssemblyContext.running(in: self) {
            return (try context.exchange(slot) as? ServiceSlot)?.service(of: type)
        }
        let replaced = try swap(slot)
        replaced?.withdraw()
        return (replaced as? ServiceSlot)?.service(of: type)
    }

    /// Replaces what is under a slot's key. The caller withdraws it.
    func swap(_ slot: Slot) throws(ServiceLocatorError) -> Slot? {
        slot.belongs(to: self)
        switch table.insert(slot, policy: .replace) {
        case .inserted(let replaced): return replaced.first
        case .refused(let slot, let existing): throw .duplicate(slot, existing: existing, in: self)
        case .full: throw .tooManyRegistrations(slot, in: self)
        case .closed: throw .closed(self)
        }
    }

    /// Removes exactly this slot, if it is there still.
    func remove(_ slot: Slot) {
        table.remove(slot.key, id: slot.id)?.withdraw()
    }

    /// Puts a replaced slot, which was not withdrawn, back into the place of the one that replaced it.
    func putBack(_ old: Slot, for new: Slot) {
        if table.putBack(old, for: new) { new.withdraw() } else { old.withdraw() }
    }
}

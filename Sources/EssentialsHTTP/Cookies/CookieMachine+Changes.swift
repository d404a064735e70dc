#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

extension CookieMachine {
    /// Whether there are changes that the store does not have.
    package var hasChanges: Bool { changeCount > 0 }

    /// The number of cookies that were stored or removed since the changes were taken.
    package var changeCount: Int { changes?.count ?? 0 }

    /// Returns all changes since the last call. Call ``confirmChanges(_:kept:)`` or ``restoreChanges(_:)`` next.
    package mutating func takeChanges() -> [CookieIdentity: CookieChange] {
        guard let taken = changes else { return [:] }
        changes = [:]
        saving = taken
        return taken
    }

    /// Takes back changes that could not be saved, unless later changes replace them.
    package mutating func restoreChanges(_ unsaved: [CookieIdentity: CookieChange]) {
        saving = nil
        for (identity, change) in unsaved where changes?[identity] == nil { changes?[identity] = change }
        for identity in removedDuringSave where changes?[identity] == .removed { changes?[identity] = nil }
        removedDuringSave = []
    }

    /// Records that the store has these changes now.
    ///
    /// - Parameter kept: The identities of the stored cookies that the store keeps.
    package mutating func confirmChanges(_ saved: [CookieIdentity: CookieChange], kept: Set<CookieIdentity>) {
        saving = nil
        removedDuringSave = []
        for identity in saved.keys {
            guard let place = domains.index(forKey: identity.domain),
                let position = domains.values[place].firstIndex(where: { $0.cookie.has(identity) })
            else { continue }
            domains.values[place][position].isSaved = kept.contains(identity)
        }
    }

    /// Takes over the content of a store that another process has changed. Changes that were not saved yet win.
    ///
    /// - Parameter saved: The cookies of the store in the order of their creation.
    package mutating func adopt(_ saved: [Cookie], now: Date) {
        guard !domains.isEmpty || hasChanges else {
            load(saved, now)
            return
        }
        var missing: [CookieIdentity: Cookie] = [:]
        missing.reserveCapacity(saved.count)
        for cookie in saved { missing[cookie.identity] = cookie }
        let pending = changes ?? [:]
        for domain in Array(domains.keys) { adopt(&missing, in: domain, except: pending) }
        for cookie in saved {
            let identity = cookie.identity
            guard missing[identity] == cookie, pending[identity] == nil else { continue }
            missing[identity] = nil
            store(cookie, isSecureOrigin: true, now: now)
            changes?[identity] = nil
            markSaved(cookie)
        }
    }

    /// Fills an empty machine. Nothing is recorded as a change: the store drops expired cookies itself, and
    /// cookies beyond the limits are evicted again if the store is loaded again.
    private mutating func load(_ saved: [Cookie], _ now: Date) {
        let recorded = changes
        changes = nil
        for cookie in saved { store(cookie, isSecureOrigin: true, now: now) }
        for place in domains.indices {
            for position in domains.values[place].indices { domains.values[place][position].isSaved = true }
        }
        changes = recorded
    }

    /// Updates the cookies of a domain from the store's, and removes those from `missing` that the domain has.
    private mutating func adopt(
        _ missing: inout [CookieIdentity: Cookie], in domain: String, except pending: [CookieIdentity: CookieChange]
    ) {
        guard let place = domains.index(forKey: domain) else { return }
        var removed: Set<UInt64> = []
        for position in domains.values[place].indices {
            let entry = domains.values[place][position]
            let identity = entry.cookie.identity
            let found = missing.removeValue(forKey: identity)
            domains.values[place][position].isSaved = found != nil
            guard pending[identity] == nil else { continue }
            if var cookie = found {
                cookie.created = entry.cookie.created
                cookie.lastUsed = entry.cookie.lastUsed
                domains.values[place][position].cookie = cookie
                secure(cookie)
            } else if entry.isSaved {
                // Another process has removed it.
                removed.insert(entry.order)
            }
        }
        if !removed.isEmpty { removeAll(in: domain) { removed.contains($0.order) } }
    }

    private mutating func markSaved(_ cookie: Cookie) {
        guard let place = domains.index(forKey: cookie.domain),
            let position = domains.values[place].lastIndex(where: { $0.cookie.replaces(cookie) })
        else { return }
        domains.values[place][position].isSaved = true
    }
}

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The cookies of a jar: storing, replacing, eviction and lookup (RFC 6265, sections 5.3 and 5.4). It has no clock; every
/// call takes the current time.
///
/// ```swift
/// var machine = CookieMachine()
/// let cookie = try CookieRules.cookie(from: line, at: url, now: now, suffixes: suffixes)
/// machine.store(cookie, isSecureOrigin: true, now: now)
/// machine.field(for: url, now: now)?.bytes
/// ```
///
/// Lookup visits only the domains that the host belongs to. Expired cookies are never returned. They are removed when
/// their domain is visited, and before anything else is evicted.
package struct CookieMachine: Sendable {
    struct Entry: Sendable {
        var cookie: Cookie
        /// The position in the order of creation, which a jump of the clock does not change.
        let order: UInt64
        /// Whether the store has a cookie with this identity.
        var isSaved = false
    }

    let limits: CookieLimits
    /// The cookies by domain. No list is empty.
    var domains: [String: [Entry]] = [:]
    /// The domains with secure cookies, by each of the domains above them.
    private var securedBelow: [String: Set<String>] = [:]
    /// The number of cookies, some of which may have expired.
    package internal(set) var count = 0
    private var nextOrder: UInt64 = 0
    /// When the cookies of hosts were removed.
    private var clearings = Clearings<HostName>()
    /// The changes since the last ``takeChanges()``; `nil` if nobody takes them.
    var changes: [CookieIdentity: CookieChange]?
    /// The changes that a store has taken without having reported yet whether they were saved; `nil` if there are none.
    var saving: [CookieIdentity: CookieChange]?
    /// The cookies that were removed during their first save. The store has to remove them only if the save succeeds.
    var removedDuringSave: Set<CookieIdentity> = []

    /// - Parameter tracksChanges: Whether changes are recorded for ``takeChanges()``.
    package init(limits: CookieLimits = CookieLimits(), tracksChanges: Bool = false) {
        self.limits = limits
        changes = tracksChanges ? [:] : nil
    }

    // MARK: Storing

    /// Stores a cookie, replaces the one with the same identity, or deletes it if the new cookie has expired. Then evicts
    /// cookies beyond the limits, which may include the new one.
    ///
    /// - Parameter isSecureOrigin: Whether the cookie arrived over `https`.
    /// - Returns: `coversSecure` if nothing was stored because of a secure cookie.
    @discardableResult
    package mutating func store(_ cookie: Cookie, isSecureOrigin: Bool, now: Date) -> CookieRefusal? {
        if !isSecureOrigin, !cookie.isSecure, coversSecure(cookie, now) { return .coversSecure }
        guard let place = domains.index(forKey: cookie.domain) else {
            guard !cookie.isExpired(at: now) else { return nil }
            let entry = newEntry(cookie)
            domains[cookie.domain] = [entry]
            count += 1
            secure(cookie)
            record(entry)
            evictIfNeeded(domain: nil, now)
            return nil
        }
        let position = domains.values[place].firstIndex { $0.cookie.replaces(cookie) }
        if cookie.isExpired(at: now) {
            if let position { remove(at: position, in: place) }
            return nil
        }
        guard let position else {
            let entry = newEntry(cookie)
            domains.values[place].append(entry)
            count += 1
            secure(cookie)
            record(entry)
            evictIfNeeded(domain: cookie.domain, now)
            return nil
        }
        replace(at: position, in: place, with: cookie, now)
        return nil
    }

    /// Replaces a cookie. The new one keeps the time of creation of the old one, unless the old one has expired.
    private mutating func replace(
        at position: Int, in place: Dictionary<String, [Entry]>.Index, with cookie: Cookie, _ now: Date
    ) {
        let old = domains.values[place][position]
        var entry = Entry(cookie: cookie, order: old.order, isSaved: old.isSaved)
        entry.cookie.created = old.cookie.created
        if old.cookie.isExpired(at: now) {
            entry = newEntry(cookie)
            entry.isSaved = old.isSaved
            // Entries are in the order of their creation.
            domains.values[place].remove(at: position)
            domains.values[place].append(entry)
        } else {
            domains.values[place][position] = entry
        }
        secure(cookie)
        record(entry)
    }

    private mutating func newEntry(_ cookie: Cookie) -> Entry {
        defer { nextOrder += 1 }
        return Entry(cookie: cookie, order: nextOrder, isSaved: isRemovalPending(of: cookie))
    }

    /// Whether the store still has an earlier cookie with this identity, whose removal it does not know yet.
    private func isRemovalPending(of cookie: Cookie) -> Bool {
        guard let changes, !changes.isEmpty || saving != nil else { return false }
        let identity = cookie.identity
        // If the removal is being saved and the save succeeds, the entry is marked again.
        return saving?[identity] == .removed
            || changes[identity] == .removed && !removedDuringSave.contains(identity)
    }

    /// Whether a cookie that arrived over `http` has the name of a secure one that would go to the same hosts and paths
    /// (draft of RFC 6265's successor, step 11 of storing).
    private func coversSecure(_ cookie: Cookie, _ now: Date) -> Bool {
        guard !securedBelow.isEmpty else { return false }
        func isCovered(in domain: String) -> Bool {
            guard let entries = domains[domain] else { return false }
            return entries.contains {
                $0.cookie.isSecure && $0.cookie.hasName(of: cookie) && !$0.cookie.isExpired(at: now)
                    && CookieRules.path($0.cookie.path, matches: cookie.path[...])
            }
        }
        for domain in Self.domains(of: cookie.domain) where isCovered(in: domain) { return true }
        return securedBelow[cookie.domain]?.contains { isCovered(in: $0) } ?? false
    }

    /// Registers the domain of a secure cookie.
    mutating func secure(_ cookie: Cookie) {
        guard cookie.isSecure else { return }
        for parent in Self.domains(of: cookie.domain) {
            let (isNew, _) = securedBelow[parent, default: []].insert(cookie.domain)
            // The domain itself comes first. If it is known, so are its parents.
            if !isNew { return }
        }
    }

    private mutating func unsecure(_ domain: String) {
        guard securedBelow[domain]?.contains(domain) ?? false else { return }
        for parent in Self.domains(of: domain) {
            securedBelow[parent]?.remove(domain)
            if securedBelow[parent]?.isEmpty ?? false { securedBelow[parent] = nil }
        }
    }

    /// A name and all domains above it, the longest first. An address has no domain above it, and no cookie is stored
    /// for the domains that its text seems to have.
    static func domains(of name: String) -> DomainSequence { DomainSequence(rest: name) }

    struct DomainSequence: Sequence, IteratorProtocol {
        fileprivate var rest: String?

        mutating func next() -> String? {
            guard let name = rest else { return nil }
            let dot = name.utf8.firstIndex(of: UInt8(ascii: "."))
            rest = dot.map { String(name[name.utf8.index(after: $0)...]) }
            return name
        }
    }

    // MARK: Removing

    /// Removes the cookie at a position, and its domain if that was the last cookie.
    mutating func remove(at position: Int, in place: Dictionary<String, [Entry]>.Index) {
        let entry = domains.values[place].remove(at: position)
        count -= 1
        recordRemoval(of: entry)
        if domains.values[place].isEmpty {
            domains.remove(at: place)
            unsecure(entry.cookie.domain)
        }
    }

    /// Removes all cookies of a domain that meet a condition.
    mutating func removeAll(in domain: String, where isRemoved: (Entry) -> Bool) {
        guard let place = domains.index(forKey: domain) else { return }
        var kept: [Entry] = []
        for entry in domains.values[place] {
            if isRemoved(entry) { recordRemoval(of: entry) } else { kept.append(entry) }
        }
        count -= domains.values[place].count - kept.count
        guard kept.isEmpty else {
            domains.values[place] = kept
            return
        }
        domains.remove(at: place)
        unsecure(domain)
    }

    /// Removes all cookies that meet a condition.
    ///
    /// No cookie of an exchange that has begun before is stored afterwards, because it might be one of these.
    package mutating func removeAll(where isRemoved: (Cookie) -> Bool) {
        clearings.clearAll()
        for domain in Array(domains.keys) { removeAll(in: domain) { isRemoved($0.cookie) } }
    }

    /// Removes all cookies that a host receives, for any path and scheme.
    ///
    /// No cookie that the host would receive is stored afterwards from an exchange that has begun before.
    package mutating func removeAll(visibleTo host: HostName) {
        clearings.clear(host)
        removeAll(in: host.text) { _ in true }
        guard !host.isAddress else { return }
        for domain in Self.domains(of: host.text).dropFirst() {
            removeAll(in: domain) { !$0.cookie.isHostOnly }
        }
    }

    /// Whether the cookies of a host that would receive a cookie were removed after an exchange had begun.
    package func wasCleared(_ cookie: Cookie, since begun: Epoch) -> Bool {
        clearings.forbid(since: begun) { host in
            if host.text == cookie.domain { return true }
            return !cookie.isHostOnly && !host.isAddress && host.text.hasSuffix("." + cookie.domain)
        }
    }

    /// Removes all expired cookies.
    package mutating func removeExpired(now: Date) {
        for (domain, entries) in domains where entries.contains(where: { $0.cookie.isExpired(at: now) }) {
            removeAll(in: domain) { $0.cookie.isExpired(at: now) }
        }
    }

    // MARK: Changes

    private mutating func record(_ entry: Entry) {
        guard changes != nil else { return }
        changes?[entry.cookie.identity] = .stored(entry.cookie, order: entry.order)
    }

    /// A removal is a change only if the store has the cookie or is saving it, so that the number of changes is
    /// limited.
    private mutating func recordRemoval(of entry: Entry) {
        guard changes != nil else { return }
        let identity = entry.cookie.identity
        if entry.isSaved {
            changes?[identity] = .removed
        } else if saving?[identity] != nil {
            changes?[identity] = .removed
            removedDuringSave.insert(identity)
        } else {
            changes?[identity] = nil
        }
    }
}

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension CookieMachine {
    /// Evicts cookies beyond the limits, in the order of RFC 6265's successor (draft, “remove excess cookies”): expired
    /// ones, non-secure ones of crowded domains, those of crowded domains, all others. Within each group, the one goes
    /// first whose last use is the oldest.
    ///
    /// - Parameter domain: The domain that has a new cookie.
    mutating func evictIfNeeded(domain: String?, _ now: Date) {
        if let domain, let entries = domains[domain], entries.count > limits.perDomain {
            removeAll(in: domain) { $0.cookie.isExpired(at: now) }
            while evictOne(in: domain) {}
        }
        guard count > limits.total else { return }
        removeExpired(now: now)
        guard count > limits.total else { return }
        evict(count - limits.total + limits.total / 100)
    }

    /// Evicts one cookie of a domain that has too many.
    private mutating func evictOne(in domain: String) -> Bool {
        guard let place = domains.index(forKey: domain), domains.values[place].count > limits.perDomain else {
            return false
        }
        let entries = domains.values[place]
        let oldest = entries.indices.min { one, other in
            let (one, other) = (entries[one], entries[other])
            if one.cookie.isSecure != other.cookie.isSecure { return other.cookie.isSecure }
            return Self.isUsedEarlier(one, other)
        }
        guard let oldest else { return false }
        remove(at: oldest, in: place)
        return true
    }

    /// Evicts a number of cookies of the whole jar. A domain stops being crowded while it loses cookies.
    private mutating func evict(_ number: Int) {
        var left = number
        for onlyNonSecure in [true, false] where left > 0 {
            left -= evict(left, ofCrowded: true, onlyNonSecure: onlyNonSecure)
        }
        if left > 0 { _ = evict(left, ofCrowded: false, onlyNonSecure: false) }
    }

    /// Evicts at most a number of cookies of one group, and returns how many there were.
    private mutating func evict(_ number: Int, ofCrowded: Bool, onlyNonSecure: Bool) -> Int {
        var group: [Entry] = []
        for entries in domains.values where !ofCrowded || entries.count > limits.crowded {
            group += entries.filter { !onlyNonSecure || !$0.cookie.isSecure }
        }
        group.sort(by: Self.isUsedEarlier)
        var orders: [String: Set<UInt64>] = [:]
        var evicted = 0
        for entry in group {
            guard evicted < number else { break }
            let domain = entry.cookie.domain
            let remaining = (domains[domain]?.count ?? 0) - (orders[domain]?.count ?? 0)
            if ofCrowded, remaining <= limits.crowded { continue }
            orders[domain, default: []].insert(entry.order)
            evicted += 1
        }
        for (domain, chosen) in orders { removeAll(in: domain) { chosen.contains($0.order) } }
        return evicted
    }

    private static func isUsedEarlier(_ one: Entry, _ other: Entry) -> Bool {
        one.cookie.lastUsed == other.cookie.lastUsed
            ? one.order < other.order : one.cookie.lastUsed < other.cookie.lastUsed
    }
}

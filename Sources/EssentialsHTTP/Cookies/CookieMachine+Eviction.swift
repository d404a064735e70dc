#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension CookieMachine {
    /// Evicts cookies beyond the limits, in the order of RFC 6265's successor (draft, “remove excess cookies”): expired
    /// ones, non-secure ones of crowded domains, those of crowded domains, all others. Within each group, the
    /// least recently used cookie goes first.
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
        var group: [Candidate] = []
        if !ofCrowded { group.reserveCapacity(count) }
        for (domain, entries) in domains where !ofCrowded || entries.count > limits.crowded {
            for entry in entries where !onlyNonSecure || !entry.cookie.isSecure {
                group.append(
                    Candidate(
                        lastUsed: entry.cookie.lastUsed.timeIntervalSinceReferenceDate, order: entry.order,
                        domain: domain))
            }
        }
        guard !group.isEmpty else { return 0 }
        group.sort { one, other in
            one.lastUsed == other.lastUsed ? one.order < other.order : one.lastUsed < other.lastUsed
        }
        var orders: [String: Set<UInt64>] = [:]
        var evicted = 0
        for candidate in group {
            guard evicted < number else { break }
            if ofCrowded {
                let remaining = (domains[candidate.domain]?.count ?? 0) - (orders[candidate.domain]?.count ?? 0)
                if remaining <= limits.crowded { continue }
            }
            orders[candidate.domain, default: []].insert(candidate.order)
            evicted += 1
        }
        for (domain, chosen) in orders { removeAll(in: domain) { chosen.contains($0.order) } }
        return evicted
    }

    /// The order of eviction within a group.
    private struct Candidate {
        let lastUsed: Double
        let order: UInt64
        let domain: String
    }

    private static func isUsedEarlier(_ one: Entry, _ other: Entry) -> Bool {
        one.cookie.lastUsed == other.cookie.lastUsed
            ? one.order < other.order : one.cookie.lastUsed < other.cookie.lastUsed
    }
}

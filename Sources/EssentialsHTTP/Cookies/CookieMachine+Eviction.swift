#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension CookieMachine {
    /// Evicts cookies beyond the limits, in the order of RFC 6265's successor (draft, “remove excess cookies”): expired
    /// ones, non-secure ones of crowded domains, those of crowded domains, all others. Crowded sites come before crowded
    /// domains, because one site can use any number of domains. Within each group, the least recently used cookie goes
    /// first.
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

    /// Cookies of the jar that lose some together.
    private enum Group {
        /// Those of sites with too many.
        case crowdedSites
        /// Those of domains with too many.
        case crowdedDomains
        case all
    }

    /// Evicts a number of cookies of the whole jar. A site or a domain stops being crowded while it loses cookies.
    private mutating func evict(_ number: Int) {
        var left = number
        for group in [Group.crowdedSites, .crowdedDomains] {
            for onlyNonSecure in [true, false] where left > 0 {
                left -= evict(left, of: group, onlyNonSecure: onlyNonSecure)
            }
        }
        if left > 0 { _ = evict(left, of: .all, onlyNonSecure: false) }
    }

    /// Evicts at most a number of cookies of one group, and returns how many there were.
    private mutating func evict(_ number: Int, of group: Group, onlyNonSecure: Bool) -> Int {
        let (owners, limit) = owners(of: group)
        var counts: [String: Int] = [:]
        for (domain, entries) in domains { counts[owners[domain] ?? domain, default: 0] += entries.count }
        var candidates: [Candidate] = []
        if group == .all { candidates.reserveCapacity(count) }
        for (domain, entries) in domains where counts[owners[domain] ?? domain, default: 0] > limit {
            for entry in entries where !onlyNonSecure || !entry.cookie.isSecure {
                candidates.append(
                    Candidate(
                        lastUsed: entry.cookie.lastUsed.timeIntervalSinceReferenceDate, order: entry.order,
                        domain: domain))
            }
        }
        guard !candidates.isEmpty else { return 0 }
        candidates.sort { one, other in
            one.lastUsed == other.lastUsed ? one.order < other.order : one.lastUsed < other.lastUsed
        }
        var orders: [String: Set<UInt64>] = [:]
        var evicted = 0
        for candidate in candidates {
            guard evicted < number else { break }
            let owner = owners[candidate.domain] ?? candidate.domain
            guard counts[owner, default: 0] > limit else { continue }
            counts[owner, default: 0] -= 1
            orders[candidate.domain, default: []].insert(candidate.order)
            evicted += 1
        }
        for (domain, chosen) in orders { removeAll(in: domain) { chosen.contains($0.order) } }
        return evicted
    }

    /// Who has the cookies of a domain, if that is not the domain itself, and how many each of them keeps.
    private func owners(of group: Group) -> (owners: [String: String], limit: Int) {
        switch group {
        case .crowdedSites:
            // Without that many cookies no site is crowded, and the names need not be looked up.
            guard count > limits.perSite else { return ([:], .max) }
            return (Dictionary(uniqueKeysWithValues: domains.keys.map { ($0, suffixes.site(of: $0)) }), limits.perSite)
        case .crowdedDomains: return ([:], limits.crowded)
        case .all: return ([:], 0)
        }
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

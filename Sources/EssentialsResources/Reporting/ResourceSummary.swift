import EssentialsTools

/// A resource in one line, for tools that show many.
package struct ResourceSummary: Sendable {
    /// The address without its query, and the variant.
    package let address: String
    /// `loading`, `fresh`, `stale`, `failed` or `empty`.
    package let state: String
    /// The time since the content was received, confirmed or set.
    package let age: Duration?
    /// How long it stays fresh.
    package let freshFor: Duration?
    package let observers: Int
    /// The failure of the last load.
    package let failure: String?
}

extension HTTPResourceService {
    /// The resources that the service knows, the observed ones first, and at most so many.
    package func summaries(upTo maximum: Int) -> [ResourceSummary] {
        checkEnvironment()
        let now = clock.now
        let all = table.cores.map { core -> ResourceSummary in
            let (facts, observers) = (core.facts, core.observerCount)
            let left = facts.freshUntil.map { $0 - now }.flatMap { $0 >= .zero ? $0 : nil }
            let state =
                facts.loads > 0
                ? "loading"
                : facts.failure != nil ? "failed" : left != nil ? "fresh" : facts.entity != nil ? "stale" : "empty"
            return ResourceSummary(
                address: core.address.description, state: state, age: facts.contentTime.map { max(now - $0, .zero) },
                freshFor: left, observers: observers, failure: facts.failure.map { "\($0.reason)" })
        }
        let sorted = all.sorted { ($1.observers, $0.address) < ($0.observers, $1.address) }
        return Array(sorted.prefix(maximum))
    }
}

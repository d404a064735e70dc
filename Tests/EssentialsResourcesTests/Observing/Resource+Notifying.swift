import EssentialsTools

@testable import EssentialsResources

extension Resource {
    /// Whether the observers have not been notified of the current state yet. The state changes first.
    var isNotifying: Bool { core.reading { $0.isDelivering || $0.pending.count > 0 } }
}

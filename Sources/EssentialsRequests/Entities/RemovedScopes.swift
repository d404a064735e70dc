import EssentialsHTTP

/// The latest removals of scopes, so that an operation which began before one does not bring back what it has removed.
///
/// Beyond the maximum the oldest removal counts for all keys: what began before it stores nothing.
struct RemovedScopes: Sendable {
    package static let maximum = 16

    private var latest: [(scope: EntityScope, epoch: Epoch)] = []
    private var whole = Epoch.first

    /// Takes note of a removal that begins now.
    package mutating func note(_ scope: EntityScope) {
        latest.append((scope, Epoch.begin()))
        if latest.count > Self.maximum { whole = latest.removeFirst().epoch }
    }

    /// Whether the entity of a key was removed after an operation had begun.
    package func contain(_ key: EntityKey, since begun: Epoch) -> Bool {
        begun < whole || latest.contains { begun < $0.epoch && $0.scope.contains(key) }
    }
}

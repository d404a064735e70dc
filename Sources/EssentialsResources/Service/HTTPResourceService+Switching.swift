import EssentialsRequests
import Synchronization

/// Changes of the environment.
///
/// The environment is asked at each use, so the first use after a change sees the new one. A task follows the changes as
/// well, for observers of resources that nobody uses at the time.
extension HTTPResourceService {
    /// The version of an environment that does not count its changes.
    static let uncounted = UInt64.max

    /// Adopts each change of the environment until the service or the environment is released.
    func followEnvironment() -> Task<Void, Never> {
        Task { [weak self, changes = environment.changes] in
            // It may have changed before the sequence began.
            self?.adoptEnvironment()
            for await _ in changes { self?.adoptEnvironment() }
        }
    }

    /// Makes sure that the environment of now is used. It takes no lock if the environment counts its changes.
    @inline(__always)
    func checkEnvironment() {
        if let version = environment.version, version == adoptedVersion.load(ordering: .acquiring) { return }
        adoptEnvironment()
    }

    /// Uses the environment of now. If it has changed, the resources below the old base URL get the URL below the new
    /// one, without content.
    ///
    /// All of that happens under a lock, so that no load begins for a URL of one environment and ends in the other. The
    /// observers are told without it.
    ///
    /// - Returns: The environment.
    @discardableResult
    func adoptEnvironment() -> AdoptedEnvironment {
        let (current, moved) = adopted.withLock { adopted -> (AdoptedEnvironment, [MovedResource]) in
            if adopted.versioned.isCurrent(in: environment) { return (adopted, []) }
            let current = AdoptedEnvironment(of: environment)
            var moved: [MovedResource] = []
            if current.snapshot != adopted.snapshot {
                let (old, base) = (table.base, ResourceBase(current.snapshot.baseURL))
                moved = table.move(to: base)
                configurations.move(from: old, to: base)
            }
            adopted = current
            adoptedVersion.store(current.versioned.version ?? Self.uncounted, ordering: .releasing)
            return (current, moved)
        }
        for moved in moved { moved.finish() }
        return current
    }
}

/// A resource whose URL has changed with the environment, and the loads that have ended by that.
struct MovedResource: Sendable {
    let core: ResourceCore
    let ended: [LoadRun]

    /// Cancels the loads, and tells the observers. It is called without a lock.
    func finish() {
        for run in ended { run.cancel() }
        core.deliverPending()
    }
}

import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools

/// A cache that keeps entities, counts what is asked of it, and fails or stalls if it is told to.
final class CacheDouble: EntityCache {
    struct Fault: Error {}

    private struct State {
        var entities: [EntityKey: StoredEntity] = [:]
        var calls: [String] = []
        var isFailing = false
        var latch: Latch?
        var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    let isPersistent: Bool
    private let state = Mutex(State())

    init(isPersistent: Bool = true) { self.isPersistent = isPersistent }

    /// What was asked, such as `read decoding`.
    var calls: [String] { state.withLock { $0.calls } }
    var entities: [EntityKey: StoredEntity] { state.withLock { $0.entities } }

    /// Lets all later calls fail.
    func fails(_ isFailing: Bool = true) { state.withLock { $0.isFailing = isFailing } }

    /// Lets all later calls wait until the latch is opened.
    func stalls(_ latch: Latch?) { state.withLock { $0.latch = latch } }

    func set(_ entity: StoredEntity, for key: EntityKey) { state.withLock { $0.entities[key] = entity } }

    /// Waits until so many calls were made.
    func waitForCalls(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if state.calls.count < count { state.waiters.append((count, continuation)) }
                return state.calls.count >= count
            }
            if isReady { continuation.resume() }
        }
    }

    private func note(_ call: String) async throws {
        let (ready, latch, isFailing) = state.withLock { state in
            state.calls.append(call)
            let count = state.calls.count
            let ready = state.waiters.filter { $0.count <= count }.map(\.continuation)
            state.waiters.removeAll { $0.count <= count }
            return (ready, state.latch, state.isFailing)
        }
        for waiter in ready { waiter.resume() }
        await latch?.wait()
        if isFailing { throw Fault() }
    }

    func entity(for key: EntityKey) async throws -> StoredEntity? {
        try await note("read \(key.stage)")
        return state.withLock { $0.entities[key] }
    }

    func store(_ entity: StoredEntity, for key: EntityKey) async throws {
        try await note("store \(key.stage)")
        state.withLock { $0.entities[key] = entity }
    }

    func revalidated(_ key: EntityKey, by confirmation: EntityConfirmation) async throws {
        try await note("renew \(key.stage)")
        state.withLock { $0.entities[key] = $0.entities[key]?.revalidated(by: confirmation) }
    }

    func remove(_ key: EntityKey) async throws {
        try await note("remove \(key.stage)")
        state.withLock { _ = $0.entities.removeValue(forKey: key) }
    }

    func removeAll(in scope: EntityScope) async throws {
        try await note("remove all")
        state.withLock { state in state.entities = state.entities.filter { !scope.contains($0.key) } }
    }
}

import EssentialsHTTP
public import EssentialsRequests
import EssentialsTools

/// The pending writes that are attached to a resource service.
final class AttachedWrites: Sendable {
    private struct Attached: Sendable {
        weak var writes: (any PendingWrites)?
        let deadline: Duration
    }

    private let attached = Mutex<[Attached]>([])

    func add(_ writes: any PendingWrites, waiting deadline: Duration) {
        let sender = (writes as? any OwnedPendingWrites)?.sender ?? writes
        replace(sender, with: Attached(writes: sender, deadline: deadline))
    }

    func remove(_ writes: any PendingWrites) {
        replace((writes as? any OwnedPendingWrites)?.sender ?? writes, with: nil)
    }

    /// Removes some writes and those that were released, and adds others.
    private func replace(_ writes: any PendingWrites, with added: Attached?) {
        let seen = attached.withLock { attached in
            var seen: [any PendingWrites] = []
            attached.removeAll { one in
                guard let present = one.writes else { return true }
                seen.append(present)
                return present === writes
            }
            if let added { attached.append(added) }
            return seen
        }
        // The last reference to some of them may end here, outside the lock.
        withExtendedLifetime(seen) {}
    }

    /// Sends all writes, and waits for each at most until its deadline, even if the writes take longer.
    func send(_ clock: RequestClock) async {
        let attached = attached.withLock { $0 }
        guard !attached.isEmpty else { return }
        await withTaskGroup { group in
            for one in attached {
                guard let writes = one.writes else { continue }
                group.addTask {
                    let ended = OneShot<Void>()
                    Task {
                        await writes.sendPending(waitingAtMost: one.deadline)
                        ended.provide(())
                    }
                    await ended.valueUnlessCancelled { _ = try? await clock.sleep(for: one.deadline) }
                }
            }
        }
    }
}

extension HTTPResourceService {
    /// Makes resources wait for pending writes, such as an outbox, when the server is reachable again. The writes are
    /// sent first, so that the resources show their changes.
    ///
    /// ```swift
    /// service.attach(outbox)
    /// ```
    ///
    /// This has an effect only if the service was created with a reachability service. The service does not keep the
    /// writes alive, and neither enters partitions for them nor closes them.
    ///
    /// - Parameters:
    ///   - writes: The writes.
    ///   - deadline: The maximum time for which resources wait for the writes. The default is ten seconds.
    public func attach(_ writes: any PendingWrites, waitingAtMost deadline: Duration = .seconds(10)) {
        attachedWrites.add(writes, waiting: deadline)
    }

    /// Makes resources no longer wait for pending writes.
    public func detach(_ writes: any PendingWrites) { attachedWrites.remove(writes) }
}

import EssentialsTools

/// The outboxes of a resource service.
final class AttachedOutboxes: Sendable {
    private struct Attached: Sendable {
        weak var core: OutboxCore?
        let deadline: Duration
    }

    private let attached = Mutex<[Attached]>([])

    func add(_ core: OutboxCore, waiting deadline: Duration) {
        attached.withLock { attached in
            attached.removeAll { $0.core == nil || $0.core === core }
            attached.append(Attached(core: core, deadline: deadline))
        }
    }

    func remove(_ core: OutboxCore) {
        attached.withLock { $0.removeAll { $0.core == nil || $0.core === core } }
    }

    /// Tries what the network did not carry, and waits for all outboxes, for each at most its time.
    func send() async {
        let attached = attached.withLock { $0 }
        guard !attached.isEmpty else { return }
        await withTaskGroup { group in
            for one in attached {
                guard let core = one.core else { continue }
                group.addTask { await core.pathIsBack(waiting: one.deadline) }
            }
        }
    }
}

extension HTTPResourceService {
    /// Lets resources wait for an outbox when the server is reachable again: the outbox sends its entries first, so that the
    /// resources show what they have changed.
    ///
    /// ```swift
    /// service.attach(outbox)
    /// ```
    ///
    /// It has an effect only if the service was created with a reachability service. The service does not keep the outbox
    /// alive, and neither enters partitions for it nor closes it.
    ///
    /// - Parameters:
    ///   - outbox: The outbox.
    ///   - deadline: How long resources wait for it at most. The default is ten seconds.
    public func attach(_ outbox: Outbox, waitingAtMost deadline: Duration = .seconds(10)) {
        outboxes.add(outbox.core, waiting: deadline)
    }

    /// Lets resources no longer wait for an outbox.
    public func detach(_ outbox: Outbox) { outboxes.remove(outbox.core) }
}

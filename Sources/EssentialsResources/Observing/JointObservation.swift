import EssentialsTools

/// Raises a signal with each change of several resources. It is their observer as long as it exists.
///
/// The signal is finished when the services of all resources have been closed.
final class JointObservation: Sendable {
    private let resources: [AnyResource]
    private let numbers: [UInt64]
    #if DEBUG
        private let mark = LiveMark(.reader)
    #endif

    init(of resources: [AnyResource], _ signal: ChangeSignal) {
        self.resources = resources
        let end = SharedEnd(resources.count, signal)
        numbers = resources.enumerated().map { index, resource in
            let number = resource.core.add(
                SignalReceiver(raise: { signal.raise() }, end: { end.end(index) }), resource.service)
            // Closing a service ends the observers that it finds, so one that comes later ends itself.
            if resource.service.isClosed { end.end(index) }
            return number
        }
        if resources.isEmpty { signal.finish() }
    }

    deinit {
        for (resource, number) in zip(resources, numbers) { resource.handle.remove(observer: number) }
    }
}

/// Finishes a signal when all of its sources have ended. They can belong to different services.
private final class SharedEnd: Sendable {
    private let open: Mutex<Set<Int>>
    private let signal: ChangeSignal

    init(_ count: Int, _ signal: ChangeSignal) {
        open = Mutex(Set(0..<count))
        self.signal = signal
    }

    func end(_ index: Int) {
        let isLast = open.withLock { open in open.remove(index) != nil && open.isEmpty }
        if isLast { signal.finish() }
    }
}

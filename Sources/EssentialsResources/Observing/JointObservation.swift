import EssentialsTools

/// Raises a signal with each change of several resources. It observes them as long as it exists.
///
/// The signal is finished when the services of all resources have been closed.
final class JointObservation: Sendable {
    private let places: [Place]

    /// - Parameter signals: They raise the signal for changes other than those of the resources.
    init(of resources: [AnyResource], _ signal: ChangeSignal, and signals: ChangeSignals? = nil) {
        // The observations that have not ended. They can belong to different services.
        let open = Mutex(Set(resources.indices))
        let end = { @Sendable (index: Int) in
            if open.withLock({ $0.remove(index) != nil && $0.isEmpty }) { signal.finish() }
        }
        var places = resources.enumerated().map { index, resource in
            let receiver = ClosureReceiver(body: { _ in signal.raise() }, end: { end(index) })
            let number = resource.core.add(receiver, resource.service)
            // Closing a service ends the observers that exist then. An observer that is added later ends itself.
            if resource.service.isClosed { receiver.finish() }
            return Place.counted { resource.handle.remove(observer: number) }
        }
        if let signals { places.append(signals.place(for: signal)) }
        self.places = places
        if resources.isEmpty { signal.finish() }
    }
}

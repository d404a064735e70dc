/// Is told why the resources of a service are loaded or not, such as to count or record it.
///
/// ```swift
/// final class LoadCounter: LoadObserver {
///     let count = Atomic(0)
///
///     func observe(_ event: LoadEvent) {
///         if case .began = event.kind { count.add(1, ordering: .relaxed) }
///     }
/// }
/// ```
///
/// A service without observers, whose logger is above the level debug, makes no events.
public protocol LoadObserver: Sendable {
    /// Receives an event.
    ///
    /// It is called on a thread that works on the resource, without a lock, so it must not block. The events of one resource
    /// come one after another, in their order: what happens while an event is being told is told after it, by the same thread.
    /// The events of different resources come at the same time.
    ///
    /// If 1,024 events of a resource wait because an observer is slow, further ``LoadEvent/Kind/joined`` and
    /// ``LoadEvent/Kind/skipped(_:)`` of this resource are left out, and of ``LoadEvent/Kind/changed(_:)`` that follow each
    /// other only the last one is told. Other events never are left out.
    func observe(_ event: LoadEvent)
}

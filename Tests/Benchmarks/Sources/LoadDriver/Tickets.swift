internal import Synchronization

/// The requests of a phase that no task has started yet.
final class Tickets: Sendable {
    let count: Int
    private let taken = Atomic(0)

    init(count: Int) {
        self.count = count
    }

    func take() -> Bool {
        taken.add(1, ordering: .relaxed).oldValue < count
    }
}

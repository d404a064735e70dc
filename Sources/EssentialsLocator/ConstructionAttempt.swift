/// One run of a lazy registration's factory: who runs it, and what came of it for those who wait.
final class ConstructionAttempt: Sendable {
    /// How a run ended.
    enum Outcome: Sendable {
        /// The service is in its slot.
        case built
        /// The factory failed; the next resolve tries again.
        case failed(ServiceLocatorError)
        /// The registration was removed before its factory could run; look again.
        case withdrawn
    }

    /// The slot under construction.
    let slot: ObjectIdentifier
    /// The thread that runs the factory, from beginning to end.
    let builder: UInt
    /// The registration as it is shown in the path of a cycle.
    let label: String
    /// What the waiting threads block for.
    let result = BlockingResult<Outcome>()

    init(slot: ObjectIdentifier, builder: UInt, label: String) {
        self.slot = slot
        self.builder = builder
        self.label = label
    }
}

import EssentialsHTTP

/// The statuses of a set of resources: the present one, then each that differs from the one before.
///
/// ```swift
/// for await status in ResourceStatus.of(cart, orders) { statusLine.show(status) }
/// ```
///
/// A reader that is slower than the changes finds only the newest status. There can be any number of readers. The sequence
/// ends when the calling task is cancelled or the service is closed, and never throws. Its reader counts as an observer of
/// each resource, and keeps them in memory.
public struct ResourceStatuses: AsyncSequence, Sendable {
    /// A status.
    public typealias Element = ResourceStatus
    /// The sequence never fails.
    public typealias Failure = Never

    let set: ResourceStatusSet

    /// Begins with the present status.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: StatusReader(set)) }

    /// Reads the statuses.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let reader: StatusReader
        private var last: ResourceStatus?

        fileprivate init(reader: StatusReader) { self.reader = reader }

        /// The next status; `nil` at the end.
        public mutating func next() async -> ResourceStatus? { await next(isolation: #isolation) }

        /// The next status; `nil` at the end. A `for` loop calls this method.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> ResourceStatus? {
            while await reader.signal.next() {
                let status = reader.set.current
                if let last, status.isSame(as: last) { continue }
                last = status
                return status
            }
            return nil
        }
    }
}

extension ResourceStatus {
    /// The statuses of resources with contents of different types: the present one, then each that differs from the one
    /// before. Use ``ResourceStatusSet`` to try failed loads again.
    ///
    /// - Parameters:
    ///   - resources: The resources.
    ///   - rules: The rules, of which the first that applies decides.
    public static func of<each Content: Sendable>(
        _ resources: repeat Resource<each Content>, rules: [Rule] = standardRules
    ) -> ResourceStatuses {
        ResourceStatusSet(StatusMember.list(repeat each resources), rules).statuses
    }

    /// The statuses of resources without types; otherwise like the function for typed ones.
    public static func of(_ resources: [AnyResource], rules: [Rule] = standardRules) -> ResourceStatuses {
        ResourceStatusSet(resources, rules: rules).statuses
    }

    /// Whether a status shows the same. Failures are equal if they have the same reason, status and text.
    func isSame(as other: ResourceStatus) -> Bool {
        switch (self, other) {
        case (.loading, .loading), (.content, .content): true
        case (.failed(let one), .failed(let other)):
            one.reason == other.reason && one.status == other.status && one.message == other.message
                && one.summary == other.summary
        default: false
        }
    }
}

/// The place of one reader of a set's status. It leaves the resources when the reader is gone.
private final class StatusReader: Sendable {
    let set: ResourceStatusSet
    let signal: ChangeSignal
    private let observation: JointObservation
    private let number: UInt64

    init(_ set: ResourceStatusSet) {
        let signal = ChangeSignal()
        self.set = set
        self.signal = signal
        number = set.signals.add(signal)
        observation = JointObservation(
            of: set.members.map { AnyResource(service: $0.service, core: $0.handle) }, signal)
    }

    deinit { set.signals.remove(number) }
}

public import EssentialsHTTP
public import EssentialsRequests
import EssentialsStorage
public import FoundationEssentials

/// A request in an ``Outbox``, at one moment.
///
/// ```swift
/// for entry in try await outbox.entries {
///     if case .failed(let failure) = entry.state { print(entry.id, entry.path, failure.message) }
/// }
/// ```
public struct OutboxEntry: Sendable, Hashable, Identifiable {
    /// Identifies an entry, even after a restart. Later entries have greater identifiers.
    public struct ID: Sendable, Hashable, Comparable, CustomStringConvertible {
        let number: UInt64

        init(number: UInt64) { self.number = number }

        /// Reads the text of an identifier; `nil` if the text is not valid.
        public init?(_ text: String) {
            guard text.utf8.count == 16, let number = UInt64(text, radix: 16) else { return nil }
            self.number = number
            // A sign or other letters would be a second text for the same identifier.
            guard description == text else { return nil }
        }

        /// The identifier as sixteen hexadecimal digits.
        public var description: String { StableHash.hexadecimal(number) }

        /// Whether an entry was added before another one.
        public static func < (one: ID, other: ID) -> Bool { one.number < other.number }
    }

    /// The state of an entry.
    public enum State: Sendable, Hashable {
        /// It waits for its turn.
        case waiting
        /// It was sent without success, or could not be sent, and is tried again later.
        case delayed
        /// It waits until its partition is entered again.
        case otherPartition
        /// It waits until its environment is the current one again; see ``OutboxEntry/environmentDifference``.
        case otherEnvironment
        /// It is being sent.
        case sending
        /// The server has accepted it, with this status. The entry is gone.
        case sent(status: Int)
        /// It is not sent any more, unless ``Outbox/retry(_:)`` is called.
        case failed(OutboxFailure)
        /// It was dropped by hand. The entry is gone.
        case dropped
    }

    /// Why the current environment is not that of an entry.
    public enum EnvironmentDifference: Sendable, Hashable {
        /// The current environment has another name. If the entry's environment has no name, it has another base URL.
        case environment
        /// The current environment has the same name or base URL, but other header fields, such as those of another
        /// tenant.
        case headerFields
    }

    /// The identifier.
    public let id: ID
    /// The method of the request.
    public let method: HTTPRequest.Method
    /// The path of the request without its query.
    public let path: String
    /// The ordering key.
    public let orderingKey: OrderingKey
    /// The account for which it was added.
    public let partition: EntityPartition
    /// When it was added, by the wall clock.
    public let date: Date
    /// The value of its `Idempotency-Key` field, which is the same for all attempts, even after a restart.
    public let idempotencyKey: String
    /// The size on the disk.
    public internal(set) var byteCount: Int
    /// How often a server may have received it since this process has opened the outbox.
    public internal(set) var attempts = 0
    /// The state of the entry.
    public internal(set) var state = State.waiting
    /// When it was added, by the clock of the machine; `nil` if that is not known.
    var bootTime: BootTime?

    /// The environment for which it was added.
    let environment: OutboxEnvironment
    /// Why it waits for its environment; `nil` unless its state is ``State/otherEnvironment``.
    public internal(set) var environmentDifference: EnvironmentDifference?

    /// The name of the environment for which it was added; empty if the environment has none.
    public var environmentName: String { environment.name }

    /// The base URL of its environment when it was added, without the query. An environment with a name may have
    /// another one when the entry is sent.
    public var baseURL: String { environment.baseURL }
}

/// Why an entry of an ``Outbox`` is not sent any more.
public struct OutboxFailure: Error, Sendable, Hashable {
    /// The reason of the last failure; `timeout` for an entry that has become too old.
    public let reason: RequestFailure.Reason
    /// The status of the response, if there was one.
    public let status: Int?
    /// The description of the failure, in one sentence without secrets.
    public let message: String
    /// When it was given up, by the wall clock.
    public let date: Date
    /// Whether it was given up only because of its age. This is undone if the clock was wrong.
    let isByAge: Bool

    init(reason: RequestFailure.Reason, status: Int? = nil, message: String, date: Date, isByAge: Bool = false) {
        self.isByAge = isByAge
        self.reason = reason
        self.status = status
        self.message = message
        self.date = date
    }

    init(_ failure: RequestFailure, date: Date) {
        self.init(reason: failure.reason, status: failure.status?.code, message: failure.message, date: date)
    }

    /// The beginning of the message of a failure by age. It identifies such failures of the first version.
    static let expiredMessage = "The entry waited for longer than "

    static func expired(_ age: Duration, date: Date) -> OutboxFailure {
        OutboxFailure(
            reason: .timeout, message: "\(expiredMessage)\(age.bounded.components.seconds) seconds.", date: date,
            isByAge: true)
    }
}

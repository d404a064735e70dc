public import EssentialsHTTP
package import EssentialsTools

/// Is told what happens to the requests of a service, such as to count, trace or record them.
///
/// ```swift
/// final class FailureCounter: RequestObserver {
///     let count = Atomic(0)
///
///     func observe(_ event: RequestEvent) {
///         if case .ended(let ending) = event.kind, ending.failure != nil { count.add(1, ordering: .relaxed) }
///     }
/// }
/// ```
///
/// A service without observers, whose logger is above the level debug, makes no events: a request then costs a few comparisons.
public protocol RequestObserver: Sendable {
    /// Whether the observer is told anything. The default is `true`. It never changes. A service whose observers are not enabled
    /// makes no events.
    var isEnabled: Bool { get }
    /// The maximum number of bytes of each body that the observer is told; see ``RequestEvent/Kind/body(_:)``. The default is
    /// 0, which means none. It never changes.
    var bodyLimit: Int { get }
    /// Whether the observer is asked for fields; see ``fields(of:)``. The default is `false`. It never changes.
    var addsFields: Bool { get }

    /// Header fields that an attempt carries beside those of its request, such as the context of a trace.
    ///
    /// It is called for each attempt, before it is signed and told as ``RequestEvent/Kind/sent(_:)``; once for the two attempts
    /// of Digest. Fields that the request already has stay as they are. The default has none.
    ///
    /// - Parameter attempt: The attempt. Fields that not every server may read belong only to those of the environment's
    ///   origin.
    func fields(of attempt: ObservedAttempt) -> HTTPFields

    /// The observer for one call. The default is this observer itself.
    ///
    /// It is asked for once, before the first event of the call, in the task that makes the call, and must not block. The URL of
    /// the call is not known yet. What is returned receives all events of the call and is asked for its fields, in place of this
    /// observer, so it can keep what it knows of the call in its own properties. It lives at least as long as the response. An
    /// exchange that others share can ask for fields after the end of its first call. Whether an observer
    /// ``isEnabled``, its ``bodyLimit`` and whether it ``addsFields`` is asked of this observer alone.
    ///
    /// An observer that passes events on to another one asks that one for observers of calls too. The observers of this package
    /// also work if all events of each call are passed to ``observe(_:)``.
    func observer(of call: RequestCall) -> any RequestObserver

    /// Receives an event.
    ///
    /// It is called on a thread that works on the request, so it must not block. The events of one request come one after
    /// another, in their order: what happens while an event is being told is told after it, by the same thread. The events of
    /// different requests come at the same time.
    func observe(_ event: RequestEvent)
}

extension RequestObserver {
    /// Observers are enabled.
    public var isEnabled: Bool { true }
    /// No bodies.
    public var bodyLimit: Int { 0 }
    /// No fields.
    public var addsFields: Bool { false }
    /// This observer.
    public func observer(of call: RequestCall) -> any RequestObserver { self }
    /// No fields.
    public func fields(of attempt: ObservedAttempt) -> HTTPFields { HTTPFields() }
}

/// The identity of a call of a data-request service, which is unique in the process.
public struct RequestID: Sendable, Hashable, CustomStringConvertible {
    /// The number of the service in the process, from 1.
    public let service: UInt64
    /// The number of the call in the service, from 1.
    public let number: UInt64

    /// Creates an identity, for test doubles.
    public init(service: UInt64, number: UInt64) { (self.service, self.number) = (service, number) }

    /// Both numbers with a hyphen between them, as in the log.
    public var description: String { "\(service)-\(number)" }
}

/// What is known of a call of a data-request service, whatever happens to it.
public struct RequestCall: Sendable, CustomReflectable {
    /// It is an object, because each event has it.
    private final class Facts: Sendable {
        let id: RequestID
        let method: HTTPRequest.Method
        let target: RequestURL?
        let redaction: Shared<Redaction>
        let began: SteadyInstant
        let isBackground: Bool

        init(
            _ id: RequestID, _ method: HTTPRequest.Method, _ target: RequestURL?,
            _ redaction: Shared<Redaction>,
            _ began: SteadyInstant, isBackground: Bool
        ) {
            (self.id, self.method, self.target, self.redaction) = (id, method, target, redaction)
            (self.began, self.isBackground) = (began, isBackground)
        }
    }

    private let facts: Facts

    init(
        _ id: RequestID, _ method: HTTPRequest.Method, _ redaction: Shared<Redaction>, began: SteadyInstant = .now,
        isBackground: Bool = false
    ) { facts = Facts(id, method, nil, redaction, began, isBackground: isBackground) }

    private init(_ facts: Facts) { self.facts = facts }

    /// The call with the URL of its prepared request.
    func prepared(_ target: RequestURL) -> RequestCall {
        RequestCall(
            Facts(facts.id, facts.method, target, facts.redaction, facts.began, isBackground: facts.isBackground))
    }

    /// Whether a URL is that of the prepared request, whatever its query.
    func isPrepared(for url: RequestURL) -> Bool {
        guard let target = facts.target else { return false }
        return target.path == url.path && target.origin == url.origin
    }

    /// Identifies the call.
    public var id: RequestID { facts.id }
    /// The method.
    public var method: HTTPRequest.Method { facts.method }
    /// The URL after the interceptors, as the service's redaction shows it; `nil` before the request was prepared.
    public var url: String? { facts.target.map { facts.redaction.values.text(of: $0) } }
    /// When the call began.
    public var began: ContinuousClock.Instant { facts.began.instant }
    package var time: SteadyInstant { facts.began }
    /// Whether the service itself makes the call, to validate a stale response that it has served.
    public var isBackground: Bool { facts.isBackground }
    /// What of a request is shown.
    var redaction: Shared<Redaction> { facts.redaction }

    /// The properties for debuggers and `dump`, also without secrets.
    public var customMirror: Mirror {
        Mirror(self, children: ["id": id, "method": method.rawValue, "url": url as Any, "isBackground": isBackground])
    }
}

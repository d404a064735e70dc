/// What has happened in one call and how long it took, made of its events.
///
/// ```swift
/// let timelines = RequestTimelines()
/// configuration.observers = [timelines]
/// // after some requests
/// for phase in timelines.all.last?.phases ?? [] { print(phase.attempt, phase.name, phase.duration) }
/// ```
public struct RequestTimeline: Sendable {
    /// A part of the time of a call. Phases can overlap, such as an upload and its response.
    public struct Phase: Sendable, Hashable {
        /// What the time was used for.
        public enum Name: String, Sendable, Hashable {
            /// The interceptors and the encoding, before the first attempt.
            case preparing
            /// The limits of the origin.
            case limits
            /// An access token.
            case token
            /// Another request's validation of a stored response.
            case validation
            /// An equal request whose response is shared.
            case joined
            /// The queue of the transport.
            case queue
            /// The address of the host.
            case name
            /// The connection.
            case connect
            /// The TLS handshake.
            case tls
            /// The request.
            case send
            /// The first byte of the response, from the end of the request.
            case wait
            /// The response, from its first byte. A body that is streamed counts until it ends, or until another attempt.
            case receive
            /// The whole of an attempt of which nothing more is known.
            case attempt
            /// The pause before another attempt.
            case pause
        }

        /// What the time was used for.
        public let name: Name
        /// The number of the attempt; 0 before the first one.
        public let attempt: Int
        /// When it began, counted from the beginning of the call.
        public let begin: Duration
        /// When it ended, counted from there.
        public let end: Duration

        /// How long it took.
        public var duration: Duration { end - begin }
    }

    /// The events in their order.
    public private(set) var events: [RequestEvent] = []
    /// The number of events that were not kept, because there were too many.
    public private(set) var droppedEvents = 0

    /// The most events of a call that are kept, beside its end.
    public static let maximumEvents = 1_000

    /// Creates a timeline.
    public init(_ events: [RequestEvent] = []) { for event in events { add(event) } }

    /// Makes room for events.
    package mutating func reserveCapacity(_ count: Int) { events.reserveCapacity(count) }

    /// Adds the next event. Beyond ``maximumEvents`` only the end of the call is added.
    ///
    /// - Returns: Whether it was added.
    @discardableResult
    public mutating func add(_ event: RequestEvent) -> Bool {
        if case .ended = event.kind {
        } else if events.count >= Self.maximumEvents {
            droppedEvents += 1
            return false
        }
        events.append(event)
        return true
    }

    /// The call; `nil` without an event.
    public var call: RequestCall? { events.last?.call }
    /// Whether the call has ended.
    public var isComplete: Bool { if case .ended? = events.last?.kind { true } else { false } }
    /// The time from the beginning to the last event.
    public var duration: Duration { events.last?.elapsed ?? .zero }

    /// The phases, in the order in which their ends became known.
    public var phases: [Phase] {
        var builder = PhaseBuilder()
        for event in events { builder.add(event) }
        return builder.phases
    }
}

/// Finds the phases of a call.
private struct PhaseBuilder {
    typealias Name = RequestTimeline.Phase.Name

    private(set) var phases: [RequestTimeline.Phase] = []
    private var preparing: Duration? = .zero
    private var joined: Duration?
    /// When the attempt that runs was begun.
    private var sent: Duration?
    /// When the pause before the next attempt began.
    private var pause: Duration?
    /// The metrics of a streamed response up to its head.
    private var streamed: (start: Duration, metrics: TransportMetrics)?

    mutating func add(_ event: RequestEvent) {
        let (now, attempt) = (event.elapsed, event.attempt)
        switch event.kind {
        case .prepared: append(.preparing, attempt, from: preparing.take(), to: now)
        case .waited(let wait):
            append(Self.name(of: wait.reason), attempt, from: max(.zero, now - wait.duration), to: now)
        case .sent:
            append(.pause, attempt - 1, from: pause.take(), to: now)
            endJoining(attempt, now)
            // The body of the former attempt was read or left until now.
            endBody(attempt - 1, now)
            sent = now
        case .head(let response):
            guard let start = sent.take() else { return }
            if response.isStreamed { streamed = (start, response.metrics) }
            append(response.metrics, attempt, from: start, to: now)
        case .attemptFailed: append(.attempt, attempt, from: sent.take(), to: now)
        case .joined: joined = now
        case .retrying: pause = now
        case .received: endJoining(attempt, now)
        case .ended(let ending): end(ending, attempt, now)
        default: break
        }
    }

    private static func name(of reason: RequestEvent.Wait.Reason) -> Name {
        switch reason {
        case .limits: .limits
        case .token: .token
        case .validation: .validation
        }
    }

    private mutating func end(_ ending: RequestEvent.Ending, _ attempt: Int, _ now: Duration) {
        append(.preparing, attempt, from: preparing.take(), to: now)
        append(.pause, attempt, from: pause.take(), to: now)
        endJoining(attempt, now)
        append(.attempt, attempt, from: sent.take(), to: now)
        endBody(attempt, now)
    }

    private mutating func endJoining(_ attempt: Int, _ now: Duration) {
        append(.joined, attempt, from: joined.take(), to: now)
    }

    /// Ends the body that is streamed.
    private mutating func endBody(_ attempt: Int, _ now: Duration) {
        guard let body = streamed.take() else { return }
        let first = body.metrics.firstByte.map { body.start + body.metrics.queued + $0 }
        append(.receive, attempt, from: first ?? body.start, to: now)
    }

    private mutating func append(_ name: Name, _ attempt: Int, from begin: Duration?, to end: Duration) {
        guard let begin else { return }
        phases.append(.init(name: name, attempt: attempt, begin: begin, end: max(begin, end)))
    }

    /// The phases that a transport has measured. They end no later than the event that tells them.
    private mutating func append(
        _ metrics: TransportMetrics, _ attempt: Int, from start: Duration, to now: Duration
    ) {
        guard metrics != TransportMetrics() else { return append(.attempt, attempt, from: start, to: now) }
        let base = start + metrics.queued
        if metrics.queued > .zero { append(.queue, attempt, from: start, to: min(base, now)) }
        var last = Duration.zero
        for (name, time) in [(Name.name, metrics.nameResolved), (.connect, metrics.connected), (.tls, metrics.secured)]
        {
            guard let time, time > last else { continue }
            append(name, attempt, from: base + last, to: min(base + time, now))
            last = time
        }
        let began = metrics.requestBegan ?? last
        if let sent = metrics.requestSent { append(.send, attempt, from: base + began, to: min(base + sent, now)) }
        guard let first = metrics.firstByte else { return }
        append(.wait, attempt, from: base + (metrics.requestSent ?? began), to: min(base + first, now))
        guard streamed == nil else { return }
        append(.receive, attempt, from: base + first, to: metrics.finished.map { min(base + $0, now) } ?? now)
    }
}

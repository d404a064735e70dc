/// Decides what happens to one exchange between the message that starts it and its end.
///
/// Each method takes an event and returns the actions that the engine then performs. An event that cannot occur in the
/// current state changes nothing and returns no action. The machine owns no transfer, lock or clock.
struct ExchangeMachine: Equatable {
    enum State: Hashable {
        /// The engine has not read the message that starts the exchange.
        case new
        /// The exchange is in its lane's queue.
        case waiting
        /// The exchange has a place in its lane, and a transfer runs for it.
        case running(Delivery)
        /// The exchange keeps its place in its lane, and is sent again after a pause.
        case pausing(restartsUpload: Bool)
        /// The awaiting task has its outcome, and the engine holds nothing of the exchange.
        case ended
    }

    /// The part of the response that the awaiting task has received while the transfer runs.
    enum Delivery: Hashable {
        case nothing
        /// The response, whose body follows as a stream.
        case head
        /// The response. Its reader dropped the stream, so the rest of the body is read and discarded.
        case dropped
    }

    /// The connections that the next transfer may use.
    enum Connection: Hashable {
        case any
        /// A connection that no other request has used.
        case fresh
        /// A fresh connection that resumes no TLS session.
        case freshHandshake
    }

    /// The cause for which libcurl ended a transfer, as far as it decides whether the request is sent again.
    struct Fault: Hashable {
        enum Kind: Hashable {
            /// A resumed TLS session lacked the certificates that a policy needs.
            case missingEvidence
            /// A kept connection could not serve the request.
            case unusableConnection
            /// A kept connection was closed by its peer before the response.
            case closedConnection
            /// The server has refused the HTTP/2 stream, without processing the request.
            case refusedStream
            /// The server has refused the HTTP/2 stream because it demands HTTP/1.1.
            case demandsHTTP1
            /// The server has responded with 417 because of `Expect: 100-continue`.
            case refusesExpectation
            /// libcurl has discarded a response that arrived before the end of the request.
            case lostResponse
            /// The server has refused a connection that speaks HTTP/1.1.
            case refusesHTTP1
            case other
        }

        var kind: Kind
        /// The number of times that the transfer has sent the request.
        var sendCount: Int
        /// The number of these attempts that the server has certainly not processed.
        var refusedCount = 0
        /// Whether a byte of a response has arrived.
        var hasFirstByte = false
        /// Whether the server may process the request twice.
        var isIdempotent = false
        /// Whether the request body was read from its source, and whether it can be read again.
        var body = Body.unread
        /// Whether the request was sent over HTTP/2, which other requests share.
        var sharesConnection = false
        /// Whether the request must not be sent again at once, because the server has requested less load.
        var isCalmed = false
        /// Whether the request may be sent over HTTP/1.1.
        var allowsHTTP1 = true
        /// Whether there is time for a pause before the deadline.
        var canPause = true

        enum Body: Hashable {
            /// Nothing was read, or the body is in memory.
            case unread
            /// A source was read, and can be read again.
            case replayable
            /// A source was read, and cannot be read again.
            case spent
        }
    }

    /// The engine's actions after an event, in the order of declaration.
    struct Actions: OptionSet, Hashable {
        let rawValue: UInt16

        /// Requests a place in the lane and passes the result to ``entered(_:)``.
        static let enterLane = Actions(rawValue: 1 << 0)
        static let leaveQueue = Actions(rawValue: 1 << 1)
        static let abortTransfer = Actions(rawValue: 1 << 2)
        /// Reports a chain without pins under a rule that only reports.
        static let reportPins = Actions(rawValue: 1 << 3)
        /// Delivers the received response to the awaiting task.
        static let respond = Actions(rawValue: 1 << 4)
        /// Delivers all received chunks to the reader of a stream.
        static let deliverRest = Actions(rawValue: 1 << 5)
        /// Discards the rest of the body, or cancels the exchange if that is not worth it.
        static let drain = Actions(rawValue: 1 << 6)
        /// Ends the stream, and stops reading the source of the request's body.
        static let closeBodies = Actions(rawValue: 1 << 7)
        static let releaseTransfer = Actions(rawValue: 1 << 8)
        static let leaveLane = Actions(rawValue: 1 << 9)
        /// Reads the source of the request's body from its beginning.
        static let restartUpload = Actions(rawValue: 1 << 10)
        /// Chooses a multi handle and notes how long the exchange has waited.
        static let takePlace = Actions(rawValue: 1 << 11)
        static let startTransfer = Actions(rawValue: 1 << 12)
        /// Delivers the failure to the awaiting task.
        static let fail = Actions(rawValue: 1 << 13)
        /// Waits, and then calls ``pauseEnded()``.
        static let pause = Actions(rawValue: 1 << 14)
    }

    private(set) var state = State.new
    private(set) var connection: Connection
    /// Whether the request is sent over HTTP/1.1, although it does not insist on it.
    private(set) var usesHTTP1 = false
    /// Whether HTTP/1.1 is used because libcurl could lose the response over HTTP/2.
    private(set) var prefersHTTP1 = false
    /// Whether the request is sent without `Expect: 100-continue`, because its server has refused the expectation.
    private(set) var omitsExpectation = false
    /// The number of times that the request was sent before the running transfer.
    private(set) var earlierSendings = 0
    /// The number of these attempts that the server has certainly not processed.
    private(set) var earlierRefusals = 0
    private var hasRepeated = false

    /// The maximum number of times that a request is sent again after its server has refused it unprocessed.
    static let resendsMaximum = 10

    init(connection: Connection = .any) { self.connection = connection }

    var isWaiting: Bool { state == .waiting }

    var isPausing: Bool {
        if case .pausing = state { true } else { false }
    }

    /// Whether libcurl itself may send the request again as soon as the server has refused its stream.
    var resendsAtOnce: Bool { earlierRefusals == 0 }

    var isRunning: Bool {
        if case .running = state { true } else { false }
    }

    // MARK: Beginnings

    /// The request is sent over HTTP/1.1 unless the server refuses that.
    mutating func preferHTTP1() {
        guard state == .new else { return }
        (usesHTTP1, prefersHTTP1) = (true, true)
    }

    /// The engine has read the message that starts the exchange.
    mutating func arrived(isCancelled: Bool) -> Actions {
        guard state == .new else { return [] }
        guard isCancelled else { return .enterLane }
        state = .ended
        return [.closeBodies, .fail]
    }

    /// The lane has decided whether the exchange starts, waits or is refused.
    mutating func entered(_ arrival: Admission) -> Actions {
        guard state == .new else { return [] }
        switch arrival {
        case .start:
            state = .running(.nothing)
            return [.takePlace, .startTransfer]
        case .wait:
            state = .waiting
            return []
        case .full:
            state = .ended
            return [.closeBodies, .fail]
        }
    }

    /// The lane has given a waiting exchange its place.
    mutating func turnCame() -> Actions {
        guard state == .waiting else { return [] }
        state = .running(.nothing)
        return [.takePlace, .startTransfer]
    }

    /// No transfer could be started.
    mutating func startFailed() -> Actions {
        guard state == .running(.nothing) else { return [] }
        state = .ended
        return [.closeBodies, .leaveLane, .fail]
    }

    /// The pause before the next attempt is over.
    mutating func pauseEnded() -> Actions {
        guard case .pausing(let restartsUpload) = state else { return [] }
        state = .running(.nothing)
        return restartsUpload ? [.restartUpload, .startTransfer] : .startTransfer
    }

    // MARK: Progress

    /// The head of a response has arrived whose body follows as a stream.
    mutating func headArrived() -> Actions {
        guard state == .running(.nothing) else { return [] }
        state = .running(.head)
        return .respond
    }

    /// The reader of a stream has dropped it before its end.
    mutating func dropped() -> Actions {
        guard state == .running(.head) else { return [] }
        state = .running(.dropped)
        return .drain
    }

    // MARK: Ends

    /// libcurl has ended the transfer successfully.
    mutating func completed() -> Actions {
        guard case .running(let delivery) = state else { return [] }
        state = .ended
        let ending: Actions = [.reportPins, .closeBodies, .releaseTransfer, .leaveLane]
        return ending.union(delivery == .nothing ? .respond : .deliverRest)
    }

    /// libcurl has ended the transfer with a failure.
    ///
    /// The request is sent again if the server has not processed it, or if the connection was at fault and the server
    /// may process the request twice. ``WireEnding`` has the table.
    mutating func failed(_ fault: Fault) -> Actions {
        guard case .running(let delivery) = state else { return [] }
        guard delivery == .nothing, let next = next(after: fault) else { return end(delivery, adding: .deliverRest) }
        earlierSendings += fault.sendCount
        earlierRefusals += fault.refusedCount
        let restartsUpload = fault.body == .replayable
        if next == .pause {
            state = .pausing(restartsUpload: restartsUpload)
            return [.releaseTransfer, .pause]
        }
        return restartsUpload ? next.union([.releaseTransfer, .restartUpload]) : next.union(.releaseTransfer)
    }

    /// The engine ends the exchange: a deadline has passed, or the transfer cannot continue.
    mutating func stopped() -> Actions { stop(adding: .deliverRest) }

    /// The response is no longer wanted. A reader receives no further chunks.
    mutating func cancelled() -> Actions { stop(adding: []) }

    // MARK: Private

    /// Returns the action that sends the request again, `.startTransfer` or `.pause`, or `nil` if it is not sent again.
    private mutating func next(after fault: Fault) -> Actions? {
        guard fault.body != .spent else { return nil }
        switch fault.kind {
        case .missingEvidence, .unusableConnection:
            // A fresh connection is tried once, and only if the server has seen nothing of the request.
            guard connection == .any, fault.sendCount == fault.refusedCount else { return nil }
            connection = fault.kind == .missingEvidence ? .freshHandshake : .fresh
            return .startTransfer
        case .refusedStream:
            let refusals = earlierRefusals + fault.refusedCount
            guard refusals <= Self.resendsMaximum else { return nil }
            if refusals == 1, !fault.isCalmed { return .startTransfer }
            return fault.canPause ? .pause : nil
        case .demandsHTTP1:
            guard fault.allowsHTTP1, !usesHTTP1 else { return nil }
            useHTTP1()
            return .startTransfer
        case .refusesExpectation:
            guard !omitsExpectation else { return nil }
            omitsExpectation = true
            return .startTransfer
        case .lostResponse:
            guard fault.allowsHTTP1, !usesHTTP1, mayRepeat(fault) else { return nil }
            hasRepeated = true
            useHTTP1()
            return .startTransfer
        case .refusesHTTP1:
            guard prefersHTTP1, fault.sendCount == 0 else { return nil }
            (usesHTTP1, prefersHTTP1) = (false, false)
            return .startTransfer
        case .closedConnection:
            guard mayRepeat(fault) else { return nil }
            hasRepeated = true
            // Another kept connection may be closed, too. Over HTTP/2, each request would then open its own connection.
            if connection == .any, !fault.sharesConnection { connection = .fresh }
            return .startTransfer
        case .other: return nil
        }
    }

    /// A request that the server may have processed is sent once more, and only if its method allows that (RFC 9110,
    /// 9.2.2).
    private func mayRepeat(_ fault: Fault) -> Bool {
        fault.isIdempotent && !hasRepeated && fault.sendCount - fault.refusedCount == 1 && !fault.hasFirstByte
    }

    /// Sends the request over HTTP/1.1, on its own connection.
    private mutating func useHTTP1() {
        usesHTTP1 = true
        if connection == .any { connection = .fresh }
    }

    private mutating func stop(adding extra: Actions) -> Actions {
        switch state {
        case .new, .ended: return []
        case .waiting:
            state = .ended
            return [.leaveQueue, .closeBodies, .fail]
        case .pausing:
            state = .ended
            return [.closeBodies, .leaveLane, .fail]
        case .running(let delivery): return end(delivery, adding: extra.union(.abortTransfer))
        }
    }

    private mutating func end(_ delivery: Delivery, adding extra: Actions) -> Actions {
        state = .ended
        let ending: Actions = [.reportPins, .closeBodies, .releaseTransfer, .leaveLane]
        return ending.union(extra).union(delivery == .nothing ? .fail : [])
    }
}

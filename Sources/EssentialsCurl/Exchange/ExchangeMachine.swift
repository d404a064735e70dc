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
        /// The exchange has a place in its lane. A transfer runs for it.
        case running(Delivery)
        /// The awaiting task has its outcome, and the engine holds nothing of the exchange.
        case ended
    }

    /// What has reached the awaiting task while the transfer runs.
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

    /// Why libcurl ended a transfer, as far as it decides whether the request is sent again.
    struct Fault: Hashable {
        enum Kind: Hashable {
            /// A resumed TLS session lacked the certificates that a policy needs.
            case missingEvidence
            /// A kept connection could not serve the request.
            case unusableConnection
            /// A kept connection was closed by its peer before the response.
            case closedConnection
            case other
        }

        var kind: Kind
        /// How many times the transfer has sent the request.
        var sendCount: Int
        /// Whether a byte of a response has arrived.
        var hasFirstByte = false
        /// Whether the request has a streamed body that may be sent again.
        var canRepeatStream = false
    }

    /// What the engine does after an event, in the order of declaration.
    struct Actions: OptionSet, Hashable {
        let rawValue: UInt16

        /// Asks the lane for a place and passes its result to ``entered(_:)``.
        static let enterLane = Actions(rawValue: 1 << 0)
        static let leaveQueue = Actions(rawValue: 1 << 1)
        static let abortTransfer = Actions(rawValue: 1 << 2)
        /// Reports a chain without pins under a rule that only reports.
        static let reportPins = Actions(rawValue: 1 << 3)
        /// Gives the awaiting task what the transfer has received.
        static let respond = Actions(rawValue: 1 << 4)
        /// Gives the reader of a stream all chunks that have arrived.
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
        /// Gives the awaiting task the failure.
        static let fail = Actions(rawValue: 1 << 13)
    }

    private(set) var state = State.new
    private(set) var connection: Connection
    /// How many times the request was sent before the transfer that runs now.
    private(set) var earlierSendings = 0

    init(connection: Connection = .any) { self.connection = connection }

    var isWaiting: Bool { state == .waiting }

    var isRunning: Bool {
        if case .running = state { true } else { false }
    }

    // MARK: Beginnings

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
    /// The request is sent again, once, if the connection was at fault and the server cannot have acted on the request,
    /// or may act on it twice.
    mutating func failed(_ fault: Fault) -> Actions {
        guard case .running(let delivery) = state else { return [] }
        if delivery == .nothing {
            if allowsFreshConnection(fault) {
                connection = fault.kind == .missingEvidence ? .freshHandshake : .fresh
                return [.releaseTransfer, .startTransfer]
            }
            if allowsSecondStream(fault) {
                earlierSendings += 1
                // Another kept connection may be closed, too.
                if connection == .any { connection = .fresh }
                return [.releaseTransfer, .restartUpload, .startTransfer]
            }
        }
        return end(delivery, adding: .deliverRest)
    }

    /// The engine ends the exchange: a deadline has passed, or the transfer cannot continue.
    mutating func stopped() -> Actions { stop(adding: .deliverRest) }

    /// Nobody wants the response any more. A reader gets nothing that it has not received yet.
    mutating func cancelled() -> Actions { stop(adding: []) }

    // MARK: Private

    /// A fresh connection is tried once, and only if nothing of the request was sent.
    private func allowsFreshConnection(_ fault: Fault) -> Bool {
        connection == .any && fault.sendCount == 0
            && (fault.kind == .missingEvidence || fault.kind == .unusableConnection)
    }

    /// libcurl itself repeats a request whose body it can read again. It leaves streamed bodies to this rule.
    private func allowsSecondStream(_ fault: Fault) -> Bool {
        fault.kind == .closedConnection && fault.canRepeatStream && earlierSendings == 0 && fault.sendCount == 1
            && !fault.hasFirstByte
    }

    private mutating func stop(adding extra: Actions) -> Actions {
        switch state {
        case .new, .ended: return []
        case .waiting:
            state = .ended
            return [.leaveQueue, .closeBodies, .fail]
        case .running(let delivery): return end(delivery, adding: extra.union(.abortTransfer))
        }
    }

    private mutating func end(_ delivery: Delivery, adding extra: Actions) -> Actions {
        state = .ended
        let ending: Actions = [.reportPins, .closeBodies, .releaseTransfer, .leaveLane]
        return ending.union(extra).union(delivery == .nothing ? .fail : [])
    }
}

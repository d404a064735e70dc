import Testing

@testable import EssentialsCurl

@Suite struct ExchangeMachineTests {
    typealias Actions = ExchangeMachine.Actions
    typealias Fault = ExchangeMachine.Fault

    private static let ending: Actions = [.reportPins, .closeBodies, .releaseTransfer, .leaveLane]

    /// A machine whose transfer runs.
    private static func running() -> ExchangeMachine {
        var machine = ExchangeMachine()
        _ = machine.arrived(isCancelled: false)
        _ = machine.entered(.start)
        return machine
    }

    /// A machine whose exchange waits in a queue.
    private static func waiting() -> ExchangeMachine {
        var machine = ExchangeMachine()
        _ = machine.arrived(isCancelled: false)
        _ = machine.entered(.wait)
        return machine
    }

    // MARK: Beginnings

    @Test("A request with a place starts at once and its response ends it")
    func collected() {
        var machine = ExchangeMachine()
        #expect(machine.arrived(isCancelled: false) == .enterLane)
        #expect(machine.entered(.start) == [.takePlace, .startTransfer])
        #expect(machine.completed() == Self.ending.union(.respond))
        #expect(machine.state == .ended)
    }

    @Test("A request without a place waits for its turn")
    func queued() {
        var machine = ExchangeMachine()
        #expect(machine.arrived(isCancelled: false) == .enterLane)
        #expect(machine.entered(.wait) == [])
        #expect(machine.isWaiting)
        #expect(machine.turnCame() == [.takePlace, .startTransfer])
        #expect(machine.isRunning)
    }

    @Test("A request that finds a full queue fails")
    func full() {
        var machine = ExchangeMachine()
        _ = machine.arrived(isCancelled: false)
        #expect(machine.entered(.full) == [.closeBodies, .fail])
        #expect(machine.state == .ended)
    }

    @Test("A request that was cancelled before it was read never enters a lane")
    func cancelledEarly() {
        var machine = ExchangeMachine()
        #expect(machine.arrived(isCancelled: true) == [.closeBodies, .fail])
        #expect(machine.entered(.start) == [])
        #expect(machine.state == .ended)
    }

    @Test("A request whose transfer cannot start fails and leaves its lane")
    func startFails() {
        var machine = Self.running()
        #expect(machine.startFailed() == [.closeBodies, .leaveLane, .fail])
        #expect(machine.state == .ended)
    }

    // MARK: Streams

    @Test("The head of a stream is delivered once, and its end closes the stream")
    func stream() {
        var machine = Self.running()
        #expect(machine.headArrived() == .respond)
        #expect(machine.headArrived() == [])
        #expect(machine.completed() == Self.ending.union(.deliverRest))
    }

    @Test("A stream that fails after its head delivers the received chunks and no second outcome")
    func streamFails() {
        var machine = Self.running()
        _ = machine.headArrived()
        #expect(machine.failed(Fault(kind: .other, sendCount: 1)) == Self.ending.union(.deliverRest))
    }

    @Test("A dropped stream is drained, and ends like any other", arguments: [true, false])
    func drained(completes: Bool) {
        var machine = Self.running()
        _ = machine.headArrived()
        #expect(machine.dropped() == .drain)
        #expect(machine.dropped() == [])
        let actions = completes ? machine.completed() : machine.failed(Fault(kind: .other, sendCount: 1))
        #expect(actions == Self.ending.union(.deliverRest))
    }

    @Test("A dropped stream that is not worth draining is cancelled")
    func drainRefused() {
        var machine = Self.running()
        _ = machine.headArrived()
        _ = machine.dropped()
        #expect(machine.cancelled() == Self.ending.union(.abortTransfer))
    }

    @Test("A stream cannot be dropped before its head has arrived")
    func droppedEarly() {
        var machine = Self.running()
        #expect(machine.dropped() == [])
        #expect(machine == Self.running())
    }

    // MARK: Cancellation, deadlines, shutdown

    @Test("A waiting request that is cancelled, or that waits too long, leaves its queue", arguments: [true, false])
    func leavesQueue(isCancelled: Bool) {
        var machine = Self.waiting()
        #expect((isCancelled ? machine.cancelled() : machine.stopped()) == [.leaveQueue, .closeBodies, .fail])
        #expect(machine.turnCame() == [])
    }

    @Test("Cancellation of a running request delivers nothing more")
    func cancelled() {
        var machine = Self.running()
        #expect(machine.cancelled() == Self.ending.union([.abortTransfer, .fail]))
        var stream = Self.running()
        _ = stream.headArrived()
        #expect(stream.cancelled() == Self.ending.union(.abortTransfer))
    }

    @Test("A passed deadline delivers the chunks that have arrived before it")
    func overdue() {
        var machine = Self.running()
        #expect(machine.stopped() == Self.ending.union([.abortTransfer, .deliverRest, .fail]))
        var stream = Self.running()
        _ = stream.headArrived()
        #expect(stream.stopped() == Self.ending.union([.abortTransfer, .deliverRest]))
    }

    @Test("A cancellation that is read before the request changes nothing")
    func cancelledBeforeArrival() {
        var machine = ExchangeMachine()
        #expect(machine.cancelled() == [])
        #expect(machine.stopped() == [])
        #expect(machine == ExchangeMachine())
    }

    // MARK: Repeated requests

    @Test(
        "A request that a kept connection could not serve tries a fresh one, once",
        arguments: [
            (Fault.Kind.unusableConnection, ExchangeMachine.Connection.fresh),
            (.missingEvidence, .freshHandshake),
        ])
    func freshConnection(kind: Fault.Kind, connection: ExchangeMachine.Connection) {
        var machine = Self.running()
        #expect(machine.failed(Fault(kind: kind, sendCount: 0)) == [.releaseTransfer, .startTransfer])
        #expect(machine.connection == connection)
        #expect(machine.earlierSendings == 0)
        #expect(
            machine.failed(Fault(kind: kind, sendCount: 0)) == Self.ending.union([.deliverRest, .fail]))
    }

    @Test(
        "A request that was sent does not try a fresh connection",
        arguments: [Fault.Kind.unusableConnection, .missingEvidence, .closedConnection, .other])
    func sentOnce(kind: Fault.Kind) {
        var machine = Self.running()
        #expect(machine.failed(Fault(kind: kind, sendCount: 1)) == Self.ending.union([.deliverRest, .fail]))
    }

    @Test("A streamed body that may be repeated is sent at most twice")
    func repeatedStream() {
        var machine = Self.running()
        let fault = Fault(kind: .closedConnection, sendCount: 1, isIdempotent: true, body: .replayable)
        #expect(machine.failed(fault) == [.releaseTransfer, .restartUpload, .startTransfer])
        #expect(machine.connection == .fresh)
        #expect(machine.earlierSendings == 1)
        #expect(machine.failed(fault) == Self.ending.union([.deliverRest, .fail]))
    }

    @Test("A streamed body is not repeated after a byte of a response, or after a second attempt")
    func unrepeatableStream() {
        let faults = [
            Fault(kind: .closedConnection, sendCount: 1, hasFirstByte: true, isIdempotent: true, body: .replayable),
            Fault(kind: .closedConnection, sendCount: 2, isIdempotent: true, body: .replayable),
            Fault(kind: .closedConnection, sendCount: 1, isIdempotent: true, body: .spent),
            Fault(kind: .closedConnection, sendCount: 1, isIdempotent: false, body: .replayable),
            Fault(kind: .other, sendCount: 1, isIdempotent: true, body: .replayable),
        ]
        for fault in faults {
            var machine = Self.running()
            #expect(machine.failed(fault) == Self.ending.union([.deliverRest, .fail]), "\(fault)")
        }
    }

    // MARK: Unprocessed requests

    private static let again: Actions = [.releaseTransfer, .startTransfer]

    @Test("A refused request is sent again at once, then after pauses, and at most ten times")
    func refused() {
        var machine = Self.running()
        let fault = Fault(kind: .refusedStream, sendCount: 1, refusedCount: 1)
        #expect(machine.failed(fault) == Self.again)
        for _ in 2...ExchangeMachine.resendsMaximum {
            #expect(machine.failed(fault) == [.releaseTransfer, .pause])
            #expect(machine.isPausing)
            #expect(machine.pauseEnded() == .startTransfer)
        }
        #expect(machine.failed(fault) == Self.ending.union([.deliverRest, .fail]))
        #expect(machine.earlierSendings == 10 && machine.earlierRefusals == 10)
    }

    @Test("A refused request whose server requests less load is never sent again at once")
    func calmed() {
        var machine = Self.running()
        let fault = Fault(kind: .refusedStream, sendCount: 1, refusedCount: 1, isCalmed: true)
        #expect(machine.failed(fault) == [.releaseTransfer, .pause])
    }

    @Test("A refused request without time for a pause fails")
    func noTime() {
        var machine = Self.running()
        let fault = Fault(kind: .refusedStream, sendCount: 2, refusedCount: 2, canPause: false)
        #expect(machine.failed(fault) == Self.ending.union([.deliverRest, .fail]))
    }

    @Test("A refused stream is read from its beginning if it has begun, and fails if it cannot be read again")
    func refusedStream() {
        var machine = Self.running()
        let fault = Fault(kind: .refusedStream, sendCount: 2, refusedCount: 2, body: .replayable)
        #expect(machine.failed(fault) == [.releaseTransfer, .pause])
        #expect(machine.pauseEnded() == [.restartUpload, .startTransfer])
        let spent = Fault(kind: .refusedStream, sendCount: 1, refusedCount: 1, body: .spent)
        #expect(machine.failed(spent) == Self.ending.union([.deliverRest, .fail]))
    }

    @Test("A refusal does not count as the one repetition of an idempotent request")
    func refusedThenDead() {
        var machine = Self.running()
        _ = machine.failed(Fault(kind: .refusedStream, sendCount: 1, refusedCount: 1))
        let dead = Fault(kind: .closedConnection, sendCount: 1, isIdempotent: true, sharesConnection: true)
        #expect(machine.failed(dead) == Self.again)
        #expect(machine.connection == .any)
        #expect(machine.failed(dead) == Self.ending.union([.deliverRest, .fail]))
    }

    @Test("If a server demands HTTP/1.1, the request uses it once, unless it insists on HTTP/2")
    func demandsHTTP1() {
        var machine = Self.running()
        let fault = Fault(kind: .demandsHTTP1, sendCount: 1, refusedCount: 1)
        #expect(machine.failed(fault) == Self.again)
        #expect(machine.usesHTTP1 && machine.connection == .fresh)
        #expect(machine.failed(fault) == Self.ending.union([.deliverRest, .fail]))
        var insisting = Self.running()
        let other = Fault(kind: .demandsHTTP1, sendCount: 1, refusedCount: 1, allowsHTTP1: false)
        #expect(insisting.failed(other) == Self.ending.union([.deliverRest, .fail]))
    }

    @Test("A refused expectation is dropped, once")
    func refusedExpectation() {
        var machine = Self.running()
        let fault = Fault(kind: .refusesExpectation, sendCount: 1, refusedCount: 1)
        #expect(machine.failed(fault) == Self.again)
        #expect(machine.omitsExpectation)
        #expect(machine.failed(fault) == Self.ending.union([.deliverRest, .fail]))
    }

    @Test("An idempotent request whose response was lost is sent over HTTP/1.1, once")
    func lostResponse() {
        var machine = Self.running()
        let fault = Fault(kind: .lostResponse, sendCount: 1, isIdempotent: true)
        #expect(machine.failed(fault) == Self.again)
        #expect(machine.usesHTTP1)
        var post = Self.running()
        #expect(post.failed(Fault(kind: .lostResponse, sendCount: 1)) == Self.ending.union([.deliverRest, .fail]))
    }

    @Test("A request that prefers HTTP/1.1 uses HTTP/2 if the server refuses HTTP/1.1, unless it was already sent")
    func refusedHTTP1() {
        func preferring() -> ExchangeMachine {
            var machine = ExchangeMachine()
            machine.preferHTTP1()
            _ = machine.arrived(isCancelled: false)
            _ = machine.entered(.start)
            return machine
        }
        var machine = preferring()
        #expect(machine.usesHTTP1 && machine.connection == .any)
        #expect(machine.failed(Fault(kind: .refusesHTTP1, sendCount: 0)) == Self.again)
        #expect(!machine.usesHTTP1)
        #expect(machine.failed(Fault(kind: .refusesHTTP1, sendCount: 0)) == Self.ending.union([.deliverRest, .fail]))
        var sent = preferring()
        #expect(sent.failed(Fault(kind: .refusesHTTP1, sendCount: 1)) == Self.ending.union([.deliverRest, .fail]))
    }

    @Test("A request that pauses can be cancelled, and its deadline can pass", arguments: [true, false])
    func endsInPause(isCancelled: Bool) {
        var machine = Self.running()
        _ = machine.failed(Fault(kind: .refusedStream, sendCount: 2, refusedCount: 2))
        #expect((isCancelled ? machine.cancelled() : machine.stopped()) == [.closeBodies, .leaveLane, .fail])
        #expect(machine.pauseEnded() == [])
    }

    @Test("A repeated request that cannot start leaves its lane")
    func repeatFailsToStart() {
        var machine = Self.running()
        _ = machine.failed(Fault(kind: .unusableConnection, sendCount: 0))
        #expect(machine.startFailed() == [.closeBodies, .leaveLane, .fail])
    }

    // MARK: All orders

    @Test("Every order of events ends once, delivers one outcome and releases all resources")
    func everyOrder() {
        var paths = [Path()]
        var count = 0
        // Longer orders repeat states that these have reached.
        for _ in 0..<6 {
            var longer: [Path] = []
            for path in paths {
                for event in Event.all {
                    var next = path
                    next.serve(event)
                    count += 1
                    if next.hasChanged { longer.append(next) }
                }
            }
            paths = longer
        }
        #expect(count > 2_000)
    }
}

/// The events of an exchange, which may occur at any time.
private enum Event {
    case arrived(isCancelled: Bool)
    case entered(Admission)
    case turnCame, startFailed, headArrived, dropped, completed, stopped, cancelled, pauseEnded
    case failed(ExchangeMachine.Fault)

    static let all: [Event] = [
        .arrived(isCancelled: false), .arrived(isCancelled: true), .entered(.start), .entered(.wait), .entered(.full),
        .turnCame, .startFailed, .headArrived, .dropped, .completed, .stopped, .cancelled, .pauseEnded,
        .failed(.init(kind: .missingEvidence, sendCount: 0)), .failed(.init(kind: .unusableConnection, sendCount: 0)),
        .failed(.init(kind: .closedConnection, sendCount: 1, isIdempotent: true, body: .replayable)),
        .failed(.init(kind: .refusedStream, sendCount: 2, refusedCount: 2, body: .replayable)),
        .failed(.init(kind: .demandsHTTP1, sendCount: 1, refusedCount: 1)),
        .failed(.init(kind: .refusesExpectation, sendCount: 1, refusedCount: 1)),
        .failed(.init(kind: .other, sendCount: 1, hasFirstByte: true)),
    ]
}

/// One order of events, with the resources that the engine would then hold.
private struct Path {
    private var machine = ExchangeMachine()
    private var isQueued = false
    private var hasPlace = false
    private var hasTransfer = false
    private var starts = 0
    private var outcomes = 0
    private var closings = 0
    private var events: [Event] = []
    /// Whether the last event was possible.
    private(set) var hasChanged = false

    mutating func serve(_ event: Event) {
        let before = machine
        let actions = send(event)
        events.append(event)
        hasChanged = machine != before || !actions.isEmpty
        if before.state == .ended { #expect(actions.isEmpty && machine == before, "\(events)") }
        perform(actions)
        #expect(starts <= 5 && outcomes <= 1 && closings <= 1, "\(events)")
        isQueued = machine.isWaiting
        #expect(hasPlace == (machine.isRunning || machine.isPausing), "\(events)")
        #expect(hasTransfer == machine.isRunning, "\(events)")
        if machine.state == .ended {
            #expect(outcomes == 1 && closings == 1, "\(events)")
        } else {
            #expect(closings == 0, "\(events)")
        }
    }

    private mutating func send(_ event: Event) -> ExchangeMachine.Actions {
        switch event {
        case .arrived(let isCancelled): machine.arrived(isCancelled: isCancelled)
        case .entered(let admission): machine.entered(admission)
        case .turnCame: machine.turnCame()
        case .startFailed:
            // Only an attempt to start can fail, and it leaves no transfer.
            startFailed()
        case .headArrived: machine.headArrived()
        case .dropped: machine.dropped()
        case .completed: machine.completed()
        case .pauseEnded: machine.pauseEnded()
        case .stopped: machine.stopped()
        case .cancelled: machine.cancelled()
        case .failed(let fault): machine.failed(fault)
        }
    }

    private mutating func startFailed() -> ExchangeMachine.Actions {
        let actions = machine.startFailed()
        if !actions.isEmpty { hasTransfer = false }
        return actions
    }

    private mutating func perform(_ actions: ExchangeMachine.Actions) {
        if actions.contains(.leaveQueue) { #expect(isQueued, "\(events)") }
        let needTransfer: ExchangeMachine.Actions = [
            .abortTransfer, .reportPins, .respond, .deliverRest, .drain, .releaseTransfer,
        ]
        if !actions.isDisjoint(with: needTransfer) { #expect(hasTransfer, "\(events)") }
        if actions.contains(.respond) { outcomes += 1 }
        if actions.contains(.closeBodies) { closings += 1 }
        if actions.contains(.releaseTransfer) { hasTransfer = false }
        if actions.contains(.leaveLane) {
            #expect(hasPlace, "\(events)")
            hasPlace = false
        }
        if actions.contains(.takePlace) {
            #expect(!hasPlace, "\(events)")
            hasPlace = true
        }
        if actions.contains(.startTransfer) {
            #expect(hasPlace && !hasTransfer, "\(events)")
            hasTransfer = true
            starts += 1
        }
        if actions.contains(.fail) { outcomes += 1 }
    }
}

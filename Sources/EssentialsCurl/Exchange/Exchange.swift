import CEssentials
import EssentialsTools
import EssentialsTransport

/// One request on its way through the engine.
final class Exchange: @unchecked Sendable {
    // Argument for @unchecked: `prepared` and `owner` are constant, and `isCancelled` is atomic. `continuation` and
    // `isAwaitedInPool` are set before the exchange is posted to the engine. Everything under "Engine thread" is used
    // by that thread alone, except `outcome` and `body`. The engine's thread writes these two before it publishes
    // `isDone`, and the awaiting task reads them after it has seen `isDone`. If a request is for a stream, `body` is
    // set before the exchange is posted.
    let prepared: PreparedRequest
    /// The pipe for a streamed body. A collected body has no pipe unless its status turns it into a stream.
    private(set) var body: BodyPipe?
    /// Keeps the engine's thread alive while the request runs.
    private let owner: EngineOwner
    /// Whether the exchange was cancelled, even before the engine reads its start.
    let isCancelled = Atomic<Bool>(false)
    private let isDone = Atomic<Bool>(false)
    var continuation: Waiter<Void>?
    /// Whether the awaiting task runs in the common pool, where another task of the pool may resume it. A task with its
    /// own executor must not wait for the pool. Set before the exchange is posted.
    var isAwaitedInPool = false

    // MARK: Engine thread

    var machine: ExchangeMachine
    /// Reads a streamed body for the transfer.
    private var uploadReader: UploadReader?
    private var outcome: Outcome?
    /// The running transfer of the exchange.
    var transfer: OpaquePointer?
    /// The exchange's index among those with a transfer.
    var index: Int?
    /// The time at which the engine read the exchange's start, in monotonic milliseconds, and how long the exchange
    /// then waited.
    var arrival: Int64 = 0
    var queued: Int64 = 0
    /// The lane of its origin, and the index of its multi handle.
    var lane = 0
    var multi = 0
    /// The priority with which the exchange waits in its lane.
    var priority = RequestPriority.normal
    var deadlines: Deadlines?
    /// The end of the pause before the next attempt, in monotonic milliseconds.
    var pauseEnd: Int64 = 0

    /// The outcome that the awaiting task receives.
    enum Outcome {
        case answer(ReceivedAnswer)
        case failure(RequestFailure)
    }

    init(prepared: PreparedRequest, owner: EngineOwner) {
        self.prepared = prepared
        self.owner = owner
        machine = ExchangeMachine(connection: prepared.request.needsFreshConnection ? .fresh : .any)
        uploadReader = UploadReader(prepared.request.body)
        if prepared.isStreaming { openBody() }
    }

    deinit { if case .answer(let answer) = outcome { answer.destroy() } }

    /// Turns the body into a stream, before the outcome is set.
    func openBody() {
        guard body == nil else { return }
        // The exchange owns the pipe, so the pipe refers to it weakly. The pipe's reader keeps only the engine alive.
        body = BodyPipe(
            requests: BodyPipe.Requests(
                read: { [weak self, owner] in if let self { owner.engine.post(.read(self)) } },
                cancel: { [weak self, owner] in if let self { owner.engine.cancel(self) } },
                drop: { [weak self, owner] in if let self { owner.engine.post(.drop(self)) } }))
    }

    /// The source of a streamed body, which changes if the body is sent again.
    var upload: UploadPump? { uploadReader?.pump }

    /// Reads the source of the request's body from its beginning.
    func restartUpload() {
        stopUpload()
        uploadReader = UploadReader(prepared.request.body)
    }

    /// Stops reading the source of the request's body.
    func stopUpload() { uploadReader?.stop() }

    /// Moves the next bytes of a streamed body into a buffer.
    func takeBody(into buffer: UnsafeMutableRawBufferPointer) -> ce_supply {
        uploadReader?.take(into: buffer) ?? ce_supply()
    }

    /// Sets the outcome for the awaiting task, but does not resume it. The engine's thread calls this, or the caller's
    /// thread if the engine was shut down.
    func setOutcome(_ outcome: Outcome) {
        self.outcome = outcome
        isDone.store(true, ordering: .releasing)
    }

    /// Takes the outcome. The awaiting task calls it once, after it was resumed.
    ///
    /// Resuming orders the two threads already. The acquiring load shows the order to a reader and to the thread
    /// sanitizer.
    func takeOutcome() -> Outcome? {
        isDone.load(ordering: .acquiring) ? outcome.take() : nil
    }
}

extension Exchange: Hashable {
    static func == (first: Exchange, second: Exchange) -> Bool { first === second }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

import CEssentials
import EssentialsTools
import EssentialsTransport

/// One request on its way through the engine.
final class Exchange: @unchecked Sendable {
    // Argument for @unchecked: `prepared` and `owner` are constant, and `isCancelled` is atomic. `continuation` and
    // `isAwaitedInPool` are set before the exchange is posted to the engine. Everything under "Engine thread" is used by that thread alone, except
    // `outcome` and `body`. The engine's thread writes these two before it publishes `isDone`, and the awaiting task
    // reads them after it has seen `isDone`. The body of a request for a stream is set before the exchange is posted.
    let prepared: PreparedRequest
    /// What a streamed body comes through. A collected body has no pipe until its status turns it into a stream.
    private(set) var body: BodyPipe?
    /// Keeps the engine's thread alive while the request runs.
    private let owner: EngineOwner
    /// Whether somebody has cancelled the exchange, even before the engine reads its start.
    let isCancelled = Atomic<Bool>(false)
    private let isDone = Atomic<Bool>(false)
    var continuation: Waiter<Void>?
    /// Whether the awaiting task runs in the common pool, where it may also be resumed by another task of the pool. A task
    /// with an executor of its own must not wait for the pool. Set before the exchange is posted.
    var isAwaitedInPool = false

    // MARK: Engine thread

    var machine: ExchangeMachine
    /// Reads a streamed body for the transfer.
    private var uploadReader: UploadReader?
    private var outcome: Outcome?
    /// The transfer that runs for the exchange.
    var transfer: OpaquePointer?
    /// The exchange's index among those with a transfer.
    var index: Int?
    /// When the engine read the exchange's start, in monotonic milliseconds, and how long the exchange waited then.
    var arrival: Int64 = 0
    var queued: Int64 = 0
    /// The lane of its origin, and the index of its multi handle.
    var lane = 0
    var multi = 0
    /// The priority with which the exchange waits in its lane.
    var priority = RequestPriority.normal
    var deadlines: Deadlines?
    /// When the pause before the next attempt is over, in monotonic milliseconds.
    var pauseEnd: Int64 = 0

    /// What the awaiting task receives.
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

    /// Sets what the awaiting task will receive, and resumes nobody. The engine's thread calls it, or the caller's if the
    /// engine was shut down.
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

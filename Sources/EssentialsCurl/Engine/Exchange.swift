import CEssentials
import EssentialsTransport
import FoundationEssentials
import Synchronization

/// One request on its way through the engine.
final class Exchange: @unchecked Sendable {
    // Argument for @unchecked: `prepared` and `owner` are constant; `isCancelled` is atomic. `continuation` and
    // `isOfCommonPool` are set before the exchange is posted to the engine. Everything under "engine thread" is used by
    // that thread alone, except `outcome` and `body`, which it writes before it publishes `isDone` and the awaiting task
    // reads after it saw that; a body that is a stream from the beginning is set before the exchange is posted.
    let prepared: PreparedRequest
    /// What a streamed body comes through. Nil for a collected one until its status turns it into a stream.
    private(set) var body: BodyPipe?
    /// Keeps the engine's thread alive while the request runs.
    private let owner: EngineOwner
    let isCancelled = Atomic<Bool>(false)
    private let isDone = Atomic<Bool>(false)
    var continuation: Waiter<Void>?
    /// Whether the awaiting task runs where all tasks run that want no place of their own. Constant once it is posted.
    var isOfCommonPool = false

    // MARK: Engine thread

    /// Reads a streamed body; another one when the body is sent again.
    private(set) var upload: UploadPump?
    /// What was taken of it last, and how many bytes of that are sent.
    private var piece = Data()
    private var sentOfPiece = 0
    /// How often the request was sent before the transfer that runs now.
    private(set) var earlierSendings = 0
    private var outcome: Outcome?
    var transfer: OpaquePointer?
    /// Its place among the running ones; -1 while it does not run.
    var slot = -1
    /// When it came, in monotonic milliseconds, and how long it waited then.
    var arrival: Int64 = 0
    var queued: Int64 = 0
    /// Its origin's lane, and the index of its multi handle.
    var lane = 0
    var multi = 0
    /// Whether it is in its lane's queue, and whether it has a place of its lane's.
    var isWaiting = false
    var isAdmitted = false
    var deadlines: Deadlines?
    var isFinished = false
    var triedFreshConnection = false
    /// A resumed TLS session lacked what the pins are judged by.
    var needsFullHandshake = false

    /// What the awaiting task receives.
    enum Outcome {
        case answer(ReceivedAnswer)
        case failure(RequestFailure)
    }

    init(prepared: PreparedRequest, upload: UploadPump?, owner: EngineOwner) {
        self.prepared = prepared
        self.upload = upload
        self.owner = owner
    }

    /// Has the body delivered as a stream. Before the exchange is posted, or on the engine's thread before its outcome is
    /// set.
    func openBody() {
        guard body == nil else { return }
        // The exchange owns the pipe, so the pipe refers to it weakly. The pipe's reader keeps only the engine alive.
        body = BodyPipe(
            requests: BodyPipe.Requests(
                read: { [weak self, owner] in if let self { owner.engine.post(.read(self)) } },
                cancel: { [weak self, owner] in if let self { owner.engine.cancel(self) } },
                drop: { [weak self, owner] in if let self { owner.engine.post(.drop(self)) } }))
    }

    deinit { if case .answer(let answer) = outcome { answer.destroy() } }

    /// Has the body read from its beginning, for another sending.
    func restartUpload() {
        guard case .stream(let length, true, let open) = prepared.request.body.content else { return }
        stopUpload()
        upload = UploadPump(length: length, open: open)
        earlierSendings += 1
    }

    /// Nothing more of the body is wanted.
    func stopUpload() {
        upload?.stop()
        (piece, sentOfPiece) = (Data(), 0)
    }

    /// Moves the next bytes of a streamed body into a buffer.
    func takeBody(into buffer: UnsafeMutableRawBufferPointer) -> ce_supply {
        var supply = ce_supply()
        while supply.count < buffer.count {
            if sentOfPiece == piece.count {
                (piece, sentOfPiece) = (Data(), 0)
                switch upload?.take(waits: supply.count == 0) {
                case .piece(let next): piece = next
                case .end: supply.ended = true
                case .later, nil: break
                }
                if piece.isEmpty { break }
            }
            let start = piece.startIndex + sentOfPiece
            let count = min(buffer.count - supply.count, piece.count - sentOfPiece)
            let target = UnsafeMutableRawBufferPointer(rebasing: buffer[supply.count..<supply.count + count])
            piece.copyBytes(to: target, from: start..<start + count)
            sentOfPiece += count
            supply.count += count
        }
        supply.available = supply.count + piece.count - sentOfPiece
        return supply
    }

    /// Sets what the awaiting task will receive and resumes nobody yet. Engine thread, or the caller's when the engine
    /// was never reached.
    func setOutcome(_ outcome: Outcome) {
        self.outcome = outcome
        isDone.store(true, ordering: .releasing)
    }

    /// What the engine set. Called once, by the awaiting task, after it was resumed.
    ///
    /// Resuming orders the two threads already; the acquiring load says so in the open, where a reader and the thread
    /// sanitizer see it.
    func takeOutcome() -> Outcome? {
        isDone.load(ordering: .acquiring) ? outcome.take() : nil
    }
}

extension Exchange: Hashable {
    static func == (first: Exchange, second: Exchange) -> Bool { first === second }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

import CEssentials
import EssentialsTransport
import FoundationEssentials
import Glibc
import Synchronization

/// The mailbox of an engine thread. Everything that other threads want of it is a message.
final class Engine: Sendable {
    enum Message: Sendable {
        case start(Exchange)
        case cancel(Exchange)
        /// A reader of a streamed body has room, or waits.
        case read(Exchange)
        /// Nobody will read the rest of a streamed body.
        case drop(Exchange)
        /// A streamed request body goes on, or is at its end, after it had nothing to give.
        case upload(Exchange, UploadPump)
        /// The source of a streamed request body failed.
        case uploadFailed(Exchange, UploadPump)
        /// Somebody wants to know how busy the engine is.
        case load(Waiter<TransportLoad>)
        /// A piece of a task that prefers the engine's thread.
        case job(UnownedJob)
        /// Nothing more will be started, and what runs is cancelled after so long.
        case shutdown(graceMilliseconds: Int64)
    }

    private struct Mailbox {
        var messages: [Message] = []
        var isSleeping = false
        /// Whether a shutdown was asked for: nothing is started any more.
        var isClosed = false
        /// Whether the thread has read its last message.
        var isOver = false
    }

    private let mailbox = Mutex(Mailbox())
    private let termination = Mutex<Termination>(Termination())
    private let wakeup: Int32
    /// Nil where there are several processors.
    let tasksTurn: TasksTurn?
    /// What was received, until the awaiting tasks have read it.
    let answers: AnswerPool
    /// How often the thread has gone round its loop: what a loop that never waits is found by.
    let turns = Atomic<Int>(0)
    /// How often it did not listen to a writable socket for a moment: what would hold a fast upload up.
    let mutes = Atomic<Int>(0)

    private struct Termination {
        var isOver = false
        var thread: pthread_t?
        var waiters: [Waiter<Void>] = []
    }

    /// Makes the engine and starts its thread.
    ///
    /// - Parameter configuration: This thread's part of the transport's.
    /// - Throws: `connection` when the system gives no descriptor or thread.
    init(
        trust: CompiledTrust, proxies: ProxySetup, configuration: CurlTransport.Configuration
    ) throws(RequestFailure) {
        answers = try AnswerPool()
        wakeup = ce_wakeup_create()
        tasksTurn = TasksTurn.isNeeded ? TasksTurn() : nil
        guard wakeup >= 0 else { throw Self.noResources("eventfd") }
        guard let loop = configuration.withSettings({ ce_loop_create(wakeup, &$0) }) else {
            throw Self.noResources("epoll")
        }
        var multis: MultiSet
        do throws(RequestFailure) {
            multis = try MultiSet(loop: loop, trust: trust, proxyTrust: proxies.compiledTrust)
        } catch {
            ce_loop_destroy(loop)
            throw error
        }
        let thread = EngineThread(
            engine: self, trust: trust, limits: configuration.limits, loop: loop, multis: multis)
        do throws(RequestFailure) {
            let handle = try thread.launch()
            termination.withLock { $0.thread = handle }
        } catch {
            multis.destroyAll()
            ce_loop_destroy(loop)
            throw error
        }
    }

    // The thread refers to the engine until it has ended, so nobody can write to the descriptor any more.
    deinit { if wakeup >= 0 { close(wakeup) } }

    private static func noResources(_ what: String) -> RequestFailure {
        RequestFailure(
            .connection, "The system gave no \(what): \(String(cString: strerror(errno))).",
            remedy: "Raise the limit of open files, or close some.")
    }

    // MARK: Any thread

    /// Leaves a message. The engine is woken only if it sleeps.
    ///
    /// - Returns: False when the engine was shut down and will not read it.
    @discardableResult
    func post(_ message: Message) -> Bool {
        let (isAccepted, wakes) = mailbox.withLock { box in
            guard !box.isOver else { return (false, false) }
            switch message {
            case .start where box.isClosed: return (false, false)
            case .shutdown: box.isClosed = true
            default: break
            }
            box.messages.append(message)
            defer { box.isSleeping = false }
            return (true, box.isSleeping)
        }
        if wakes { ce_wakeup_signal(wakeup) }
        return isAccepted
    }

    /// Whether a shutdown was asked for.
    var isClosed: Bool { mailbox.withLock { $0.isClosed } }

    private static func runElsewhere(_ job: UnownedJob) { globalConcurrentExecutor.enqueue(job) }

    /// How busy the engine is.
    func load() async -> TransportLoad {
        await withWaiter { continuation in
            if !post(.load(continuation)) { continuation.resume(returning: TransportLoad()) }
        }
    }

    /// Begins to read a streamed body.
    func start(_ upload: UploadPump, for exchange: Exchange) {
        upload.start(
            goOn: { self.post(.upload(exchange, upload)) }, fail: { self.post(.uploadFailed(exchange, upload)) })
    }

    /// Cancels an exchange, whether or not its start has been read.
    func cancel(_ exchange: Exchange) {
        exchange.isCancelled.store(true, ordering: .relaxed)
        post(.cancel(exchange))
    }

    /// Waits until the thread has ended.
    func awaitTermination() async {
        await withWaiter { continuation in
            let isOver = termination.withLock { state in
                if !state.isOver { state.waiters.append(continuation) }
                return state.isOver
            }
            if isOver { continuation.resume() }
        }
        // The thread has nothing left to do but return.
        if let thread = termination.withLock({ $0.thread.take() }) { pthread_join(thread, nil) }
    }

    /// Nobody will wait for the thread: its remains are the system's.
    func abandonThread() {
        if let thread = termination.withLock({ $0.thread.take() }) { pthread_detach(thread) }
    }

    // MARK: Engine thread

    /// Swaps the waiting messages into `messages`, which is empty.
    func take(into messages: inout [Message]) {
        mailbox.withLock { box in
            box.isSleeping = false
            swap(&box.messages, &messages)
        }
    }

    /// Says that the thread is about to wait. False when there is a message to read first.
    func prepareToSleep() -> Bool {
        mailbox.withLock { box in
            box.isSleeping = box.messages.isEmpty
            return box.isSleeping
        }
    }

    /// The thread is about to return. Of what is left in the mailbox only questions and jobs want an answer.
    func terminated() {
        let left = mailbox.withLock { box in
            box.isOver = true
            defer { box.messages = [] }
            return box.messages
        }
        for message in left {
            switch message {
            case .load(let continuation): continuation.resume(returning: TransportLoad())
            case .job(let job): Self.runElsewhere(job)
            default: break
            }
        }
        let waiters = termination.withLock { state in
            state.isOver = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}

extension Engine: TaskExecutor {
    /// Runs a piece of a task on the engine's thread, or where all tasks run once that thread has ended.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if !post(.job(job)) { Self.runElsewhere(job) }
    }
}

/// Ends an engine when nobody refers to it any more.
final class EngineOwner: Sendable {
    let engine: Engine

    init(_ engine: Engine) { self.engine = engine }

    deinit {
        engine.post(.shutdown(graceMilliseconds: 0))
        engine.abandonThread()
    }
}

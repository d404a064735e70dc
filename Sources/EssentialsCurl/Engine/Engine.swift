import CEssentials
import EssentialsTools
import EssentialsTransport
import FoundationEssentials

/// The mailbox of an engine thread. Other threads reach the engine by messages only.
final class Engine: Sendable {
    enum Message: Sendable {
        case start(Exchange)
        case cancel(Exchange)
        /// A request that may still be waiting has become more urgent.
        case raise(Exchange, RequestPriority)
        /// The reader of a streamed body has room, or waits for a chunk.
        case read(Exchange)
        /// The reader of a streamed body has dropped it.
        case drop(Exchange)
        /// The source of a streamed request body has a piece or has ended, and the engine was waiting for it.
        case upload(Exchange, UploadPump)
        /// The source of a streamed request body has failed.
        case uploadFailed(Exchange, UploadPump)
        /// Requests the load of the engine.
        case load(Waiter<TransportLoad>)
        /// A job of a task that prefers the engine's thread.
        case job(UnownedJob)
        case openLink(LinkChannel)
        /// The user of a link has bytes to send, reads again or has closed it.
        case link(LinkChannel)
        /// Starts no more requests, and cancels requests that still run after the grace period.
        case shutdown(graceMilliseconds: Int64)
    }

    private struct Mailbox {
        var messages: [Message] = []
        var isSleeping = false
        /// Whether a shutdown has begun, so that no request is started any more.
        var isClosed = false
        /// Whether the thread has read its last message.
        var isOver = false
    }

    private let mailbox = Mutex(Mailbox())
    private let termination = Mutex<Termination>(Termination())
    private let wakeup: Int32
    /// Holds received responses until the awaiting tasks have read them.
    let answers: AnswerPool
    /// The number of turns that the thread's loop has made. It shows a loop that never waits.
    let turns = Atomic<Int>(0)
    /// The number of times that the thread has stopped watching a writable socket. Too many would slow down a fast
    /// upload.
    let mutes = Atomic<Int>(0)

    private struct Termination {
        var isOver = false
        var thread: SystemThread?
        var waiters: [Waiter<Void>] = []
    }

    /// Creates the engine and starts its thread.
    ///
    /// - Parameter configuration: This thread's share of the transport's configuration.
    /// - Throws: `resources` if there is no memory, descriptor or thread.
    init(
        trust: CompiledTrust, proxies: ProxySetup, configuration: CurlTransport.Configuration
    ) throws(RequestFailure) {
        answers = try AnswerPool()
        wakeup = ce_wakeup_create()
        guard wakeup >= 0 else { throw Failures.noDescriptor("an eventfd", .last) }
        guard let loop = configuration.withSettings({ ce_loop_create(wakeup, &$0) }) else {
            throw Failures.noDescriptor("an epoll instance", .last)
        }
        var multis: MultiSet
        do throws(RequestFailure) {
            multis = try MultiSet(loop: loop, trust: trust, proxyTrust: proxies.compiledTrust)
        } catch {
            ce_loop_destroy(loop)
            throw error
        }
        let thread = EngineThread(
            engine: self, trust: trust, configuration: configuration, loop: loop, multis: multis)
        do throws(RequestFailure) {
            let handle = try thread.launch()
            termination.withLock { $0.thread = handle }
        } catch {
            multis.destroyAll()
            ce_loop_destroy(loop)
            throw error
        }
    }

    // The thread refers to the engine until it has ended, so no thread writes to the descriptor any more.
    deinit { if wakeup >= 0 { close(wakeup) } }

    // MARK: Any thread

    /// Posts a message. The engine is woken only if it sleeps.
    ///
    /// - Returns: Whether the engine will read the message. After its shutdown it reads no messages.
    @discardableResult
    func post(_ message: Message) -> Bool {
        let (isAccepted, wakes) = mailbox.withLock { box in
            guard !box.isOver else { return (false, false) }
            switch message {
            case .start where box.isClosed, .openLink where box.isClosed: return (false, false)
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

    /// Whether a shutdown has begun.
    var isClosed: Bool { mailbox.withLock { $0.isClosed } }

    private static func runElsewhere(_ job: UnownedJob) { globalConcurrentExecutor.enqueue(job) }

    /// Returns the load of the engine.
    func load() async -> TransportLoad {
        await withWaiter { continuation in
            if !post(.load(continuation)) { continuation.resume(returning: TransportLoad()) }
        }
    }

    /// Starts reading the source of a streamed body.
    func start(_ upload: UploadPump, for exchange: Exchange) {
        upload.start(
            resume: { self.post(.upload(exchange, upload)) }, fail: { self.post(.uploadFailed(exchange, upload)) })
    }

    /// Cancels an exchange, whether or not the engine has read its start.
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
        // The thread only has to return now.
        termination.withLock { $0.thread.take() }?.join()
    }

    /// Lets the system release the thread, because no caller waits for its end.
    func abandonThread() {
        termination.withLock { $0.thread.take() }?.detach()
    }

    // MARK: Engine thread

    /// Swaps the waiting messages into `messages`, which is empty.
    func take(into messages: inout [Message]) {
        mailbox.withLock { box in
            box.isSleeping = false
            swap(&box.messages, &messages)
        }
    }

    /// Records that the thread is about to wait, and returns whether it may: there must be no message to read first.
    func prepareToSleep() -> Bool {
        mailbox.withLock { box in
            box.isSleeping = box.messages.isEmpty
            return box.isSleeping
        }
    }

    /// Ends the mailbox before the thread returns. Messages without a waiting caller are dropped.
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
            case .openLink(let channel): channel.fail(Failures.closed(channel.prepared))
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
    /// Runs a job on the engine's thread, or on the common pool once that thread has ended.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if !post(.job(job)) { Self.runElsewhere(job) }
    }
}

/// Shuts an engine down when its last owner is released.
final class EngineOwner: Sendable {
    let engine: Engine

    init(_ engine: Engine) { self.engine = engine }

    deinit {
        engine.post(.shutdown(graceMilliseconds: 0))
        engine.abandonThread()
    }
}

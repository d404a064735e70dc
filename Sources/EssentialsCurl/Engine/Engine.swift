import CEssentials
import EssentialsHTTP
import Glibc
import Synchronization

/// The mailbox of an engine thread. Everything that other threads want of it is a message.
final class Engine: Sendable {
    enum Message: Sendable {
        case start(Exchange)
        case cancel(Exchange)
        /// A reader of a streamed body has room, or waits.
        case read(Exchange)
        /// The next piece of a streamed request body; empty at its end.
        case upload(Exchange, [UInt8])
        /// The source of a streamed request body failed.
        case uploadFailed(Exchange)
        case shutdown
    }

    private struct Mailbox {
        var messages: [Message] = []
        var isSleeping = false
        var isClosed = false
    }

    private let mailbox = Mutex(Mailbox())
    private let termination = Mutex<Termination>(Termination())
    private let wakeup: Int32
    /// How often the thread has gone round its loop: what a loop that never waits is found by.
    let turns = Atomic<Int>(0)

    private struct Termination {
        var isOver = false
        var thread: pthread_t?
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// Makes the engine and starts its thread.
    ///
    /// - Throws: `connection` when the system gives no descriptor or thread.
    init(trust: CompiledTrust, configuration: CurlTransport.Configuration) throws(RequestFailure) {
        wakeup = ce_wakeup_create()
        guard wakeup >= 0 else { throw Self.noResources("eventfd") }
        guard let loop = ce_loop_create(wakeup) else { throw Self.noResources("epoll") }
        guard let multi = ce_multi_create(loop, trust.pointer, configuration.connectionCacheSize) else {
            ce_loop_destroy(loop)
            throw RequestFailure(.connection, "libcurl gave no multi handle.", remedy: "Free some memory.")
        }
        let thread = EngineThread(engine: self, trust: trust, configuration: configuration, loop: loop, multi: multi)
        do {
            let handle = try thread.launch()
            termination.withLock { $0.thread = handle }
        } catch {
            ce_multi_destroy(multi)
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
            guard !box.isClosed else { return (false, false) }
            box.messages.append(message)
            if case .shutdown = message { box.isClosed = true }
            defer { box.isSleeping = false }
            return (true, box.isSleeping)
        }
        if wakes { ce_wakeup_signal(wakeup) }
        return isAccepted
    }

    /// Cancels an exchange, whether or not its start has been read.
    func cancel(_ exchange: Exchange) {
        exchange.isCancelled.store(true, ordering: .relaxed)
        post(.cancel(exchange))
    }

    /// Waits until the thread has ended.
    func awaitTermination() async {
        await withCheckedContinuation { continuation in
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

    /// The thread is about to return.
    func terminated() {
        let waiters = termination.withLock { state in
            state.isOver = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}

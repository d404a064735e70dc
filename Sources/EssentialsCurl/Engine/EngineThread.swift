import CEssentials
import EssentialsTransport
import Glibc
import Synchronization

/// The one thread that owns a loop, its multi handles and every transfer, their clean-up included.
///
/// Each turn reads the mailbox, starts what is to be started, runs due timers, gathers what is done, resumes the waiting
/// tasks, leaves them the processor where there is only one, and waits on epoll.
final class EngineThread: @unchecked Sendable {
    // Argument for @unchecked: made on the caller's thread, handed to the new thread by `launch`, and used only there.
    // For exclusivity(unchecked): none of the values below is reached again while one of its own methods runs, as they
    // know nothing of this class; and the checks cost a request a dozen look-ups of the thread's list of accesses.
    let engine: Engine
    let trust: CompiledTrust
    let loop: OpaquePointer
    @exclusivity(unchecked) var multis: MultiSet
    @exclusivity(unchecked) var transfers = TransferPool()
    @exclusivity(unchecked) var admission: AdmissionMachine<Exchange>
    @exclusivity(unchecked) var active: [Exchange] = []
    @exclusivity(unchecked) var finished: [Exchange] = []
    @exclusivity(unchecked) var resumable: [Waiter<Void>] = []
    @exclusivity(unchecked) var deadlines = DeadlineWatch()
    /// Nothing is started any more, and the thread ends when nothing runs.
    private(set) var isStopping = false
    private static let turnsWithoutWaitingMaximum = 3
    /// From how many on the tasks whose requests ended in one turn are resumed together.
    static let manyFinished = 4
    /// When a shutdown that waits for what runs stops waiting.
    private var stopMoment: Int64?

    init(engine: Engine, trust: CompiledTrust, limits: AdmissionLimits, loop: OpaquePointer, multis: MultiSet) {
        self.engine = engine
        self.trust = trust
        self.loop = loop
        self.multis = multis
        admission = AdmissionMachine(limits: limits)
    }

    /// Starts the thread. Signals are blocked on it, SIGPIPE above all, because OpenSSL writes with write(2); but for those
    /// that tell of a crash of the thread itself.
    func launch() throws(RequestFailure) -> pthread_t {
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        for crash in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS] { sigdelset(&all, crash) }
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var handle = pthread_t()
        // The thread takes over this reference.
        let reference = Unmanaged.passRetained(self)
        let code = pthread_create(
            &handle, nil,
            { argument in
                if let argument { Unmanaged<EngineThread>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, reference.toOpaque())
        guard code == 0 else {
            reference.release()
            throw RequestFailure(
                .connection, "The system gave no thread: \(String(cString: strerror(code))).",
                remedy: "Raise the limit of threads, or shut other transports down.")
        }
        return handle
    }

    // MARK: Turns

    private func run() {
        ce_name_thread("essentials-http")
        var messages: [Engine.Message] = []
        var turnsWithoutWaiting = 0
        while true {
            engine.take(into: &messages)
            var now = ce_now_ms()
            for message in messages {
                serve(message, now: now)
                // What a task's piece has taken is not the next request's time.
                if case .job = message { now = ce_now_ms() }
            }
            messages.removeAll(keepingCapacity: true)
            engine.turns.wrappingAdd(1, ordering: .relaxed)
            engine.mutes.store(ce_loop_mutes(loop), ordering: .relaxed)
            ce_loop_run_due(loop)
            serveStreams()
            gatherDone()
            endOverdue()
            startWaiting()
            let tasksTurn = resumeFinished()
            if isStopping && active.isEmpty && admission.waiting == 0 { break }
            tasksTurn?.wait()
            let canSleep = engine.prepareToSleep()
            // Asking epoll costs more than serving a message, so those that came meanwhile go first, a few times.
            turnsWithoutWaiting += 1
            if !canSleep, turnsWithoutWaiting < Self.turnsWithoutWaitingMaximum { continue }
            turnsWithoutWaiting = 0
            if ce_loop_wait(loop, canSleep ? deadlines.wait(now: ce_now_ms()) : 0) != 0 { failAll(errno) }
        }
        transfers.destroyAll()
        multis.destroyAll()
        ce_loop_destroy(loop)
        engine.terminated()
    }

    private func serve(_ message: Engine.Message, now: Int64) {
        switch message {
        case .start(let exchange): admit(exchange, now: now)
        case .cancel(let exchange): cancel(exchange)
        case .read(let exchange): serveReader(of: exchange)
        case .drop(let exchange): drop(exchange)
        // What an earlier sending's source still gives is not this one's.
        case .upload(let exchange, let pump):
            if pump === exchange.upload { goOnSending(exchange) }
        case .uploadFailed(let exchange, let pump):
            if pump === exchange.upload, let transfer = exchange.transfer { _ = ce_transfer_fail_upload(transfer) }
        case .load(let continuation): continuation.resume(returning: load)
        case .job(let job): job.runSynchronously(on: engine.asUnownedTaskExecutor())
        case .shutdown(let grace): stop(grace: grace)
        }
    }

    private var load: TransportLoad {
        let now = ce_now_ms()
        let oldest = admission.waitingTickets.map(\.arrival).min()
        return TransportLoad(
            inFlight: admission.active, waiting: admission.waiting,
            longestWait: oldest.map { .milliseconds(max(0, now - $0)) } ?? .zero)
    }

    // MARK: Shutdown

    private func stop(grace milliseconds: Int64) {
        // A second shutdown can only shorten the first one's patience.
        let moment = min(stopMoment ?? .max, ce_now_ms() + milliseconds)
        stopMoment = moment
        isStopping = true
        deadlines.ends(at: moment)
        endLateStop(now: ce_now_ms())
    }

    /// Cancels what still runs when a shutdown waits no longer.
    func endLateStop(now: Int64) {
        guard let stopMoment else { return }
        guard stopMoment <= now else { return deadlines.ends(at: stopMoment) }
        for exchange in admission.waitingTickets { leaveQueue(exchange, Failures.cancelled(exchange)) }
        for exchange in active.reversed() { abort(exchange, Failures.cancelled(exchange)) }
    }

    /// Without its epoll the thread can do nothing more.
    private func failAll(_ code: Int32) {
        engine.post(.shutdown(graceMilliseconds: 0))
        for exchange in active.reversed() { abort(exchange, Failures.loop(code, exchange.prepared)) }
    }

    func owner(of transfer: OpaquePointer) -> Exchange? {
        // The owner is in `active`, which retains it, for as long as the transfer names it.
        ce_transfer_owner(transfer).map { Unmanaged<Exchange>.fromOpaque($0).takeUnretainedValue() }
    }
}

import CEssentials
import EssentialsTools
import EssentialsTransport

/// The one thread that owns a loop, its multi handles and every transfer, including their clean-up.
///
/// Each turn reads the mailbox, starts transfers, runs timers that are due, collects finished transfers, resumes the
/// tasks that wait for them, and waits on epoll.
final class EngineThread: @unchecked Sendable {
    // Argument for @unchecked: the object is created on the caller's thread, passed to the new thread by `launch`, and
    // used only there.
    // Argument for exclusivity(unchecked): the values below do not know this class, so none of them is accessed again
    // while one of its methods runs. The checks would cost a dozen look-ups for each request.
    let engine: Engine
    let trust: CompiledTrust
    let loop: OpaquePointer
    let connectionObservers: [any ConnectionObserver]
    @exclusivity(unchecked) var multis: MultiSet
    @exclusivity(unchecked) var transfers = TransferPool()
    @exclusivity(unchecked) var admission: AdmissionMachine<Exchange>
    @exclusivity(unchecked) var active: [Exchange] = []
    /// Exchanges that wait before they are sent again. Each of them has a place in its lane, which limits their number.
    @exclusivity(unchecked) var pausing: [Exchange] = []
    @exclusivity(unchecked) var resumes = ResumePolicy()
    @exclusivity(unchecked) var deadlines = DeadlineWatch()
    /// The links that exist, and those of them that are connecting.
    @exclusivity(unchecked) var links: [ObjectIdentifier: LinkChannel] = [:]
    @exclusivity(unchecked) var openingLinks: [LinkChannel] = []
    let linkBuffer = LinkBuffer()
    /// Whether a shutdown has begun. The thread ends once no request is running or waiting.
    private(set) var isStopping = false
    private static let turnsWithoutWaitingMaximum = 3
    /// The time at which a shutdown stops waiting for requests, in monotonic milliseconds.
    private var stopMoment: Int64?

    init(
        engine: Engine, trust: CompiledTrust, configuration: CurlTransport.Configuration, loop: OpaquePointer,
        multis: MultiSet
    ) {
        self.engine = engine
        self.trust = trust
        connectionObservers = configuration.connectionObservers
        self.loop = loop
        self.multis = multis
        admission = AdmissionMachine(limits: configuration.limits)
    }

    /// Starts the thread.
    func launch() throws(RequestFailure) -> SystemThread {
        do throws(SystemThread.Failure) {
            return try SystemThread(named: "essentials-http") { self.run() }
        } catch {
            throw Failures.noThread(SystemError(code: error.code))
        }
    }

    // MARK: Turns

    private func run() {
        var messages: [Engine.Message] = []
        var turnsWithoutWaiting = 0
        while true {
            engine.take(into: &messages)
            var now = ce_now_ms()
            for message in messages {
                serve(message, now: now)
                // The time that a task's job has taken is not part of the next request.
                if case .job = message { now = ce_now_ms() }
            }
            messages.removeAll(keepingCapacity: true)
            engine.turns.wrappingAdd(1, ordering: .relaxed)
            engine.mutes.store(ce_loop_mutes(loop), ordering: .relaxed)
            ce_loop_run_due(loop)
            serveStreams()
            gatherDone()
            serveLinks()
            endOverdue()
            startWaiting()
            resumes.resumeAll()
            reportConnections()
            if isStopping && active.isEmpty && !isPausing && admission.waiting == 0 { break }
            let canSleep = engine.prepareToSleep() && !ce_loop_has_ready_link(loop)
            // Waiting on epoll costs more than serving a message, so new messages are served first, a few times.
            turnsWithoutWaiting += 1
            if !canSleep, turnsWithoutWaiting < Self.turnsWithoutWaitingMaximum { continue }
            turnsWithoutWaiting = 0
            if ce_loop_wait(loop, canSleep ? deadlines.wait(now: ce_now_ms()) : 0) != 0 { failAll(errno) }
        }
        endLinks()
        transfers.destroyAll()
        multis.destroyAll()
        reportConnections()
        ce_loop_destroy(loop)
        engine.terminated()
    }

    private func serve(_ message: Engine.Message, now: Int64) {
        switch message {
        case .start(let exchange): admit(exchange, now: now)
        case .cancel(let exchange): cancel(exchange)
        case .raise(let exchange, let priority): raise(exchange, to: priority)
        case .read(let exchange): serveReader(of: exchange)
        case .drop(let exchange): drop(exchange)
        // A source that was replaced may still send messages. They are ignored.
        case .upload(let exchange, let pump):
            if pump === exchange.upload { resumeUpload(of: exchange) }
        case .uploadFailed(let exchange, let pump):
            if pump === exchange.upload, let transfer = exchange.transfer { _ = ce_transfer_fail_upload(transfer) }
        case .load(let continuation): continuation.resume(returning: load)
        case .job(let job): job.runSynchronously(on: engine.asUnownedTaskExecutor())
        case .openLink(let channel): open(channel)
        case .link(let channel): serve(channel)
        case .shutdown(let grace): stop(grace: grace)
        }
    }

    private var isPausing: Bool { pausing.contains { $0.machine.isPausing } }

    // MARK: Shutdown

    private func stop(grace milliseconds: Int64) {
        // A second shutdown can shorten the grace period of the first, but not extend it.
        let moment = min(stopMoment ?? .max, ce_now_ms() + milliseconds)
        stopMoment = moment
        isStopping = true
        deadlines.ends(at: moment)
        endLateStop(now: ce_now_ms())
    }

    /// Cancels the remaining requests once the grace period of a shutdown is over.
    func endLateStop(now: Int64) {
        guard let stopMoment else { return }
        guard stopMoment <= now else { return deadlines.ends(at: stopMoment) }
        for exchange in admission.waitingTickets { cancel(exchange, byShutdown: true) }
        for exchange in active.reversed() { cancel(exchange, byShutdown: true) }
        for exchange in pausing { cancel(exchange, byShutdown: true) }
    }

    /// Ends all requests, because the thread cannot work without its epoll.
    private func failAll(_ code: Int32) {
        engine.post(.shutdown(graceMilliseconds: 0))
        for exchange in active.reversed() + pausing { stop(exchange, Failures.loop(code, exchange.prepared)) }
    }

    func owner(of transfer: OpaquePointer) -> Exchange? {
        // While the transfer names its owner, `active` retains the owner.
        ce_transfer_owner(transfer).map { Unmanaged<Exchange>.fromOpaque($0).takeUnretainedValue() }
    }
}

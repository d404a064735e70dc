import CEssentials
import EssentialsHTTP
import Glibc
import Synchronization

/// The one thread that owns a loop, its multi handle and every transfer, their clean-up included.
///
/// Each turn reads the mailbox, starts what is to be started, runs due timers, gathers what is done, resumes the waiting
/// tasks, and waits on epoll.
final class EngineThread: @unchecked Sendable {
    // Argument for @unchecked: made on the caller's thread, handed to the new thread by `launch`, and used only there.
    private let engine: Engine
    private let trust: CompiledTrust
    private let configuration: CurlTransport.Configuration
    private let loop: OpaquePointer
    private let multi: OpaquePointer
    private let resolve: [CChar]?
    private var transfers = TransferPool()
    private var active: [Exchange] = []
    private var finished: [Exchange] = []
    private var multiplexing = MultiplexingKnowledge()
    private var deadlines = DeadlineWatch()
    private var isStopping = false

    init(
        engine: Engine, trust: CompiledTrust, configuration: CurlTransport.Configuration, loop: OpaquePointer,
        multi: OpaquePointer
    ) {
        self.engine = engine
        self.trust = trust
        self.configuration = configuration
        self.loop = loop
        self.multi = multi
        resolve = configuration.resolveBlock
    }

    /// Starts the thread. Every signal is blocked on it: SIGPIPE above all, because OpenSSL writes with write(2).
    func launch() throws(RequestFailure) -> pthread_t {
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
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
        while true {
            engine.take(into: &messages)
            for message in messages { serve(message) }
            messages.removeAll(keepingCapacity: true)
            engine.turns.wrappingAdd(1, ordering: .relaxed)
            ce_loop_run_due(loop)
            serveStreams()
            gatherDone()
            endOverdue()
            resumeFinished()
            if isStopping && active.isEmpty { break }
            let canSleep = engine.prepareToSleep()
            if ce_loop_wait(loop, canSleep ? deadlines.wait(now: ce_now_ms()) : 0) != 0 { failAll(errno) }
        }
        transfers.destroyAll()
        ce_multi_destroy(multi)
        ce_loop_destroy(loop)
        engine.terminated()
    }

    private func serve(_ message: Engine.Message) {
        switch message {
        case .start(let exchange): start(exchange)
        case .cancel(let exchange):
            if exchange.slot >= 0 { abort(exchange, Failures.cancelled(exchange)) }
        case .read(let exchange): serveReader(of: exchange)
        case .upload(let exchange, let bytes): offer(bytes, to: exchange)
        case .uploadFailed(let exchange):
            if let transfer = exchange.transfer { _ = ce_transfer_fail_upload(transfer) }
        case .shutdown:
            isStopping = true
            for exchange in active { abort(exchange, Failures.cancelled(exchange)) }
        }
    }

    private func start(_ exchange: Exchange) {
        guard !isStopping else { return end(exchange, .failure(Failures.closed(exchange.prepared))) }
        guard !exchange.isCancelled.load(ordering: .relaxed) else {
            return end(exchange, .failure(Failures.cancelled(exchange)))
        }
        guard let transfer = transfers.take() else {
            return end(exchange, .failure(Failures.noMemory(exchange.prepared)))
        }
        if let failure = begin(exchange, transfer) {
            transfers.discard(transfer)
            return end(exchange, .failure(failure))
        }
        exchange.transfer = transfer
        exchange.slot = active.count
        active.append(exchange)
        let now = ce_now_ms()
        let own = exchange.deadlines ?? Deadlines(exchange.prepared.request.options, now: now)
        exchange.deadlines = own
        if let next = own.next(isConnected: false, lastActivity: now) { deadlines.ends(at: next.moment) }
    }

    /// Hands a transfer to libcurl; the failure when it refuses.
    private func begin(_ exchange: Exchange, _ transfer: OpaquePointer) -> RequestFailure? {
        var code: Int32 = 0
        let refused = exchange.prepared.withRequest(
            waitsForMultiplexing: multiplexing.shouldWait(exchange.prepared),
            freshConnection: exchange.triedFreshConnection, resolve: resolve
        ) { ce_transfer_prepare(transfer, multi, &$0, &code) }
        if let refused { return Failures.option(String(cString: refused), code, exchange.prepared) }
        ce_transfer_set_owner(transfer, Unmanaged.passUnretained(exchange).toOpaque())
        let multiCode = ce_transfer_start(transfer)
        guard multiCode != 0 else { return nil }
        return Failures.option("curl_multi_add_handle", multiCode, exchange.prepared)
    }

    // MARK: Ends

    private func gatherDone() {
        var code: Int32 = 0
        while let transfer = ce_multi_next_done(multi, &code) {
            guard let exchange = owner(of: transfer) else { continue }
            complete(exchange, transfer, code)
        }
    }

    private func complete(_ exchange: Exchange, _ transfer: OpaquePointer, _ code: Int32) {
        let prepared = exchange.prepared
        multiplexing.learn(prepared, transfer)
        if let failure = Failures.failure(prepared, transfer, code, policy: trust.policy) {
            if shouldTryFreshConnection(exchange, transfer, failure) {
                release(exchange)
                exchange.triedFreshConnection = true
                return start(exchange)
            }
            let underlying = exchange.upload?.failure.map { Failures.source($0, prepared) }
            return end(exchange, .failure(underlying ?? failure))
        }
        end(exchange, exchange.body == nil ? .success(ResponseReader.whole(transfer)) : nil)
    }

    /// Whether a connection of its own may give what a kept one did not, once. Nothing of the request was sent.
    private func shouldTryFreshConnection(
        _ exchange: Exchange, _ transfer: OpaquePointer, _ failure: RequestFailure
    ) -> Bool {
        guard !exchange.triedFreshConnection, ce_transfer_send_count(transfer) == 0 else { return false }
        // A newer libcurl may store a session without the evidence that was attached to it.
        if failure.reason == .trustEvidence { return true }
        // libcurl hands a kept HTTP/1.1 connection to a request that insists on HTTP/2.
        return ce_transfer_refusal(transfer) == CE_REFUSED_NOT_HTTP2 && ce_transfer_on_kept_connection(transfer)
    }

    /// Takes a transfer off libcurl and ends its exchange.
    private func abort(_ exchange: Exchange, _ failure: RequestFailure) {
        if let transfer = exchange.transfer { ce_transfer_abort(transfer) }
        end(exchange, .failure(failure))
    }

    /// Ends an exchange: nil when its body was a stream, which is whole now.
    private func end(_ exchange: Exchange, _ outcome: Result<TransportResponse, RequestFailure>?) {
        var isCancelled = false
        if case .failure(let failure) = outcome { isCancelled = failure.reason == .cancelled }
        if !isCancelled, let body = exchange.body, let transfer = exchange.transfer {
            // A reader gets all that came before the end, unless nobody wants it any more.
            serveHead(of: exchange, transfer)
            deliver(to: body, from: transfer, partial: true)
        }
        if case .failure(let failure) = outcome { exchange.body?.finish(failure) } else { exchange.body?.finish(nil) }
        exchange.upload?.stop()
        release(exchange)
        if let outcome { finish(exchange, outcome) }
    }

    private func release(_ exchange: Exchange) {
        if let transfer = exchange.transfer { transfers.give(transfer) }
        exchange.transfer = nil
        guard exchange.slot >= 0 else { return }
        let last = active.removeLast()
        if last !== exchange {
            active[exchange.slot] = last
            last.slot = exchange.slot
        }
        exchange.slot = -1
    }

    /// Decides what the awaiting task receives. The first call counts: a response that was handed out stays.
    private func finish(_ exchange: Exchange, _ outcome: Result<TransportResponse, RequestFailure>) {
        guard !exchange.isFinished else { return }
        exchange.isFinished = true
        exchange.setOutcome(outcome)
        finished.append(exchange)
    }

    /// Resumes after the whole turn's work, because a resumed task competes for the processor.
    private func resumeFinished() {
        for exchange in finished { exchange.continuation.take()?.resume() }
        finished.removeAll(keepingCapacity: true)
    }

    private func endOverdue() {
        let now = ce_loop_now_ms(loop)
        guard deadlines.isDue(now: now) else { return }
        for exchange in active.reversed() {
            guard let transfer = exchange.transfer, let next = nextDeadline(of: exchange, transfer, now: now) else {
                continue
            }
            if next.moment <= now {
                abort(exchange, Failures.overdue(next.kind, exchange.prepared, transfer))
            } else {
                deadlines.ends(at: next.moment)
            }
        }
    }

    private func nextDeadline(
        of exchange: Exchange, _ transfer: OpaquePointer, now: Int64
    ) -> (kind: Deadlines.Kind, moment: Int64)? {
        // A transfer that waits for its reader, or for its own source, is not the peer's silence: it is looked at again.
        let waitsForUs = ce_transfer_receiving_is_paused(transfer) || ce_transfer_wants_upload(transfer)
        return exchange.deadlines?.next(
            isConnected: ce_transfer_send_count(transfer) > 0,
            lastActivity: waitsForUs ? now : ce_transfer_last_activity_ms(transfer))
    }

    /// Without its epoll the thread can do nothing more.
    private func failAll(_ code: Int32) {
        engine.post(.shutdown)
        for exchange in active.reversed() { abort(exchange, Failures.loop(code, exchange.prepared)) }
    }

    private func owner(of transfer: OpaquePointer) -> Exchange? {
        // The owner is in `active`, which retains it, for as long as the transfer names it.
        ce_transfer_owner(transfer).map { Unmanaged<Exchange>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: Streams

    private func serveStreams() {
        while let transfer = ce_loop_next_touched(loop) {
            guard let exchange = owner(of: transfer) else { continue }
            serveHead(of: exchange, transfer)
            if let body = exchange.body, deliver(to: body, from: transfer, partial: body.isAwaited) {
                _ = ce_transfer_pause_receiving(transfer, true)
            }
            // Asked for once until it has come: what is received meanwhile touches the transfer too.
            if ce_transfer_wants_upload(transfer), !exchange.askedForUpload {
                exchange.askedForUpload = true
                exchange.upload?.wantsMore()
            }
        }
    }

    /// Hands the response out when its head has come and its body follows as a stream.
    private func serveHead(of exchange: Exchange, _ transfer: OpaquePointer) {
        guard let body = exchange.body, !exchange.isFinished, ce_transfer_has_head(transfer) else { return }
        finish(exchange, .success(ResponseReader.head(transfer, body: ResponseBody(source: BodyStream(body)))))
    }

    /// Moves chunks to the reader's side. True when it has enough for now.
    @discardableResult
    private func deliver(to body: BodyPipe, from transfer: OpaquePointer, partial: Bool) -> Bool {
        var isFull = false
        while true {
            let bytes = ce_transfer_take_chunk(transfer, partial)
            guard let data = bytes.data else { return isFull }
            let memory = UnsafeRawBufferPointer(start: data, count: bytes.count)
            isFull = body.push(BodyChunk(adopting: memory) { free($0) })
        }
    }

    private func serveReader(of exchange: Exchange) {
        guard let transfer = exchange.transfer, let body = exchange.body else { return }
        if deliver(to: body, from: transfer, partial: body.isAwaited) { return }
        // May call the write callback at once, so it happens here and never inside one.
        goOn(exchange, transfer, ce_transfer_pause_receiving(transfer, false))
    }

    private func offer(_ bytes: [UInt8], to exchange: Exchange) {
        guard let transfer = exchange.transfer else { return }
        exchange.askedForUpload = false
        let code = bytes.withUnsafeBytes { ce_transfer_offer_upload(transfer, $0.baseAddress, $0.count) }
        if code < 0 { return abort(exchange, Failures.noMemory(exchange.prepared)) }
        goOn(exchange, transfer, code)
    }

    /// Ends an exchange that libcurl could not take up again: it has dropped what it held.
    private func goOn(_ exchange: Exchange, _ transfer: OpaquePointer, _ code: Int32) {
        guard code != 0, code != CurlCodes.notRunning else { return }
        let failure = Failures.failure(exchange.prepared, transfer, code, policy: trust.policy)
        abort(exchange, failure ?? Failures.noMemory(exchange.prepared))
    }
}

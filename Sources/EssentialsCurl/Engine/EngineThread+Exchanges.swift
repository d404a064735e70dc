import CEssentials
import EssentialsTransport
import Glibc
import Synchronization

// From the mailbox to libcurl, and from there to whoever waits.
extension EngineThread {
    // MARK: Beginnings

    /// Starts an exchange, or lets it wait for its turn.
    func admit(_ exchange: Exchange, now: Int64) {
        guard !exchange.isCancelled.load(ordering: .relaxed) else {
            return end(exchange, .failure(Failures.cancelled(exchange)))
        }
        exchange.arrival = now
        exchange.deadlines = Deadlines(exchange.prepared.request.options.times, now: now)
        exchange.lane = admission.lane(for: exchange.prepared.origin)
        let priority = exchange.prepared.request.options.priority
        switch admission.arrive(exchange, lane: exchange.lane, priority: priority) {
        case .start: start(exchange, now: now)
        case .wait:
            exchange.isWaiting = true
            if let moment = exchange.deadlines?.waiting?.moment { deadlines.ends(at: moment) }
        case .full: end(exchange, .failure(Failures.queueFull(exchange.prepared, waiting: admission.waiting)))
        }
    }

    /// Starts those whose turn has come.
    func startWaiting() {
        guard admission.waiting > 0 else { return }
        let now = ce_now_ms()
        while let exchange = admission.next() {
            exchange.isWaiting = false
            start(exchange, now: now)
        }
    }

    private func start(_ exchange: Exchange, now: Int64) {
        if !exchange.isAdmitted {
            exchange.isAdmitted = true
            exchange.multi = multis.place(lane: exchange.lane, active: admission.active(lane: exchange.lane))
            exchange.queued = now - exchange.arrival
        }
        exchange.deadlines?.begin(now: now)
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
        let progress = Deadlines.Progress(lastActivity: now)
        if let next = exchange.deadlines?.running(progress) { deadlines.ends(at: next.moment) }
    }

    /// Hands a transfer to libcurl; the failure when it refuses.
    private func begin(_ exchange: Exchange, _ transfer: OpaquePointer) -> RequestFailure? {
        var code: Int32 = 0
        let multi = multis.all[exchange.multi]
        let refused = exchange.prepared.withRequest(
            waitsForMultiplexing: shouldWaitForSharing(exchange),
            freshConnection: exchange.triedFreshConnection, fullHandshake: exchange.needsFullHandshake
        ) { ce_transfer_prepare(transfer, multi, &$0, &code) }
        if let refused { return Failures.option(String(cString: refused), code, exchange.prepared) }
        ce_transfer_set_owner(transfer, Unmanaged.passUnretained(exchange).toOpaque())
        let multiCode = ce_transfer_start(transfer)
        guard multiCode != 0 else { return nil }
        return Failures.option("curl_multi_add_handle", multiCode, exchange.prepared)
    }

    // MARK: Shared connections

    /// The first requests to an origin wait for its first connection, in case they can share it; requests to an origin
    /// that cannot share need not wait.
    private func shouldWaitForSharing(_ exchange: Exchange) -> Bool {
        let version = exchange.prepared.request.options.protocolVersion
        guard version != .http1, exchange.prepared.origin.scheme == .https || version == .http2 else { return false }
        return admission.sharing(lane: exchange.lane) != .sharesNot
    }

    private func learnSharing(_ exchange: Exchange, _ transfer: OpaquePointer) {
        // An exchange that was told to speak HTTP/1.1 says nothing about what the origin can.
        guard exchange.prepared.origin.scheme == .https, exchange.prepared.request.options.protocolVersion != .http1,
            ce_transfer_has_head(transfer)
        else { return }
        admission.learn(ce_transfer_http_version(transfer) < 20 ? .sharesNot : .shares, lane: exchange.lane)
    }

    // MARK: Ends

    func gatherDone() {
        for multi in multis.all {
            var code: Int32 = 0
            while let transfer = ce_multi_next_done(multi, &code) {
                guard let exchange = owner(of: transfer) else { continue }
                complete(exchange, transfer, code)
            }
        }
    }

    private func complete(_ exchange: Exchange, _ transfer: OpaquePointer, _ code: Int32) {
        let prepared = exchange.prepared
        learnSharing(exchange, transfer)
        if let failure = Failures.failure(prepared, transfer, code) {
            if shouldTryFreshConnection(exchange, transfer, failure) {
                giveBack(exchange)
                exchange.triedFreshConnection = true
                // A newer libcurl may store a session without the evidence that was attached to it.
                exchange.needsFullHandshake = failure.reason == .trustEvidence
                return start(exchange, now: ce_now_ms())
            }
            if shouldSendStreamAgain(exchange, transfer, code) { return sendStreamAgain(exchange) }
            report(failure, of: prepared, isOfProxy: ce_transfer_report_is_of_proxy(transfer))
            let underlying = exchange.upload?.failure.map { Failures.source($0, prepared) }
            return end(exchange, .failure(underlying ?? failure))
        }
        serveHead(of: exchange, transfer)
        end(exchange, exchange.body == nil ? received(exchange, transfer) : nil)
    }

    /// Moves what was received to where the awaiting task reads it.
    func received(_ exchange: Exchange, _ transfer: OpaquePointer) -> Exchange.Outcome {
        engine.answers.take(from: transfer, of: exchange).map { .answer($0) }
            ?? .failure(Failures.noMemory(exchange.prepared))
    }

    /// Whether a connection of its own may give what a kept one did not, once. Nothing of the request was sent.
    private func shouldTryFreshConnection(
        _ exchange: Exchange, _ transfer: OpaquePointer, _ failure: RequestFailure
    ) -> Bool {
        guard !exchange.triedFreshConnection, ce_transfer_send_count(transfer) == 0 else { return false }
        if failure.reason == .trustEvidence { return true }
        if ce_transfer_refusal(transfer) == CE_REFUSED_STALE { return true }
        // libcurl hands a kept HTTP/1.1 connection to a request that insists on HTTP/2.
        return ce_transfer_refusal(transfer) == CE_REFUSED_NOT_HTTP2 && ce_transfer_on_kept_connection(transfer)
    }

    /// Whether a streamed body can be sent once more, after a kept connection turned out dead and nothing had come: what
    /// libcurl does by itself for bodies that it can read again.
    private func shouldSendStreamAgain(_ exchange: Exchange, _ transfer: OpaquePointer, _ code: Int32) -> Bool {
        let request = exchange.prepared.request
        guard request.body.isStream, request.body.isReplayable, request.method.isIdempotent else { return false }
        let isStale = ce_transfer_refusal(transfer) == CE_REFUSED_RESEND || code == CurlCodes.notRewound
        return isStale && exchange.earlierSendings == 0 && ce_transfer_send_count(transfer) == 1
            && !ce_transfer_has_first_byte(transfer)
    }

    private func sendStreamAgain(_ exchange: Exchange) {
        giveBack(exchange)
        exchange.restartUpload()
        // Another kept connection may be as dead.
        exchange.triedFreshConnection = true
        start(exchange, now: ce_now_ms())
        if exchange.slot >= 0, let upload = exchange.upload { engine.start(upload, for: exchange) }
    }

    func cancel(_ exchange: Exchange) {
        if exchange.isWaiting { return leaveQueue(exchange, Failures.cancelled(exchange)) }
        if exchange.slot >= 0 { abort(exchange, Failures.cancelled(exchange)) }
    }

    /// Ends an exchange whose turn has not come.
    func leaveQueue(_ exchange: Exchange, _ failure: RequestFailure) {
        admission.withdraw(exchange, lane: exchange.lane)
        exchange.isWaiting = false
        end(exchange, .failure(failure))
    }

    /// Takes a transfer off libcurl and ends its exchange.
    func abort(_ exchange: Exchange, _ failure: RequestFailure) {
        if let transfer = exchange.transfer { ce_transfer_abort(transfer) }
        end(exchange, .failure(failure))
    }

    /// Ends an exchange: nil when its body was a stream, which is whole now.
    private func end(_ exchange: Exchange, _ outcome: Exchange.Outcome?) {
        if exchange.prepared.isPinned { reportMissedPins(exchange) }
        var isCancelled = false
        if case .failure(let failure) = outcome { isCancelled = failure.reason == .cancelled }
        if !isCancelled, let transfer = exchange.transfer {
            // A reader gets all that came before the end, unless nobody wants it any more.
            serveHead(of: exchange, transfer)
            if let body = exchange.body { deliver(to: body, from: transfer, partial: true) }
        }
        if let body = exchange.body { body.finish(ending(of: exchange, outcome)) }
        exchange.stopUpload()
        giveBack(exchange)
        if exchange.isAdmitted {
            exchange.isAdmitted = false
            multis.leave(lane: exchange.lane, index: exchange.multi)
            admission.leave(lane: exchange.lane)
        }
        if let outcome { finish(exchange, outcome) }
    }

    private func ending(
        of exchange: Exchange, _ outcome: Exchange.Outcome?
    ) -> Result<ResponseEnding, RequestFailure> {
        if case .failure(let failure) = outcome { return .failure(failure) }
        return .success(exchange.transfer.map { ResponseReader.ending($0, of: exchange) } ?? ResponseEnding())
    }

    /// Tells the policy that refused, which can be the proxies'.
    private func report(_ failure: RequestFailure, of prepared: PreparedRequest, isOfProxy: Bool) {
        if isOfProxy, let proxy = prepared.proxy {
            multis.proxyTrust?.report(failure, host: proxy.host, port: proxy.port)
        } else {
            trust.report(failure, host: prepared.origin.host, port: prepared.origin.port)
        }
    }

    private func reportMissedPins(_ exchange: Exchange) {
        guard let report = exchange.transfer.flatMap(ce_transfer_missed_pins) else { return }
        let origin = exchange.prepared.origin
        trust.reportMissedPins(host: origin.host, port: origin.port, chain: GateReport(report).chain)
    }

    /// Gives the transfer back, and leaves the exchange its place in its lane.
    private func giveBack(_ exchange: Exchange) {
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
    func finish(_ exchange: Exchange, _ outcome: Exchange.Outcome) {
        guard !exchange.isFinished else { return }
        exchange.isFinished = true
        exchange.setOutcome(outcome)
        finished.append(exchange)
    }

    /// Resumes after the whole turn's work, because a resumed task competes for the processor; and after the exchanges
    /// were let go of here, so that their memory returns to the thread that took it.
    ///
    /// Many of the common pool are resumed there, by one task: each that is resumed from here wakes a thread, which has
    /// done with it and sleeps again before the next one comes.
    ///
    /// - Returns: What to wait for before anything else is done, if the tasks need it.
    func resumeFinished() -> TasksTurn? {
        guard !finished.isEmpty else { return nil }
        var together: [Waiter<Void>] = []
        let areMany = finished.count >= Self.manyFinished
        if areMany { together.reserveCapacity(finished.count) }
        for exchange in finished {
            guard let continuation = exchange.continuation.take() else { continue }
            if areMany, exchange.isOfCommonPool {
                together.append(continuation)
            } else {
                resumable.append(continuation)
            }
        }
        finished.removeAll(keepingCapacity: true)
        // Those that are resumed from here may be this thread's own.
        let turn = resumable.isEmpty && together.count >= Self.manyFinished ? engine.tasksTurn : nil
        for continuation in resumable { continuation.resume() }
        resumable.removeAll(keepingCapacity: true)
        guard !together.isEmpty else { return nil }
        turn?.begin()
        Task.detached { [together] in
            // What is resumed first wakes another thread. That one may take this one's processor, find a single task,
            // and sleep again before the next is resumed: a wake-up for each. So it finds a task that gives the
            // processor back.
            if !TasksTurn.isNeeded { Task.detached { _ = sched_yield() } }
            for continuation in together { continuation.resume() }
            if let turn { Task.detached { turn.end() } }
        }
        return turn
    }

    // MARK: Deadlines

    func endOverdue() {
        let now = ce_loop_now_ms(loop)
        guard deadlines.isDue(now: now) else { return }
        endLateStop(now: now)
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
        for exchange in admission.waitingTickets {
            guard let next = exchange.deadlines?.waiting else { continue }
            if next.moment <= now {
                leaveQueue(
                    exchange,
                    Failures.waitedTooLong(exchange.prepared, since: now - exchange.arrival, queue: admission.waiting))
            } else {
                deadlines.ends(at: next.moment)
            }
        }
    }

    private func nextDeadline(
        of exchange: Exchange, _ transfer: OpaquePointer, now: Int64
    ) -> (kind: Deadlines.Kind, moment: Int64)? {
        // A transfer that waits for its reader, or for its own source, is not the peer's silence: it is looked at again.
        let waitsForUs = ce_transfer_receiving_is_paused(transfer) || ce_transfer_sending_is_paused(transfer)
        return exchange.deadlines?.running(
            Deadlines.Progress(
                isConnected: ce_transfer_send_count(transfer) > 0, hasFirstByte: ce_transfer_has_first_byte(transfer),
                lastActivity: waitsForUs ? now : ce_transfer_last_activity_ms(transfer)))
    }
}

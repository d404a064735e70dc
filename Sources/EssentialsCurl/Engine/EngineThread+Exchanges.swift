import CEssentials
import EssentialsTools
import EssentialsTransport

// Events of an exchange go to its machine, and the actions of the machine are performed here.
extension EngineThread {
    // MARK: Beginnings

    /// Starts an exchange, or lets it wait for its turn.
    func admit(_ exchange: Exchange, now: Int64) {
        let isCancelled = exchange.isCancelled.load(ordering: .relaxed)
        let actions = exchange.machine.arrived(isCancelled: isCancelled)
        guard actions.contains(.enterLane) else {
            return perform(actions, on: exchange, failure: Failures.cancelled(exchange))
        }
        exchange.arrival = now
        exchange.deadlines = Deadlines(exchange.prepared.request.options.times, now: now)
        exchange.lane = lane(for: exchange)
        exchange.priority = exchange.prepared.request.priority
        let result = admission.arrive(exchange, lane: exchange.lane, priority: exchange.priority)
        if result == .wait, let moment = exchange.deadlines?.waiting?.moment { deadlines.ends(at: moment) }
        let failure =
            result == .full ? Failures.queueFull(exchange.prepared, waiting: admission.waiting) : nil
        perform(exchange.machine.entered(result), on: exchange, failure: failure, now: now)
    }

    /// The lane of an exchange. Once libcurl has lost a response of an origin over HTTP/2, long uploads use HTTP/1.1,
    /// on their own connections.
    private func lane(for exchange: Exchange) -> Int {
        let prepared = exchange.prepared
        let usual = admission.lane(for: prepared.origin)
        guard prepared.isLongUpload, prepared.request.options.protocolVersion == .automatic,
            admission.longUploads(lane: usual) == .loseResponses
        else { return usual }
        exchange.machine.preferHTTP1()
        return admission.lane(for: prepared.origin, overHTTP1: true)
    }

    /// Starts the exchanges whose turn has come.
    func startWaiting() {
        guard admission.waiting > 0 else { return }
        let now = ce_now_ms()
        while let exchange = admission.next() { perform(exchange.machine.turnCame(), on: exchange, now: now) }
    }

    /// Moves an exchange forward in the queue. Nothing happens if it does not wait or is already as urgent.
    func raise(_ exchange: Exchange, to priority: RequestPriority) {
        guard exchange.machine.isWaiting, priority > exchange.priority else { return }
        admission.raise(exchange, lane: exchange.lane, to: priority)
        exchange.priority = priority
    }

    // MARK: Ends

    /// Ends the exchanges whose transfers libcurl has finished.
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
        learnSharing(exchange, transfer)
        if ce_transfer_has_head(transfer) {
            admission.learn(keepAliveSeconds: ce_transfer_keep_alive_s(transfer), lane: exchange.lane)
        }
        serveHead(of: exchange, transfer)
        guard let failure = Failures.failure(exchange.prepared, transfer, code) else {
            return perform(exchange.machine.completed(), on: exchange)
        }
        let actions = exchange.machine.failed(fault(of: exchange, transfer, failure))
        guard actions.isDisjoint(with: [.startTransfer, .pause]) else { return perform(actions, on: exchange) }
        report(failure, of: exchange.prepared, isOfProxy: ce_transfer_report_is_of_proxy(transfer))
        let source = exchange.upload?.failure.map { Failures.source($0, exchange.prepared) }
        perform(actions, on: exchange, failure: source ?? failure)
    }

    /// The evidence of a failed transfer about its connection.
    private func fault(
        of exchange: Exchange, _ transfer: OpaquePointer, _ failure: RequestFailure
    ) -> ExchangeMachine.Fault {
        var fault = WireEnding.fault(of: transfer, exchange.prepared, failure)
        let usual = { [self] in admission.lane(for: exchange.prepared.origin) }
        if fault.kind == .lostResponse { admission.learn(.loseResponses, lane: usual()) }
        // A server that speaks only HTTP/2 ends the handshake.
        if fault.kind == .other, exchange.machine.prefersHTTP1, fault.sendCount == 0,
            failure.reason == .tls || failure.reason == .interrupted
        {
            fault.kind = .refusesHTTP1
            admission.learn(.needHTTP2, lane: usual())
        }
        guard fault.kind == .refusedStream else { return fault }
        let pause = WireEnding.pause(
            refusals: exchange.machine.earlierRefusals + fault.refusedCount, fraction: .random(in: 0...1))
        // Pauses end together, because each end looks at all exchanges.
        exchange.pauseEnd = (ce_now_ms() + Int64(max(1, pause.milliseconds)) + 9) / 10 * 10
        // If there is no time for another attempt, the request fails now and with its actual reason, instead of a later
        // timeout.
        fault.canPause = exchange.pauseEnd < exchange.deadlines?.waiting?.moment ?? .max
        return fault
    }

    func cancel(_ exchange: Exchange, byShutdown: Bool = false) {
        guard exchange.machine.isWaiting || exchange.machine.isRunning || exchange.machine.isPausing else { return }
        let failure = Failures.cancelled(exchange, byShutdown: byShutdown)
        perform(exchange.machine.cancelled(), on: exchange, failure: failure)
    }

    /// Ends an exchange whose deadline has passed, or that cannot continue.
    func stop(_ exchange: Exchange, _ failure: RequestFailure) {
        // A response that has arrived is delivered before the failure of its body.
        if let transfer = exchange.transfer { serveHead(of: exchange, transfer) }
        perform(exchange.machine.stopped(), on: exchange, failure: failure)
    }

    // MARK: Actions

    /// Performs the actions of a machine, in the order in which they are declared.
    ///
    /// - Parameters:
    ///   - failure: The failure of the exchange, if it fails.
    ///   - now: The time of a transfer's start in monotonic milliseconds, if the caller knows it.
    func perform(
        _ actions: ExchangeMachine.Actions, on exchange: Exchange, failure: RequestFailure? = nil, now: Int64? = nil
    ) {
        let failure = failure.map { Failures.adding(exchange, to: $0) }
        if actions.contains(.leaveQueue) { admission.withdraw(exchange, lane: exchange.lane) }
        if let transfer = exchange.transfer {
            if actions.contains(.abortTransfer) { ce_transfer_abort(transfer) }
            if actions.contains(.reportPins), exchange.prepared.isPinned {
                reportMissedPins(exchange.prepared, transfer)
            }
            if actions.contains(.respond) { respond(exchange, transfer) }
            if actions.contains(.deliverRest), let body = exchange.body {
                deliver(to: body, from: transfer, partial: true)
            }
            if actions.contains(.drain) { drain(exchange, transfer) }
        }
        if actions.contains(.closeBodies) {
            exchange.body?.finish(ending(of: exchange, failure))
            exchange.stopUpload()
        }
        if actions.contains(.releaseTransfer) { releaseTransfer(of: exchange) }
        if actions.contains(.leaveLane) {
            multis.leave(lane: exchange.lane, index: exchange.multi)
            admission.leave(lane: exchange.lane)
        }
        if actions.contains(.restartUpload) { exchange.restartUpload() }
        if actions.contains(.startTransfer) { start(exchange, actions, now: now ?? ce_now_ms()) }
        if actions.contains(.pause) {
            pausing.append(exchange)
            deadlines.ends(at: exchange.pauseEnd)
        }
        if actions.contains(.fail), let failure { finish(exchange, .failure(failure)) }
    }

    private func start(_ exchange: Exchange, _ actions: ExchangeMachine.Actions, now: Int64) {
        if actions.contains(.takePlace) {
            exchange.multi = multis.place(lane: exchange.lane, active: admission.active(lane: exchange.lane))
            exchange.queued = now - exchange.arrival
        }
        exchange.deadlines?.begin(now: now)
        guard let transfer = transfers.take() else {
            let failure = Failures.noMemory(exchange.prepared)
            return perform(exchange.machine.startFailed(), on: exchange, failure: failure)
        }
        if let failure = begin(exchange, transfer) {
            transfers.discard(transfer)
            return perform(exchange.machine.startFailed(), on: exchange, failure: failure)
        }
        exchange.transfer = transfer
        exchange.index = active.count
        active.append(exchange)
        let progress = Deadlines.Progress(lastActivity: now)
        if let moment = exchange.deadlines?.nextCheck(progress, now: now) { deadlines.ends(at: moment) }
        if actions.contains(.restartUpload), let upload = exchange.upload { engine.start(upload, for: exchange) }
    }

    /// Passes a transfer to libcurl, and returns the failure if libcurl refuses it.
    private func begin(_ exchange: Exchange, _ transfer: OpaquePointer) -> RequestFailure? {
        var code: Int32 = 0
        let multi = multis.all[exchange.multi]
        let refused = exchange.prepared.withRequest(
            of: exchange.machine, waitsForMultiplexing: shouldWaitForSharing(exchange),
            idleSeconds: admission.idleSeconds(lane: exchange.lane)
        ) { ce_transfer_prepare(transfer, multi, &$0, &code) }
        if let refused { return Failures.option(String(cString: refused), code, exchange.prepared) }
        ce_transfer_set_owner(transfer, Unmanaged.passUnretained(exchange).toOpaque())
        let multiCode = ce_transfer_start(transfer)
        guard multiCode != 0 else { return nil }
        return Failures.multi(multiCode, exchange.prepared)
    }

    /// Delivers the response of the transfer to the awaiting task.
    private func respond(_ exchange: Exchange, _ transfer: OpaquePointer) {
        if ce_transfer_streams(transfer) { exchange.openBody() }
        let answer = engine.answers.take(from: transfer, of: exchange)
        finish(exchange, answer.map { .answer($0) } ?? .failure(Failures.noMemory(exchange.prepared)))
    }

    private func finish(_ exchange: Exchange, _ outcome: Exchange.Outcome) {
        exchange.setOutcome(outcome)
        resumes.add(exchange)
    }

    private func ending(of exchange: Exchange, _ failure: RequestFailure?) -> Result<ResponseEnding, RequestFailure> {
        if let failure { return .failure(failure) }
        return .success(exchange.transfer.map { ResponseReader.ending($0, of: exchange) } ?? ResponseEnding())
    }

    /// Returns the transfer to the pool. The exchange keeps its place in its lane.
    private func releaseTransfer(of exchange: Exchange) {
        if let transfer = exchange.transfer { transfers.give(transfer) }
        exchange.transfer = nil
        guard let index = exchange.index else { return }
        let last = active.removeLast()
        if last !== exchange {
            active[index] = last
            last.index = index
        }
        exchange.index = nil
    }

    // MARK: Shared connections

    /// The first requests to an origin wait for its first connection, in case they can share it. Requests to an origin
    /// that is known not to share connections do not wait.
    private func shouldWaitForSharing(_ exchange: Exchange) -> Bool {
        let version = exchange.prepared.request.options.protocolVersion
        guard version != .http1, !exchange.machine.usesHTTP1 else { return false }
        guard exchange.prepared.origin.scheme == .https || version == .http2 else { return false }
        return admission.sharing(lane: exchange.lane) != .sharesNot
    }

    private func learnSharing(_ exchange: Exchange, _ transfer: OpaquePointer) {
        // A request that insists on HTTP/1.1 does not show what its origin can do.
        guard exchange.prepared.origin.scheme == .https, exchange.prepared.request.options.protocolVersion != .http1,
            !exchange.machine.usesHTTP1, ce_transfer_has_head(transfer)
        else { return }
        admission.learn(ce_transfer_http_version(transfer) < 20 ? .sharesNot : .shares, lane: exchange.lane)
    }

    // MARK: Trust reports

    /// Reports a refusal to the policy that refused, which can be the policy for proxies.
    func report(_ failure: RequestFailure, of prepared: PreparedRequest, isOfProxy: Bool) {
        if isOfProxy, let proxy = prepared.proxy {
            multis.proxyTrust?.report(failure, host: proxy.host, port: proxy.port)
        } else {
            trust.report(failure, host: prepared.origin.host, port: prepared.origin.port)
        }
    }

    func reportMissedPins(_ prepared: PreparedRequest, _ transfer: OpaquePointer) {
        guard let report = ce_transfer_missed_pins(transfer) else { return }
        let origin = prepared.origin
        trust.reportMissedPins(host: origin.host, port: origin.port, chain: GateReport(report).chain)
    }
}

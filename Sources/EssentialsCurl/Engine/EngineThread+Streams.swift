import CEssentials
import EssentialsTransport

// Bodies that are transferred while the exchange runs.
extension EngineThread {
    /// The time limit for reading the rest of a dropped body, in milliseconds.
    static var drainTime: Int64 { 1_000 }

    /// Serves the transfers whose head, chunks or upload need attention.
    func serveStreams() {
        while let transfer = ce_loop_next_touched(loop) {
            guard let exchange = owner(of: transfer) else { continue }
            serveHead(of: exchange, transfer)
            if ce_transfer_is_over(transfer) {
                endEarly(exchange, transfer)
                continue
            }
            if let body = exchange.body, deliver(to: body, from: transfer, partial: body.isAwaited) {
                _ = ce_transfer_pause_receiving(transfer, true)
            }
            resume(exchange, ce_transfer_ask_again(transfer))
        }
    }

    /// Delivers the response once its head has arrived, if its body is a stream by request or because of its status.
    func serveHead(of exchange: Exchange, _ transfer: OpaquePointer) {
        guard ce_transfer_streams(transfer), ce_transfer_has_head(transfer) else { return }
        perform(exchange.machine.headArrived(), on: exchange)
    }

    /// Moves chunks to the reader's side, and returns whether the reader has enough for now.
    @discardableResult
    func deliver(to body: BodyPipe, from transfer: OpaquePointer, partial: Bool) -> Bool {
        var chunks: [BodyChunk] = []
        while true {
            let bytes = ce_transfer_take_chunk(transfer, partial)
            guard let data = bytes.data else { break }
            let memory = UnsafeRawBufferPointer(start: data, count: bytes.count)
            chunks.append(BodyChunk(adopting: memory) { ce_chunk_give($0.assumingMemoryBound(to: CChar.self)) })
        }
        return chunks.isEmpty ? false : body.push(chunks)
    }

    /// Ends an exchange whose response is complete, although its request is not.
    func endEarly(_ exchange: Exchange, _ transfer: OpaquePointer) {
        ce_transfer_abort(transfer)
        perform(exchange.machine.completed(), on: exchange)
    }

    /// Delivers the received chunks to a reader, and lets its transfer continue if the reader has room.
    func serveReader(of exchange: Exchange) {
        guard let transfer = exchange.transfer, let body = exchange.body else { return }
        if deliver(to: body, from: transfer, partial: body.isAwaited) { return }
        // This may call the write callback at once, so it happens here and never inside a callback.
        resume(exchange, ce_transfer_pause_receiving(transfer, false))
    }

    /// Ends a stream that its reader has dropped.
    func drop(_ exchange: Exchange) { perform(exchange.machine.dropped(), on: exchange) }

    /// Reads and discards the rest of a body if it is short, so that its connection can be used again.
    func drain(_ exchange: Exchange, _ transfer: OpaquePointer) {
        guard ce_transfer_drain(transfer, max(0, exchange.prepared.request.options.drainLimit)) else {
            return cancel(exchange)
        }
        let moment = ce_now_ms() + Self.drainTime
        exchange.deadlines?.end(by: moment)
        deadlines.ends(at: moment)
    }

    /// Resumes sending a request body whose source had no piece available.
    func resumeUpload(of exchange: Exchange) {
        guard let transfer = exchange.transfer else { return }
        resume(exchange, ce_transfer_resume_upload(transfer))
    }

    /// Ends an exchange that libcurl could not resume. libcurl has dropped the bytes that it held.
    private func resume(_ exchange: Exchange, _ code: Int32) {
        guard code != 0, code != CurlCodes.notRunning, let transfer = exchange.transfer else { return }
        let failure = Failures.failure(exchange.prepared, transfer, code)
        stop(exchange, failure ?? Failures.noMemory(exchange.prepared))
    }
}

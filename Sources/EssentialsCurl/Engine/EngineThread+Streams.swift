import CEssentials
import EssentialsTransport
import FoundationEssentials
import Glibc

// Bodies that move while the exchange runs.
extension EngineThread {
    /// How long the rest of a dropped body may take, in milliseconds.
    static var drainTime: Int64 { 1_000 }

    func serveStreams() {
        while let transfer = ce_loop_next_touched(loop) {
            guard let exchange = owner(of: transfer) else { continue }
            serveHead(of: exchange, transfer)
            if let body = exchange.body, deliver(to: body, from: transfer, partial: body.isAwaited) {
                _ = ce_transfer_pause_receiving(transfer, true)
            }
            goOn(exchange, transfer, ce_transfer_ask_again(transfer))
        }
    }

    /// Delivers the response once its head has arrived, if its body is a stream: by request, or because of its status.
    func serveHead(of exchange: Exchange, _ transfer: OpaquePointer) {
        guard ce_transfer_streams(transfer), !exchange.isFinished, ce_transfer_has_head(transfer) else { return }
        exchange.openBody()
        finish(exchange, received(exchange, transfer))
    }

    /// Moves chunks to the reader's side. True when it has enough for now.
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

    func serveReader(of exchange: Exchange) {
        guard let transfer = exchange.transfer, let body = exchange.body else { return }
        if deliver(to: body, from: transfer, partial: body.isAwaited) { return }
        // May call the write callback at once, so it happens here and never inside one.
        goOn(exchange, transfer, ce_transfer_pause_receiving(transfer, false))
    }

    /// Nobody will read the rest of a body. What is little is read and dropped, so that its connection can be used again.
    func drop(_ exchange: Exchange) {
        guard exchange.slot >= 0, let transfer = exchange.transfer else { return cancel(exchange) }
        guard ce_transfer_drain(transfer, max(0, exchange.prepared.request.options.drainLimit)) else {
            return cancel(exchange)
        }
        let moment = ce_now_ms() + Self.drainTime
        exchange.deadlines?.end(by: moment)
        deadlines.ends(at: moment)
    }

    /// A request body that had nothing to give goes on.
    func goOnSending(_ exchange: Exchange) {
        guard let transfer = exchange.transfer else { return }
        goOn(exchange, transfer, ce_transfer_resume_upload(transfer))
    }

    /// Ends an exchange that libcurl could not take up again: it has dropped what it held.
    private func goOn(_ exchange: Exchange, _ transfer: OpaquePointer, _ code: Int32) {
        guard code != 0, code != CurlCodes.notRunning else { return }
        let failure = Failures.failure(exchange.prepared, transfer, code)
        abort(exchange, failure ?? Failures.noMemory(exchange.prepared))
    }
}

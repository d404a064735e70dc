import CEssentials
import EssentialsTransport

/// Answers that wait to be used again, with their buffers.
final class AnswerPool: @unchecked Sendable {
    // Argument for @unchecked: the pool's stack is atomic; taking is the engine thread's alone. Whoever gives an answer back
    // retains the pool.
    private let pool: OpaquePointer

    /// - Throws: `connection` without memory.
    init() throws(RequestFailure) {
        guard let pool = ce_answer_pool_create() else {
            throw RequestFailure(.connection, "The system gave no memory.", remedy: "Free some memory.")
        }
        self.pool = pool
    }

    deinit { ce_answer_pool_destroy(pool) }

    /// What a transfer received, whose head has come; nil without memory. Engine thread.
    func take(from transfer: OpaquePointer, of exchange: Exchange) -> ReceivedAnswer? {
        guard let answer = ce_transfer_take_answer(transfer, pool) else { return nil }
        answer.pointee.queued_ms = exchange.queued
        answer.pointee.earlier_sendings = UInt32(exchange.earlierSendings)
        return ReceivedAnswer(pointer: answer)
    }

    /// Reads an answer, which is not used again by the caller. Any thread.
    func read(_ answer: ReceivedAnswer, of exchange: Exchange) -> TransportResponse {
        defer { ce_answer_give(pool, answer.pointer) }
        return ResponseReader.response(answer.pointer, body: exchange.body)
    }
}

/// What a transfer received, on its way from the engine's thread to the one that reads it.
struct ReceivedAnswer: @unchecked Sendable {
    // Argument for @unchecked: it has one owner at a time, and changes hands by what publishes it (see Exchange).
    fileprivate let pointer: UnsafeMutablePointer<ce_answer>

    /// Nobody will read it.
    func destroy() { ce_answer_destroy(pointer) }
}

import CEssentials
import EssentialsTransport

/// A pool of received responses in C's memory, which is reused with its buffers.
final class AnswerPool: @unchecked Sendable {
    // Argument for @unchecked: the pool's stack is atomic, and only the engine's thread takes from it. A thread that
    // returns a response retains the pool.
    private let pool: OpaquePointer

    /// - Throws: `resources` if there is no memory.
    init() throws(RequestFailure) {
        guard let pool = ce_answer_pool_create() else {
            throw Failures.noMemory(for: "responses")
        }
        self.pool = pool
    }

    deinit { ce_answer_pool_destroy(pool) }

    /// Takes the received response of a transfer, once its head has arrived. It is `nil` if there is no memory. Engine
    /// thread.
    func take(from transfer: OpaquePointer, of exchange: Exchange) -> ReceivedAnswer? {
        guard let answer = ce_transfer_take_answer(transfer, pool) else { return nil }
        answer.pointee.queued_ms = exchange.queued
        answer.pointee.earlier_sendings = UInt32(exchange.machine.earlierSendings)
        return ReceivedAnswer(pointer: answer)
    }

    /// Creates a Swift response from a received one, which returns to the pool. Any thread.
    ///
    /// - Parameter trust: The policy under which the request was sent.
    func read(_ answer: ReceivedAnswer, of exchange: Exchange, under trust: CompiledTrust) -> TransportResponse {
        defer { ce_answer_give(pool, answer.pointer) }
        let report = answer.pointer.pointee.trust
        let facts = report.map { TrustFacts(GateReport($0), trust.rules.entries[exchange.prepared.rule]) }
        return ResponseReader.response(answer.pointer, body: exchange.body, trust: facts)
    }
}

/// A received response on its way from the engine's thread to the awaiting task.
struct ReceivedAnswer: @unchecked Sendable {
    // Argument for @unchecked: it has one owner at a time. Exchange publishes it to the next one.
    fileprivate let pointer: UnsafeMutablePointer<ce_answer>

    /// Frees a response that will not be read.
    func destroy() { ce_answer_destroy(pointer) }
}

import CEssentials
import EssentialsTransport

// Exchanges that take too long.
extension EngineThread {
    /// Ends the exchanges whose deadlines have passed, and notes the next one.
    func endOverdue() {
        let now = ce_loop_now_ms(loop)
        guard deadlines.isDue(now: now) else { return }
        endLateStop(now: now)
        for exchange in active.reversed() {
            guard let transfer = exchange.transfer, let next = nextDeadline(of: exchange, transfer, now: now) else {
                continue
            }
            if next.moment <= now {
                stop(exchange, Failures.overdue(next.kind, exchange.prepared, transfer))
            } else {
                deadlines.ends(at: next.moment)
            }
        }
        for exchange in admission.waitingTickets {
            guard let next = exchange.deadlines?.waiting else { continue }
            if next.moment <= now {
                let waited = now - exchange.arrival
                stop(exchange, Failures.waitedTooLong(exchange.prepared, since: waited, queue: admission.waiting))
            } else {
                deadlines.ends(at: next.moment)
            }
        }
    }

    private func nextDeadline(
        of exchange: Exchange, _ transfer: OpaquePointer, now: Int64
    ) -> (kind: Deadlines.Kind, moment: Int64)? {
        // A transfer that waits for its reader or for its own source is not silent because of the peer.
        let waitsForUs = ce_transfer_receiving_is_paused(transfer) || ce_transfer_sending_is_paused(transfer)
        return exchange.deadlines?.running(
            Deadlines.Progress(
                isConnected: ce_transfer_send_count(transfer) > 0, hasFirstByte: ce_transfer_has_first_byte(transfer),
                lastActivity: waitsForUs ? now : ce_transfer_last_activity_ms(transfer)))
    }
}

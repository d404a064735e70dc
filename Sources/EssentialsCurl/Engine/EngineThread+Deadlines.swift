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
            guard let transfer = exchange.transfer, let times = exchange.deadlines else { continue }
            let progress = progress(of: transfer, now: now)
            if let next = times.running(progress), next.moment <= now {
                // The server does not read the rest of the request, but it has responded.
                if ce_transfer_has_whole_response(transfer) {
                    serveHead(of: exchange, transfer)
                    endEarly(exchange, transfer)
                    continue
                }
                stop(exchange, Failures.overdue(next.kind, exchange.prepared, transfer))
            } else if let moment = times.nextCheck(progress, now: now) {
                deadlines.ends(at: moment)
            }
        }
        endPauses(now: now)
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

    /// Sends the requests again whose pauses are over. An exchange that has ended meanwhile is forgotten.
    private func endPauses(now: Int64) {
        var left: [Exchange] = []
        swap(&left, &pausing)
        for exchange in left where exchange.machine.isPausing {
            if exchange.pauseEnd <= now {
                perform(exchange.machine.pauseEnded(), on: exchange, now: now)
            } else {
                pausing.append(exchange)
                deadlines.ends(at: exchange.pauseEnd)
            }
        }
    }

    private func progress(of transfer: OpaquePointer, now: Int64) -> Deadlines.Progress {
        // A transfer that waits for its reader or for its own source is not silent because of the peer.
        let waitsForUs = ce_transfer_receiving_is_paused(transfer) || ce_transfer_sending_is_paused(transfer)
        return Deadlines.Progress(
            isConnected: ce_transfer_send_count(transfer) > 0, hasFirstByte: ce_transfer_has_first_byte(transfer),
            lastActivity: waitsForUs ? now : ce_transfer_last_activity_ms(transfer))
    }
}

/// Knows when the engine must check deadlines. A check walks over all exchanges, so it is delayed until the earliest
/// deadline.
///
/// libcurl also keeps some of these deadlines, but not while a request waits for another request's connection.
struct DeadlineWatch {
    private var nextLook: Int64?

    /// Notes a deadline, in monotonic milliseconds.
    mutating func ends(at moment: Int64) { nextLook = min(nextLook ?? moment, moment) }

    /// Returns whether a check is due. The caller then checks, and notes all deadlines again.
    mutating func isDue(now: Int64) -> Bool {
        guard let nextLook, nextLook <= now else { return false }
        self.nextLook = nil
        return true
    }

    /// Returns how long the engine may wait, in milliseconds. -1 means no limit.
    func wait(now: Int64) -> Int32 {
        guard let nextLook else { return -1 }
        return Int32(clamping: max(0, nextLook - now))
    }
}

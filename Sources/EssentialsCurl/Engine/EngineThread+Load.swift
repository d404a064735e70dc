import CEssentials
import EssentialsTools
import EssentialsTransport

/// What the engine knows of its connections.
extension EngineThread {
    /// The load at this moment. Its cost is that of all descriptors and waiting requests.
    var load: TransportLoad {
        let now = ce_now_ms()
        let counts = ce_loop_connection_counts(loop)
        var load = TransportLoad(
            inFlight: admission.active, waiting: admission.waiting, opened: Int(clamping: counts.opened),
            closed: Int(clamping: counts.closed))
        var origins = connections(now: now)
        for exchange in admission.waitingTickets {
            let wait = Duration.milliseconds(max(0, now - exchange.arrival))
            load.longestWait = max(load.longestWait, wait)
            let origin = exchange.prepared.origin
            var entry = origins[origin] ?? OriginLoad(origin)
            entry.waiting += 1
            entry.longestWait = max(entry.longestWait, wait)
            origins[origin] = entry
        }
        load.origins = origins.values.sorted { $0.origin.description < $1.origin.description }
        return load
    }

    private func connections(now: Int64) -> [Origin: OriginLoad] {
        var origins: [Origin: OriginLoad] = [:]
        var known: [String: Origin] = [:]
        var place = 0
        var connection = ce_open_connection()
        while ce_loop_next_connection(loop, &place, &connection) {
            guard let name = connection.origin else { continue }
            let text = String(cString: name)
            guard let origin = known[text] ?? Self.origin(text) else { continue }
            known[text] = origin
            var entry = origins[origin] ?? OriginLoad(origin)
            if connection.running > 0 { entry.active += 1 } else { entry.idle += 1 }
            entry.served += Int(connection.served)
            entry.oldest = max(entry.oldest, Duration.milliseconds(now - connection.opened_ms))
            origins[origin] = entry
        }
        return origins
    }

    /// Sends the observers the connections that have opened or closed since the last turn.
    func reportConnections() {
        let count = ce_loop_change_count(loop)
        guard count > 0, let changes = ce_loop_changes(loop) else { return }
        for change in UnsafeBufferPointer(start: changes, count: count) {
            guard let origin = Self.origin(String(cString: change.origin)) else { continue }
            let kind: ConnectionEvent.Kind =
                change.closed
                ? .closed(lifetime: .milliseconds(change.lifetime_ms), served: Int(change.served)) : .opened
            let event = ConnectionEvent(kind, origin: origin, isShared: change.http2)
            for observer in connectionObservers { observer.observe(event) }
        }
        ce_loop_forget_changes(loop)
    }

    /// The texts are those of ``PreparedRequest``.
    private static func origin(_ text: String) -> Origin? { (try? RequestURL(text))?.origin }
}

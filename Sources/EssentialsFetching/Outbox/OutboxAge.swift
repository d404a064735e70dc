import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials

/// How long an entry of an outbox has waited.
///
/// Within one start of the machine, even over restarts of the process, the age is measured by the machine's clock,
/// which is never set. The wall clock counts only for an entry of an earlier start, and only once, when the entry is
/// read: later jumps forward do not make the entry older. If the wall clock turns out to have been ahead, the entry
/// becomes younger accordingly.
struct OutboxAge: Sendable {
    /// When the age was zero, by the monotonic clock of the process.
    private(set) var start: Duration
    /// When the entry was added, by the wall clock; `nil` if the start is exact.
    private var date: Date?

    /// The age of an entry that begins to wait now.
    init(from moment: OutboxMachine.Moment) { start = moment.now }

    /// The age of an entry that was found on the disk.
    init(of entry: OutboxEntry, at moment: OutboxMachine.Moment) {
        // A machine that was restored to an earlier state keeps the identifier of its start.
        if let added = entry.bootTime, let now = moment.bootTime, added.boot == now.boot, added.elapsed <= now.elapsed {
            start = moment.now - (now.elapsed.bounded - added.elapsed.bounded)
        } else {
            start = moment.now - Self.wait(since: entry.date, at: moment)
            date = entry.date
        }
    }

    /// Whether the wall clock decides.
    var isDated: Bool { date != nil }

    /// Whether the entry has waited for the maximum age. If the wall clock was set back since, the entry becomes
    /// younger.
    mutating func reaches(_ maximum: Duration, at moment: OutboxMachine.Moment) -> Bool {
        guard start + maximum <= moment.now else { return false }
        guard let date else { return true }
        start = max(start, moment.now - Self.wait(since: date, at: moment))
        return start + maximum <= moment.now
    }

    private static func wait(since date: Date, at moment: OutboxMachine.Moment) -> Duration {
        // The limit is about a hundred thousand years, so that sums do not overflow.
        .seconds(max(0, min(moment.date.timeIntervalSince(date), 0x1p42)))
    }
}

internal import CEssentialsTest
import EssentialsTools

/// A signal that stays set. Any number of threads can wait for it together with sockets.
final class Wakeup: Sendable {
    /// Readable after `signal()`; negative if no descriptor was available.
    let descriptor: Int32

    init() {
        descriptor = cet_event_create()
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    func signal() {
        cet_event_signal(descriptor)
    }

    /// Waits until a descriptor is readable or closed, and returns those that are. Returns an empty set at the timeout.
    static func wait(for descriptors: [Int32], timeout: Duration? = nil) -> Set<Int32> {
        let clock = ContinuousClock()
        let deadline = timeout.map { clock.now.advanced(by: $0) }
        var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while true {
            let left = deadline.map { milliseconds($0 - clock.now) } ?? -1
            let count = poll(&entries, nfds_t(entries.count), left)
            if count > 0 { return Set(entries.filter { $0.revents != 0 }.map(\.fd)) }
            if count < 0, errno != EINTR { return [] }
            if let deadline, clock.now >= deadline { return [] }
        }
    }

    private static func milliseconds(_ duration: Duration) -> Int32 {
        guard duration > .zero else { return 0 }
        let parts = duration.components
        let whole = min(parts.seconds, 1_000_000) * 1000
        return Int32(whole + parts.attoseconds / 1_000_000_000_000_000 + 1)
    }
}

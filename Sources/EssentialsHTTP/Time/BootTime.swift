import EssentialsStorage
import EssentialsTools

/// A moment on the clock that counts from the start of the machine, also while it sleeps, and that nobody sets.
///
/// The differences of two moments with one ``boot`` are exact, also in two processes and whatever happens to the date. The
/// moments of two starts cannot be compared.
///
/// ```swift
/// if let now = clock.bootTime, now.boot == added.boot { age = now.elapsed - added.elapsed }
/// ```
public struct BootTime: Sendable, Hashable {
    /// Identifies a start of the machine.
    public let boot: String
    /// The time since that start.
    public let elapsed: Duration

    /// Creates a moment.
    ///
    /// - Parameters:
    ///   - boot: Identifies a start of the machine. No two starts have the same text.
    ///   - elapsed: The time since that start.
    public init(boot: String, elapsed: Duration) { (self.boot, self.elapsed) = (boot, elapsed) }

    /// The time of the system: its clock `CLOCK_BOOTTIME`, and the identifier of proc_sys_kernel(5), `random/boot_id`.
    /// `nil` on a system that has one of them only.
    package static var system: BootTime? {
        #if os(Linux)
            guard let boot = systemBoot else { return nil }
            var time = timespec()
            guard clock_gettime(CLOCK_BOOTTIME, &time) == 0 else { return nil }
            return BootTime(boot: boot, elapsed: .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec)))
        #else
            return nil
        #endif
    }

    /// The identifier of the present start, which is read once.
    private static let systemBoot: String? = {
        guard let file = try? OpenFile("/proc/sys/kernel/random/boot_id", O_RDONLY | O_NOFOLLOW) else { return nil }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = try? bytes.withUnsafeMutableBytes { buffer throws(FileError) in
            try file.read(into: buffer, at: 0)
        }
        let text = bytes[..<(count ?? 0)].prefix { $0 > 0x20 && $0 < 0x7f }
        return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
    }()
}

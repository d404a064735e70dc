public import EssentialsHTTP
import EssentialsTools
import Glibc

/// The memory pressure that the Linux kernel reports.
///
/// ```swift
/// configuration.memoryPressure = try KernelMemoryPressure()
/// ```
///
/// It uses the pressure stall information of the process's control group, or otherwise of the whole system: `low` if
/// some threads waited for memory for 70 ms within 2 s, `critical` if all threads did for 100 ms. The limits of the
/// control group count too: `low` if it was throttled at `memory.high`, `critical` if it reached `memory.max`.
///
/// The kernel reports by itself, so nothing runs until it does. While there is an observer, one thread waits for the
/// kernel. A process without privileges needs Linux 6.4 or 6.1.42, and write access to the files.
///
/// If the kernel refuses to report, the averages of the last 10 s are read every 10 s instead, while there is an
/// observer: `low` if some threads waited for at least 3.5 % of the time, `critical` if all threads did for at least 5
/// %. These are the same shares of the time.
public final class KernelMemoryPressure: MemoryPressureSource {
    /// The work that runs for the observers.
    private struct Watch {
        let loop: PressureLoop?
        let reading: Task<Void, Never>?

        func stop() {
            reading?.cancel()
            loop?.stop()
        }
    }

    private struct State {
        var watch: Watch?
        var observers = 0
    }

    private let reporters = Reporters()
    private let state = Mutex(State())
    private let setup: PressureSetup

    /// Creates a source.
    ///
    /// - Throws: `resources` if the kernel does not report memory pressure to this process. Use
    ///   ``ManualMemoryPressure`` then.
    public convenience init() throws(RequestFailure) { try self.init(PressureSetup(directory: Self.ownDirectory)) }

    init(_ setup: PressureSetup) throws(RequestFailure) {
        self.setup = setup
        // The files are opened again for the observers. Opening them here reports their problems early.
        for descriptor in try setup.open().descriptors { close(descriptor.number) }
    }

    /// Calls a function for each report, on a thread or task of the source; see the protocol.
    public func observe(
        _ report: @escaping @Sendable (MemoryPressure) -> Void
    ) throws(RequestFailure) -> MemoryPressureObservation {
        try state.withLock { state throws(RequestFailure) in
            if state.watch == nil { state.watch = try start() }
            state.observers += 1
        }
        let number = reporters.add(report)
        return MemoryPressureObservation { [self] in
            _ = reporters.remove(number)
            let watch = state.withLock { state -> Watch? in
                state.observers -= 1
                return state.observers == 0 ? state.watch.take() : nil
            }
            watch?.stop()
        }
    }

    private func start() throws(RequestFailure) -> Watch {
        let found = try setup.open()
        let report: @Sendable (MemoryPressure) -> Void = { [reporters] in reporters.report($0) }
        let loop = found.descriptors.isEmpty ? nil : try PressureLoop(found.descriptors, report)
        return Watch(
            loop: loop, reading: found.averages.map { PressureAverages.follow($0, setup.clock, report) })
    }

    // MARK: Files

    private static var ownDirectory: String? {
        guard let groups = text(of: "/proc/self/cgroup"), let mounts = text(of: "/proc/self/mountinfo") else {
            return nil
        }
        return PressureFiles.directory(groups: groups, mounts: mounts)
    }

    private static func text(of file: String) -> String? {
        let number = Glibc.open(file, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { return nil }
        defer { close(number) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 16 << 10)
        // Some hosts have a long list of mounts, but it is never longer than this.
        while bytes.count < 4 << 20 {
            let count = read(number, &part, part.count)
            guard count > 0 else { break }
            bytes += part[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

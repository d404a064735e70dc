public import EssentialsHTTP
import Glibc
import Synchronization

/// The memory pressure that the Linux kernel reports.
///
/// ```swift
/// configuration.memoryPressure = try KernelMemoryPressure()
/// ```
///
/// It asks for the pressure stall information of the process's control group, or else of the whole system: `low` if some
/// threads waited for memory for 70 ms within 2 s, `critical` if all did for 100 ms. The limits of the control group count
/// too: `low` if it was throttled at `memory.high`, `critical` if it reached `memory.max`.
///
/// The kernel reports by itself, so nothing runs until it does. While there is an observer, one thread waits for the
/// kernel. A process without privileges needs Linux 6.4, or 6.1.42.
public final class KernelMemoryPressure: MemoryPressureSource {
    private struct State {
        var loop: PressureLoop?
        var observers = 0
    }

    private let reporters = Reporters()
    private let state = Mutex(State())
    private let directory: String?

    /// Creates a source.
    ///
    /// - Throws: `resources` if the kernel does not report memory pressure to this process.
    public init() throws(RequestFailure) {
        directory = Self.ownDirectory
        // The files are opened again for the observers. What is wrong with them is said here.
        for descriptor in try Self.open(directory) { close(descriptor.number) }
    }

    /// Calls a function for each report, on the thread that waits for the kernel; see the protocol.
    public func observe(
        _ report: @escaping @Sendable (MemoryPressure) -> Void
    ) throws(RequestFailure) -> MemoryPressureObservation {
        try state.withLock { state throws(RequestFailure) in
            if state.loop == nil {
                state.loop = try PressureLoop(Self.open(directory)) { [reporters] in reporters.report($0) }
            }
            state.observers += 1
        }
        let number = reporters.add(report)
        return MemoryPressureObservation { [self] in
            _ = reporters.remove(number)
            let loop = state.withLock { state -> PressureLoop? in
                state.observers -= 1
                return state.observers == 0 ? state.loop.take() : nil
            }
            loop?.stop()
        }
    }

    // MARK: Files

    private static var ownDirectory: String? {
        guard let groups = text(of: "/proc/self/cgroup"), let mounts = text(of: "/proc/self/mountinfo") else {
            return nil
        }
        return PressureFiles.directory(groups: groups, mounts: mounts)
    }

    /// Opens the files and asks for reports.
    private static func open(_ directory: String?) throws(RequestFailure) -> [PressureDescriptor] {
        var opened: [PressureDescriptor] = []
        var error: SystemError?
        for file in [directory.map { $0 + "/memory.pressure" }, PressureFiles.system].compactMap(\.self) {
            do throws(SystemError) {
                opened.append(try trigger(PressureFiles.low, .low, in: file))
                opened.append(try trigger(PressureFiles.critical, .critical, in: file))
                break
            } catch let failure {
                for descriptor in opened { close(descriptor.number) }
                opened = []
                // That of the own control group says nothing if it has no such file.
                error = failure
            }
        }
        guard !opened.isEmpty else {
            throw RequestFailure(
                .resources, "The kernel does not report memory pressure\(error.map { ": \($0)" } ?? "").",
                remedy: "Use ManualMemoryPressure, or a kernel from 6.4 on with pressure stall information (PSI).",
                underlying: error)
        }
        if let directory {
            let number = Glibc.open(directory + "/memory.events", O_RDONLY | O_CLOEXEC)
            if number >= 0 { opened.append(PressureDescriptor(number: number, meaning: .events)) }
        }
        return opened
    }

    private static func trigger(
        _ text: String, _ pressure: MemoryPressure, in file: String
    ) throws(SystemError) -> PressureDescriptor {
        let number = Glibc.open(file, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard number >= 0 else { throw .last }
        // The kernel wants the zero at the end as well.
        let written = text.withCString { write(number, $0, strlen($0) + 1) }
        guard written > 0 else {
            let error = SystemError.last
            close(number)
            throw error
        }
        return PressureDescriptor(number: number, meaning: .pressure(pressure))
    }

    private static func text(of file: String) -> String? {
        let number = Glibc.open(file, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { return nil }
        defer { close(number) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 16 << 10)
        // A list of mounts is long on some hosts, and never longer than this.
        while bytes.count < 4 << 20 {
            let count = read(number, &part, part.count)
            guard count > 0 else { break }
            bytes += part[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

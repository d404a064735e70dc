import EssentialsHTTP
import EssentialsTools
import Glibc

/// A descriptor that reports memory pressure by the poll event `POLLPRI`.
struct PressureDescriptor: Sendable {
    enum Meaning: Sendable {
        /// Each event means this pressure.
        case pressure(MemoryPressure)
        /// An event means that the counters of `memory.events` have changed.
        case events
    }

    let number: Int32
    let meaning: Meaning
}

/// The thread that waits for the kernel's reports of memory pressure.
final class PressureLoop: Sendable {
    private let thread: SystemThread
    /// The end of a pair of sockets whose closing ends the thread.
    private let stopper: Int32

    /// Starts the thread, which closes the descriptors at its end.
    ///
    /// - Throws: `resources` if the system provides no thread or descriptor. The descriptors are then closed.
    init(
        _ descriptors: [PressureDescriptor], _ report: @escaping @Sendable (MemoryPressure) -> Void
    ) throws(RequestFailure) {
        var pair: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        do throws(SystemError) {
            guard socketpair(AF_UNIX, type, 0, &pair) == 0 else { throw .last }
            let watcher = Watcher(descriptors: descriptors, stop: pair[0], report: report)
            do throws(SystemThread.Failure) {
                thread = try SystemThread(named: "essentials-psi") { watcher.run() }
            } catch {
                throw SystemError(code: error.code)
            }
            stopper = pair[1]
        } catch {
            for descriptor in descriptors { close(descriptor.number) }
            for socket in pair where socket >= 0 { close(socket) }
            throw RequestFailure(
                .resources, "The system refused a descriptor or a thread for reports of memory pressure: \(error).",
                remedy: "Raise the limit of open files and threads.", underlying: error)
        }
    }

    /// Ends the thread, and waits for it unless it is the calling thread. It must be called once.
    func stop() {
        close(stopper)
        if thread.isCurrent { thread.detach() } else { thread.join() }
    }
}

/// The work of the thread.
private struct Watcher: Sendable {
    let descriptors: [PressureDescriptor]
    let stop: Int32
    let report: @Sendable (MemoryPressure) -> Void

    func run() {
        var watched = descriptors
        var events = MemoryEvents()
        for descriptor in watched {
            if case .events = descriptor.meaning { events = counters(descriptor.number) }
        }
        var isRunning = true
        while isRunning {
            var polled = [pollfd(fd: stop, events: Int16(POLLIN), revents: 0)]
            polled += watched.map { pollfd(fd: $0.number, events: Int16(POLLPRI), revents: 0) }
            guard poll(&polled, nfds_t(polled.count), -1) >= 0 || errno == EINTR else { break }
            isRunning = polled[0].revents == 0
            for (descriptor, state) in zip(watched, polled.dropFirst()) where state.revents & Int16(POLLPRI) != 0 {
                tell(descriptor, &events)
            }
            // A removed control group reports nothing more.
            let gone = Set(polled.dropFirst().filter { isGone($0) }.map(\.fd))
            for number in gone { close(number) }
            watched.removeAll { gone.contains($0.number) }
        }
        for descriptor in watched { close(descriptor.number) }
        close(stop)
    }

    private func tell(_ descriptor: PressureDescriptor, _ events: inout MemoryEvents) {
        switch descriptor.meaning {
        case .pressure(let pressure): report(pressure)
        case .events:
            let now = counters(descriptor.number)
            if let pressure = now.pressure(since: events) { report(pressure) }
            events = now
        }
    }

    /// Whether a descriptor reports an error without an event. Files of a control group report both for a change.
    private func isGone(_ state: pollfd) -> Bool {
        let ends = Int16(POLLERR) | Int16(POLLHUP) | Int16(POLLNVAL)
        return state.revents & ends != 0 && state.revents & Int16(POLLPRI) == 0
    }

    private func counters(_ number: Int32) -> MemoryEvents {
        var bytes = [UInt8](repeating: 0, count: 1_024)
        let count = pread(number, &bytes, bytes.count, 0)
        return MemoryEvents(String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self))
    }
}

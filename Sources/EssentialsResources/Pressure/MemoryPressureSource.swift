public import EssentialsHTTP
import EssentialsTools

/// How urgently memory is needed.
public enum MemoryPressure: Sendable, Hashable {
    /// Memory is short. Half of the unused resources and half of the entities in memory caches are dropped.
    case low
    /// Work waits for memory. All unused resources and all entities in memory caches are dropped, and so are the bodies
    /// that are kept for further content types.
    case critical
}

/// Reports that memory is short, so that a service drops values that it can load again.
///
/// ```swift
/// configuration.memoryPressure = try KernelMemoryPressure()
/// ```
///
/// ``KernelMemoryPressure`` listens to the Linux kernel, and ``ManualMemoryPressure`` passes on the program's own
/// reports.
public protocol MemoryPressureSource: Sendable {
    /// Calls a function for each report, on any thread, until the observation ends.
    ///
    /// - Throws: `resources` if the system provides no descriptor or thread for it.
    func observe(
        _ report: @escaping @Sendable (MemoryPressure) -> Void
    ) throws(RequestFailure) -> MemoryPressureObservation
}

/// An observation of a source of memory pressure. It ends with ``cancel()`` or with its last reference.
public final class MemoryPressureObservation: Sendable {
    private let end: Mutex<(@Sendable () -> Void)?>

    /// Creates an observation.
    ///
    /// - Parameter end: Ends it. It is called once.
    public init(_ end: @escaping @Sendable () -> Void) { self.end = Mutex(end) }

    deinit { cancel() }

    /// Ends the observation. A report in progress may still be delivered.
    public func cancel() {
        let end = end.withLock { $0.take() }
        end?()
    }
}

/// A source of memory pressure that the program drives.
///
/// ```swift
/// let pressure = ManualMemoryPressure()
/// configuration.memoryPressure = pressure
/// pressure.report(.low)
/// ```
public final class ManualMemoryPressure: MemoryPressureSource {
    private let reporters = Reporters()

    /// Creates a source without observers.
    public init() {}

    /// Notifies all observers, on the calling thread.
    public func report(_ pressure: MemoryPressure) { reporters.report(pressure) }

    /// Calls a function for each report; see the protocol.
    public func observe(
        _ report: @escaping @Sendable (MemoryPressure) -> Void
    ) throws(RequestFailure) -> MemoryPressureObservation {
        let number = reporters.add(report)
        return MemoryPressureObservation { [reporters] in _ = reporters.remove(number) }
    }
}

/// The functions that a source calls.
final class Reporters: Sendable {
    private struct State {
        var functions: [UInt64: @Sendable (MemoryPressure) -> Void] = [:]
        var last: UInt64 = 0
    }

    private let state = Mutex(State())

    func add(_ report: @escaping @Sendable (MemoryPressure) -> Void) -> UInt64 {
        state.withLock { state in
            state.last += 1
            state.functions[state.last] = report
            return state.last
        }
    }

    /// Removes a function, which the caller releases.
    func remove(_ number: UInt64) -> (@Sendable (MemoryPressure) -> Void)? {
        state.withLock { $0.functions.removeValue(forKey: number) }
    }

    func report(_ pressure: MemoryPressure) {
        for function in state.withLock({ Array($0.functions.values) }) { function(pressure) }
    }
}

import EssentialsTools

/// The parts of a resource's state that are read without a lock.
///
/// They are written under the lock of the resource. A reader of several flags may see them at two different moments,
/// while a snapshot always shows one moment.
struct ResourceFlags: ~Copyable, Sendable {
    /// The flags as bits of a number.
    struct Bits: OptionSet, Sendable {
        let rawValue: UInt8
        static let isLoading = Bits(rawValue: 1)
        static let isInvalid = Bits(rawValue: 2)
        static let hasContent = Bits(rawValue: 4)
        static let hasFailure = Bits(rawValue: 8)
        /// The resource forwards to another one, and nothing else is known here.
        static let isForwarded = Bits(rawValue: 16)
    }

    private let bits = Atomic<UInt8>(0)
    /// The monotonic time until which the resource is fresh, in nanoseconds.
    private let deadline = Atomic<Int64>(.min)
    /// The version of the state at which the last account or environment was left.
    private let beginning = Atomic<UInt64>(0)
    /// Counts the events that can end the delivery of a change to observers that have not received it yet.
    private let interruptionCount = Atomic<UInt64>(0)

    /// The flags.
    var current: Bits { Bits(rawValue: bits.load(ordering: .acquiring)) }

    /// Whether the resource is fresh at a time. The boundary is included.
    func isFresh(at now: Duration) -> Bool { now.wholeNanoseconds <= deadline.load(ordering: .acquiring) }

    /// The first version of the current account and environment. States with a smaller version are not shown any more.
    var firstVersion: UInt64 { beginning.load(ordering: .acquiring) }

    /// Ends the account or environment of all versions before this one.
    func begin(at version: UInt64) {
        beginning.store(version, ordering: .releasing)
        interrupt()
    }

    /// A number that rises when an account or environment is left, and when an observer is removed.
    var interruptions: UInt64 { interruptionCount.load(ordering: .acquiring) }

    /// Makes the current delivery check again which observers receive the rest of it.
    func interrupt() { interruptionCount.add(1, ordering: .acquiringAndReleasing) }

    /// Changes the flags.
    ///
    /// - Parameter freshUntil: The end of freshness; `nil` if the resource is not fresh.
    func set(_ flags: Bits, freshUntil: Duration?) {
        bits.store(flags.rawValue, ordering: .releasing)
        deadline.store(freshUntil?.wholeNanoseconds ?? .min, ordering: .releasing)
    }
}

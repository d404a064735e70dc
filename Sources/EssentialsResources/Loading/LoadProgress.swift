import EssentialsTools

/// The progress of a load in four bytes, in units of 2⁻³¹. Every resource stores one.
struct LoadProgress: Sendable, Equatable {
    let bits: UInt32

    /// There is no progress.
    static let none = LoadProgress(bits: .max)
    /// The load has ended.
    static let complete = LoadProgress(1)

    fileprivate init(bits: UInt32) { self.bits = bits }

    /// Rounds a progress from 0 to 1 down, so that it stays less than 1 until the end.
    init(_ value: Double) { bits = UInt32(min(max(value.isNaN ? 0 : value, 0), 1) * 0x1p31) }

    /// The progress from 0 to 1; `nil` if there is none.
    var value: Double? { self == .none ? nil : Double(bits) * 0x1p-31 }
}

/// Whether the progress of a load is measured, and its current value.
///
/// This is decided when the request is sent. An observer that is added later does not change a request in progress.
struct LoadMeasurement: ~Copyable, Sendable {
    /// The request was not sent, and no progress was requested. Progress is at most 2³¹, so these numbers are free.
    private static let open = UInt32.max
    /// No progress was requested before the request was sent.
    private static let declined = UInt32.max - 1

    private let bits = Atomic<UInt32>(open)

    /// The progress; `nil` if it is not measured.
    var progress: LoadProgress {
        let bits = bits.load(ordering: .acquiring)
        return bits < Self.declined ? LoadProgress(bits: bits) : .none
    }

    /// Requests the progress. This has an effect only before the request is sent.
    func ask() {
        _ = bits.compareExchange(expected: Self.open, desired: 0, ordering: .acquiringAndReleasing)
    }

    /// Decides whether the request that is about to be sent is measured.
    ///
    /// - Parameter isAsked: Whether its sender needs the progress.
    func decide(isAsked: Bool) -> Bool {
        let desired = isAsked ? 0 : Self.declined
        let (isOpen, found) = bits.compareExchange(
            expected: Self.open, desired: desired, ordering: .acquiringAndReleasing)
        return (isOpen ? desired : found) < Self.declined
    }

    /// Raises the progress. It is called under the lock of the resource.
    ///
    /// - Returns: Whether it is greater than before.
    func raise(to progress: LoadProgress) -> Bool {
        let old = bits.load(ordering: .relaxed)
        guard old < progress.bits, progress != .none else { return false }
        bits.store(progress.bits, ordering: .releasing)
        return true
    }
}

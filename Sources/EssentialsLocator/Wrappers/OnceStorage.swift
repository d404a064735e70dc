import Synchronization

/// A value that is written once and read without a lock.
///
/// `@unchecked Sendable`: the pointer leads to memory that was filled before it was published, with release, and is
/// read after it was acquired; it is constant from then on, and freed in `deinit`, when nobody refers to this any more.
final class OnceStorage<Value: Sendable>: @unchecked Sendable {
    private let pointer = Atomic<UnsafeMutablePointer<Value>?>(nil)

    init() {}

    deinit {
        guard let filled = pointer.load(ordering: .acquiring) else { return }
        filled.deinitialize(count: 1)
        filled.deallocate()
    }

    /// The value, nil before it was set.
    var value: Value? { pointer.load(ordering: .acquiring)?.pointee }

    /// Stores a value if there is none; the one that is stored.
    func set(_ value: Value) -> Value {
        let filled = UnsafeMutablePointer<Value>.allocate(capacity: 1)
        filled.initialize(to: value)
        let (isFirst, before) = pointer.compareExchange(
            expected: nil, desired: filled, ordering: .acquiringAndReleasing)
        guard !isFirst, let before else { return value }
        filled.deinitialize(count: 1)
        filled.deallocate()
        return before.pointee
    }
}

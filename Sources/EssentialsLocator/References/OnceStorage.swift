import EssentialsTools

/// A value that is written once and read without a lock.
///
/// `@unchecked Sendable`: the memory is initialized before its pointer is published with release ordering, read after
/// the pointer is loaded with acquire ordering, never changed again, and freed in `deinit`.
final class OnceStorage<Value: Sendable>: @unchecked Sendable {
    private let pointer = Atomic<UnsafeMutablePointer<Value>?>(nil)

    init() {}

    deinit {
        guard let filled = pointer.load(ordering: .acquiring) else { return }
        filled.deinitialize(count: 1)
        filled.deallocate()
    }

    /// The value, or `nil` before it is set.
    var value: Value? { pointer.load(ordering: .acquiring)?.pointee }

    /// Stores a value if there is none, and returns the stored value.
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

/// A large value behind one reference, so that a copy costs one retain whatever the value contains.
///
/// Changing a copy copies the value first, unless nobody else has it.
package struct CopyOnWrite<Value: Sendable>: Sendable {
    // The value is changed only by the one owner of the reference, which no other thread can have then.
    @usableFromInline
    final class Storage: @unchecked Sendable {
        // Exclusive access follows from the unique reference.
        @exclusivity(unchecked) @usableFromInline
        var value: Value

        @inlinable
        init(_ value: Value) { self.value = value }
    }

    @usableFromInline
    var storage: Storage

    /// Makes a reference to a value.
    @inlinable
    package init(_ value: Value) { storage = Storage(value) }

    /// The value.
    @inlinable
    package var value: Value {
        _read { yield storage.value }
        _modify {
            if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.value) }
            yield &storage.value
        }
    }

    /// Whether two copies share one value, so that they are equal without a comparison.
    @inlinable
    package static func shares(_ one: Self, _ other: Self) -> Bool { one.storage === other.storage }
}

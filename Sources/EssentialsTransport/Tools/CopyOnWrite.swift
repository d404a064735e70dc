/// Keeps a large value behind a reference: a copy costs one retain, and shares the value until one of the two is changed.
///
/// What travels through the stages of a request is kept in it, because every stage copies what it hands on.
@usableFromInline
package struct CopyOnWrite<Value: Sendable>: Sendable {
    @usableFromInline
    final class Storage: @unchecked Sendable {
        // Argument for @unchecked: the value is changed only while a single CopyOnWrite refers to the storage, and by
        // whoever has exclusive access to that one, as an array's elements are. While it is shared nobody writes. For
        // the same reason the runtime need not look for overlapping accesses.
        @exclusivity(unchecked) @usableFromInline var value: Value

        @inlinable
        init(_ value: Value) { self.value = value }
    }

    @usableFromInline var storage: Storage

    @inlinable
    package init(_ value: Value) { storage = Storage(value) }

    /// The value. Reading a part of it copies that part alone; changing one copies the whole first, if it is shared.
    @inlinable
    package var value: Value {
        _read { yield storage.value }
        _modify {
            if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.value) }
            yield &storage.value
        }
    }

    /// Whether the two share one value, and so are equal without a look at it.
    @inlinable
    package func isShared(with other: CopyOnWrite) -> Bool { storage === other.storage }

    /// Shows the value's parts as those of the type that keeps it.
    package func mirror(of subject: some Any) -> Mirror {
        Mirror(subject, children: Mirror(reflecting: value).children)
    }
}

extension CopyOnWrite: Equatable where Value: Equatable {
    @inlinable
    package static func == (one: CopyOnWrite, other: CopyOnWrite) -> Bool {
        one.isShared(with: other) || one.value == other.value
    }
}

extension CopyOnWrite: Hashable where Value: Hashable {
    @inlinable
    package func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
}

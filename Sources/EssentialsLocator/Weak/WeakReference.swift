/// An object that is not retained. Constant, so that reading it needs no check for writers.
@usableFromInline
struct WeakReference<Object: AnyObject & Sendable>: Sendable {
    @usableFromInline
    weak let object: Object?

    @inlinable
    init(_ object: Object) { self.object = object }
}

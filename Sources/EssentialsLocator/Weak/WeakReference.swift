/// An object that is not retained. Constant, so that reading it needs no check for writers.
struct WeakReference<Object: AnyObject & Sendable>: Sendable {
    weak let object: Object?

    init(_ object: Object) { self.object = object }
}

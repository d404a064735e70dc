/// The place of an observer. The observer is removed when this object is released.
package final class Place: Sendable {
    private let leave: @Sendable () -> Void

    package init(leave: @escaping @Sendable () -> Void) { self.leave = leave }

    deinit { leave() }
}

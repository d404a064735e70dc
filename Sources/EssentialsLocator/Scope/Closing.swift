/// How far the closing of a locator has come.
enum Closing: Sendable {
    case open
    /// Those who closed it too wait for the first, and so may factories; the node is what they wait for.
    case running(WaitNode, [CheckedContinuation<Void, Never>])
    case closed
}

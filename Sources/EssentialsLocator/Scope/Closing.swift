/// How far the closing of a locator has come.
enum Closing: Sendable {
    case open
    /// Those who closed it too wait for the first.
    case running([CheckedContinuation<Void, Never>])
    case closed
}

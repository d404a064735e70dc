import EssentialsHTTP
import EssentialsTools

/// A check that cancels loads that nothing needs any more; see ``Resource/cancelLoadIfUnobserved(after:)``.
///
/// ```swift
/// let check = film.cancelLoadIfUnobserved(after: .milliseconds(50))
/// check.callOff()  // the film is shown again
/// ```
public struct UnobservedCheck: Sendable {
    let task: Task<Void, Never>

    /// Calls the check off. A check that has taken place is not undone.
    public func callOff() { task.cancel() }
}

extension Resource {
    /// Cancels the loads of the resource after a delay, if it has no observers then. Loads for which a task waits
    /// continue. Observer objects whose last owner was released do not count.
    ///
    /// Use it for screens and pages that may be entered again soon after they were left. Loads that were started by
    /// hand are cancelled too, unless a task waits for the content of their request.
    ///
    /// - Parameter delay: The time until the check, by the clock of the service. The resource is kept until then.
    /// - Returns: The check, which can be called off. It need not be kept.
    @discardableResult
    public func cancelLoadIfUnobserved(after delay: Duration = .milliseconds(50)) -> UnobservedCheck {
        let clock = service.clock
        // Limited, so that the sum does not overflow.
        let end = clock.now + delay.sleepable
        return UnobservedCheck(
            task: .counted {
                do {
                    try await clock.sleep(until: end)
                    core.cancelUnobservedLoads()
                } catch {
                    // It was called off.
                }
            })
    }
}

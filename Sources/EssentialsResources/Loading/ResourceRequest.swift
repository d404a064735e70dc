/// A load that was started by hand.
///
/// ```swift
/// let request = shop.cart.startLoad()
/// let cart = try await request.content
/// ```
public struct ResourceRequest<Content: Sendable>: Sendable {
    let resource: Resource<Content>
    let run: LoadRun

    /// Waits for the load and returns its content.
    ///
    /// - Throws: The failure of the load; `cancelled` if it was cancelled, or if the calling task was. In the latter case
    ///   the load goes on.
    public var content: Content {
        get async throws(RequestFailure) {
            let outcome = await run.outcome()
            return try outcome.content(of: Content.self, resource.service.codecs)
        }
    }

    /// Whether the load has ended.
    public var isCompleted: Bool { run.hasEnded }

    /// Cancels the load at once, for all who wait for it. A response that arrives later is ignored.
    public func cancel() { resource.core.cancel(run) }
}

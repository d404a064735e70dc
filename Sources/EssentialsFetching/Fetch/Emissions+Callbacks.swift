public import Dispatch
public import EssentialsRequests

extension Emissions {
    /// Fetches and passes each value to a handler.
    ///
    /// ```swift
    /// let token = service.coins().start(completionQueue: .main) { coins in
    ///     list.show(coins.value)
    /// } completion: { result in
    ///     if case .failure(let failure) = result { list.show(failure.message) }
    /// }
    /// token.cancel()
    /// ```
    ///
    /// The handlers run on a serial queue that belongs to the fetch and targets `completionQueue`. The completion runs
    /// last and exactly once. It receives the failure that ended the sequence, or `cancelled` after
    /// `CancellableToken.cancel(silently:)`. After a silent cancellation no handler is called.
    ///
    /// - Parameters:
    ///   - completionQueue: The queue on which handlers run. The default is `nil`, which means the queue of the
    ///     data-request service.
    ///   - autoResume: Whether the fetch begins now. With `false`, nothing is read or sent until
    ///     `CancellableToken.resume()`. The default is `true`.
    ///   - emission: Receives the values in order.
    ///   - completion: Receives the result at the end.
    /// - Returns: A token that cancels the fetch. Releasing the token does not cancel it.
    @discardableResult
    public func start(
        completionQueue: DispatchQueue? = nil, autoResume: Bool = true,
        emission: @escaping @Sendable (Emission<Value>) -> Void,
        completion: @escaping @Sendable (Result<Void, RequestFailure>) -> Void = { _ in }
    ) -> CancellableToken {
        let run = CallbackRun(on: completionQueue ?? callbackQueue)
        return run.start(completion, autoResume: autoResume) { run throws(RequestFailure) in
            for try await next in self { run.notify { emission(next) } }
        }
    }
}

public import EssentialsHTTP

/// The phase of a request.
///
/// ```swift
/// if request.phase == .notStarted { request.start() }
/// ```
public enum ResourceRequestPhase: Sendable, Hashable {
    /// The request was not started.
    case notStarted
    /// The request was started and has not ended.
    case running
    /// The request has ended, with a response or a failure.
    case completed
}

/// A request that is started by hand: a load of a resource, or any other request to its URL.
///
/// ```swift
/// let request = shop.cart.startLoad()
/// request.onNewContent { cart in show(cart) }.onFailure { failure in show(failure.message) }
/// let cart = try await request.content
///
/// let checkout: ResourceRequest<Receipt> = shop.cart.request(.post)
/// let receipt = try await checkout.start().content
/// ```
///
/// All copies refer to the same request. It can be used from any task and thread.
///
/// Each hook is called once, after the observers of the resource. Hooks run one after another in a separate task, in
/// the order in which they were added. A hook that is added after the end is called soon after. A request that was not
/// started keeps its hooks; if it is released without being started, it never calls them.
public struct ResourceRequest<Content: Sendable>: Sendable {
    let storage: RequestStorage<Content>

    init(_ storage: RequestStorage<Content>) { self.storage = storage }

    // MARK: State

    /// The phase of the request.
    public var phase: ResourceRequestPhase { storage.phase }
    /// Whether the request has ended.
    public var isCompleted: Bool { storage.phase == .completed }

    /// Starts the request. Further calls do nothing.
    @discardableResult
    public func start() -> ResourceRequest {
        storage.start()
        return self
    }

    /// Ends the request as `cancelled` at once, for all tasks that wait for it. A response that arrives later is
    /// ignored. A request that was not started never sends anything.
    ///
    /// The load of a resource ends with its request, unless a task waits for the load, or another request that was
    /// started by hand follows it. Observers do not keep it running. ``RunningRequest/cancel()`` ends it for all.
    public func cancel() { storage.cancel() }

    /// Waits for the request and returns its response. A request that was not started is started.
    ///
    /// - Throws: The failure of the request; `cancelled` if the request or the calling task was cancelled. If only the
    ///   task was cancelled, the request continues.
    public var response: ResourceResponse<Content> {
        get async throws(RequestFailure) { try await storage.outcome().get() }
    }

    /// Waits for the request and returns its content; see ``response``.
    public var content: Content {
        get async throws(RequestFailure) { try await storage.outcome().get().content }
    }

    // MARK: Hooks

    /// Calls a closure with the outcome, even after a cancellation.
    @discardableResult
    public func onCompletion(
        _ hook: @escaping @Sendable (Result<ResourceResponse<Content>, RequestFailure>) async -> Void
    ) -> ResourceRequest {
        storage.addHook(hook)
        return self
    }

    /// Calls a closure with the response, even if the content has not changed.
    @discardableResult
    public func onSuccess(
        _ hook: @escaping @Sendable (ResourceResponse<Content>) async -> Void
    ) -> ResourceRequest {
        onCompletion { outcome in
            if case .success(let response) = outcome { await hook(response) }
        }
    }

    /// Calls a closure with the content, unless the server has only confirmed the existing content.
    @discardableResult
    public func onNewContent(_ hook: @escaping @Sendable (Content) async -> Void) -> ResourceRequest {
        onSuccess { response in
            if !response.isNotModified { await hook(response.content) }
        }
    }

    /// Calls a closure if the server has confirmed the existing content.
    @discardableResult
    public func onNotModified(_ hook: @escaping @Sendable () async -> Void) -> ResourceRequest {
        onSuccess { response in
            if response.isNotModified { await hook() }
        }
    }

    /// Calls a closure with the failure. A cancellation does not count as a failure.
    @discardableResult
    public func onFailure(_ hook: @escaping @Sendable (RequestFailure) async -> Void) -> ResourceRequest {
        onCompletion { outcome in
            if case .failure(let failure) = outcome, failure.reason != .cancelled { await hook(failure) }
        }
    }

    /// Calls a closure with the progress, from 0 to 1.
    ///
    /// Progress never decreases, and is 1 once, before the other hooks are called. It grows with time in waiting phases
    /// and with bytes in transfers, about every 50 milliseconds. Add the closure before the request is started: a
    /// request without a listener at its start measures nothing and reports only its end.
    ///
    /// - Parameter hook: It is called on any thread, never by two at once, and must return quickly. It is not called
    ///   after the end.
    @discardableResult
    public func onProgress(_ hook: @escaping @Sendable (Double) -> Void) -> ResourceRequest {
        storage.observeProgress(hook)
        return self
    }

    // MARK: Further requests

    /// Returns the same request once more: not started, without the hooks, and made from the current configuration.
    ///
    /// Decorators are not applied again. A repeated load does not change the state of the resource. A body that can be
    /// sent only once fails as `notReplayable`.
    public func repeated() -> ResourceRequest { ResourceRequest(storage.repeated()) }
}

// MARK: - Ready-made requests

extension ResourceRequest {
    /// A request that already has a response. It sends nothing, and cancelling it has no effect.
    ///
    /// ```swift
    /// guard isOnline else { return .answered(Cart.empty) }
    /// ```
    public static func answered(
        _ content: Content, status: HTTPResponse.Status = .ok, headerFields: HTTPFields = [:]
    ) -> ResourceRequest {
        ready(.success(ResourceResponse(content, status: status, headerFields: headerFields)))
    }

    /// A request that has already failed. It sends nothing, and cancelling it has no effect.
    public static func failed(_ failure: RequestFailure) -> ResourceRequest { ready(.failure(failure)) }

    private static func ready(_ outcome: RequestStorage<Content>.Outcome) -> ResourceRequest {
        let request = ResourceRequest(
            RequestStorage(isCancellable: false, again: { ready(outcome).storage }, begin: { _ in {} }))
        request.storage.end(outcome)
        return request
    }

    /// A request whose work is done by the caller, such as several requests, or one of another kind.
    ///
    /// ```swift
    /// let request = ResourceRequest<Data>.custom { completion in
    ///     completion.complete(await readFromDisk())
    /// }
    /// ```
    ///
    /// - Parameter operation: Does the work, in a task that begins with ``start()`` and that ``cancel()`` cancels. It
    ///   can pass the completion on and return before the request is completed. ``repeated()`` calls it again.
    public static func custom(
        _ operation: @escaping @Sendable (RequestCompletion<Content>) async -> Void
    ) -> ResourceRequest {
        ResourceRequest(
            RequestStorage(again: { custom(operation).storage }) { storage in
                let task = Task { await operation(RequestCompletion(storage: storage)) }
                return { task.cancel() }
            })
    }
}

/// Ends a custom request.
///
/// ```swift
/// if !completion.complete(.success(ResourceResponse(bytes))) { discard(bytes) }
/// ```
public struct RequestCompletion<Content: Sendable>: Sendable {
    let storage: RequestStorage<Content>

    /// Whether the request has ended, by an outcome or a cancellation.
    public var isCompleted: Bool { storage.phase == .completed }

    /// Ends the request. Only the first outcome counts.
    ///
    /// - Returns: Whether this outcome counts.
    @discardableResult
    public func complete(_ outcome: Result<ResourceResponse<Content>, RequestFailure>) -> Bool { storage.end(outcome) }
}

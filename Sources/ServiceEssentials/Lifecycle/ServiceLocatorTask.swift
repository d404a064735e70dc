#if Server || Inspector
    public import EssentialsLocator
    import EssentialsPersistence
    import EssentialsTransport
    public import ServiceLifecycle

    /// Work that uses the services of a locator, as one service of a group, until the group shuts down.
    ///
    /// ```swift
    /// let feed = ServiceLocatorTask(locator) { locator in
    ///     let requests = try locator.resolve((any DataRequestService).self)
    ///     for try await event in requests.events(of: DataRequest(.get, "feed")) { print(event) }
    /// }
    /// ```
    ///
    /// The work is cancelled when the group shuts down. A failure that this causes, or the closing of the locator, is none of
    /// the group: a request or a store that fails as `cancelled` or `closed` then ends the work without an error. Whatever else it
    /// throws ends the group, as does its return before the shutdown, unless the locator is ending.
    ///
    /// It can be listed before or after the ``ServiceLocatorService``. Listed after it, it ends first.
    public struct ServiceLocatorTask: Service {
        private let locator: ServiceLocator
        private let work: @Sendable (ServiceLocator) async throws -> Void

        /// Creates the service.
        ///
        /// - Parameters:
        ///   - locator: The locator, which it retains.
        ///   - work: The work. It has to notice the cancellation of its task.
        public init(_ locator: ServiceLocator, _ work: @escaping @Sendable (ServiceLocator) async throws -> Void) {
            (self.locator, self.work) = (locator, work)
        }

        /// Does the work until the group shuts down.
        ///
        /// - Throws: What the work throws, unless the shutdown has caused it.
        public func run() async throws {
            do {
                try await cancelWhenGracefulShutdown { [locator, work] in try await work(locator) }
                // A sequence of states ends without an error when the locator is closed.
                guard locator.isEnding else { return }
            } catch {
                guard isEnding(error) else { throw error }
            }
            // A group expects a service to end only when it is notified.
            try? await gracefulShutdown()
        }

        /// Whether the error is the effect of a shutdown of the group, or of the end of the locator.
        private func isEnding(_ error: any Error) -> Bool {
            guard locator.isEnding || Task.isShuttingDownGracefully || Task.isCancelled else { return false }
            switch error {
            case let failure as RequestFailure: return failure.reason == .cancelled || failure.reason == .closed
            case let failure as ServiceLocatorError: return failure.reason == .closed
            case let failure as PersistenceFailure: return failure.reason == .cancelled || failure.reason == .closed
            default: return error is CancellationError
            }
        }
    }
#endif

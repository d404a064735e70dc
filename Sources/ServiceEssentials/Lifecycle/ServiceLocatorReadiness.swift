#if Server || Inspector
    public import EssentialsLocator
    public import ServiceLifecycle

    /// Makes `health()` of a locator say that the program is not ready for more work, as soon as its group begins to shut down.
    ///
    /// ```swift
    /// let services: [any Service] = [
    ///     ServiceLocatorService(locator), server, ServiceLocatorReadiness(locator),
    /// ]
    /// ```
    ///
    /// A group notifies its last service first. So list this one last: the server can then answer readiness probes while it
    /// ends, before the ``ServiceLocatorService`` at the beginning of the list closes the locator.
    public struct ServiceLocatorReadiness: Service {
        private let locator: ServiceLocator

        /// - Parameter locator: The locator, which it retains.
        public init(_ locator: ServiceLocator) { self.locator = locator }

        /// Waits until the group shuts down or is cancelled, and announces the end of the locator. It never throws.
        public func run() async throws {
            try? await gracefulShutdown()
            locator.announceEnd()
        }
    }
#endif

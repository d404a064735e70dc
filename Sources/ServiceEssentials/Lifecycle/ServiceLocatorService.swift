#if Server || Inspector
    public import EssentialsLocator
    public import ServiceLifecycle

    /// All services of a locator as one service of a group of
    /// [swift-service-lifecycle](https://github.com/swift-server/swift-service-lifecycle).
    ///
    /// ```swift
    /// var configuration = ServiceGroupConfiguration(
    ///     services: [.init(service: ServiceLocatorService(locator)), .init(service: server)],
    ///     gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    /// try await ServiceGroup(configuration: configuration).run()
    /// ```
    ///
    /// When the group shuts down, running requests may finish within the grace period, as `ServiceLocator.close(grace:)`
    /// says, and new ones fail as `closed`. Then the locator is closed: its services in reverse order of construction, so
    /// that a store is closed after those that use it. If the group is cancelled, there is no grace period.
    ///
    /// A group ends its services one after the other, the last one first. So list this one before the services that use the
    /// locator's. They can then send requests until they have ended, and a server has answered what it had accepted.
    ///
    /// The group's `maximumGracefulShutdownDuration` should exceed the grace periods of its services together: after it the
    /// group is cancelled.
    public struct ServiceLocatorService: Service {
        private let locator: ServiceLocator
        private let grace: Duration

        /// Creates the service.
        ///
        /// - Parameters:
        ///   - locator: The locator, which it retains. Children and parents are not closed with it.
        ///   - grace: The maximum time for running requests. The default is 20 seconds: ten less than Kubernetes waits
        ///     before it kills a process.
        public init(_ locator: ServiceLocator, grace: Duration = .seconds(20)) {
            (self.locator, self.grace) = (locator, grace)
        }

        /// Waits until the group shuts down or is cancelled, and closes the locator. It never throws.
        public func run() async throws {
            try? await gracefulShutdown()
            await locator.close(grace: Task.isCancelled ? .zero : grace)
        }
    }
#endif

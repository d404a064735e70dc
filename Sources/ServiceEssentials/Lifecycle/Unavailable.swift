// Without the trait, these declarations let the compiler say what is missing.
#if !(Server || Inspector)
    public import EssentialsLocator

    /// A locator as a service of a group, which needs the trait `Server`.
    @available(
        *, unavailable, message: "Enable the trait Server: .package(url: \"…\", from: \"…\", traits: [\"Server\"])"
    )
    public struct ServiceLocatorService: Sendable {
        /// Accepts the arguments of the service with the trait.
        public init(_ locator: ServiceLocator, grace: Duration = .seconds(20)) {}
    }

    /// The readiness of a locator as a service of a group, which needs the trait `Server`.
    @available(
        *, unavailable, message: "Enable the trait Server: .package(url: \"…\", from: \"…\", traits: [\"Server\"])"
    )
    public struct ServiceLocatorReadiness: Sendable {
        /// Accepts the arguments of the service with the trait.
        public init(_ locator: ServiceLocator) {}
    }

    /// Work as a service of a group, which needs the trait `Server`.
    @available(
        *, unavailable, message: "Enable the trait Server: .package(url: \"…\", from: \"…\", traits: [\"Server\"])"
    )
    public struct ServiceLocatorTask: Sendable {
        /// Accepts the arguments of the service with the trait.
        public init(_ locator: ServiceLocator, _ work: @escaping @Sendable (ServiceLocator) async throws -> Void) {}
    }
#endif

// Without the trait, these declarations let the compiler say what is missing.
#if !Inspector
    public import EssentialsLocator

    /// A web server for the page of an inspector, which needs the trait `Inspector`.
    @available(
        *, unavailable,
        message: "Enable the trait Inspector: .package(url: \"…\", from: \"…\", traits: [\"Inspector\"])"
    )
    public struct InspectorServer: Sendable {
        /// What the server listens on.
        public struct Address: Sendable {
            /// Accepts the argument of the address with the trait.
            public static func loopback(port: Int) -> Address { Address() }
            /// Accepts the argument of the address with the trait.
            public static func unixSocket(path: String) -> Address { Address() }
        }

        /// Accepts the arguments of the server with the trait.
        public init(
            _ inspector: Inspector, of locator: ServiceLocator? = nil, at address: Address = .loopback(port: 0),
            logger: Any? = nil, onRunning: @escaping @Sendable (String) -> Void
        ) {}
    }
#endif

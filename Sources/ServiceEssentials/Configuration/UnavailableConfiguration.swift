// Without the trait, this declaration lets the compiler say what is missing.
#if !(Server || Inspector)
    /// The environments that a configuration names, which need the trait `Server`.
    @available(
        *, unavailable, message: "Enable the trait Server: .package(url: \"…\", from: \"…\", traits: [\"Server\"])"
    )
    public final class ConfigurationEnvironment: Sendable {
        /// Accepts the arguments of the environment with the trait.
        public init(_ reader: Any) {}
    }
#endif

// Without the trait, these declarations let the compiler say what is missing.
#if !(Server || Inspector)
    import EssentialsRequests

    /// Records metrics, which needs the trait `Server`.
    @available(
        *, unavailable, message: "Enable the trait Server: .package(url: \"…\", from: \"…\", traits: [\"Server\"])"
    )
    public final class MetricsObserver: Sendable {
        /// Accepts the arguments of the observer with the trait.
        public init(factory: Any? = nil, maximumServers: Int = 100, maximumSeries: Int = 2_000) {}
    }

    /// Makes spans, which needs the trait `Server`.
    @available(
        *, unavailable, message: "Enable the trait Server: .package(url: \"…\", from: \"…\", traits: [\"Server\"])"
    )
    public final class TracingObserver: Sendable {
        /// Accepts the arguments of the observer with the trait.
        public init(tracer: Any? = nil, propagation: Any? = nil) {}
    }

    /// The requests that carry the context of their trace, which needs the trait `Server`.
    @available(
        *, unavailable, message: "Enable the trait Server: .package(url: \"…\", from: \"…\", traits: [\"Server\"])"
    )
    public struct TracePropagation: Sendable {}
#endif

#if Server || Inspector
    public import EssentialsHTTP
    public import EssentialsRequests
    public import Tracing

    /// Makes a span for each attempt of a request with
    /// [swift-distributed-tracing](https://github.com/apple/swift-distributed-tracing), and lets the request carry its context.
    ///
    /// ```swift
    /// configuration.observers = [TracingObserver()]
    /// ```
    ///
    /// The parent of the spans is the context of the task that makes the call, when it makes it. The names and attributes are
    /// those of OpenTelemetry's [HTTP client spans](https://opentelemetry.io/docs/specs/semconv/http/http-spans/); the article
    /// <doc:MetricsAndTraces> lists them. A span ends with the body of its response, or with the reader who drops it.
    ///
    /// Which fields a request carries is decided by the tracer, such as `traceparent` and `baggage`. They are added after the
    /// interceptors and signed with the rest. Fields that a request already has stay as they are.
    ///
    /// Without a backend it costs a request nothing: a service then does not call it.
    ///
    /// It can be used from any thread.
    public final class TracingObserver: RequestObserver {
        let tracer: any Tracer
        let propagation: TracePropagation
        private let forwarded = ForwardedCalls()

        /// Creates an observer.
        ///
        /// - Parameters:
        ///   - tracer: Makes the spans. The default is that of the process, which is read once, here. So call
        ///     `InstrumentationSystem.bootstrap` first.
        ///   - propagation: The requests that carry the context. The default are those to the environment's origin.
        public init(
            tracer: any Tracer = InstrumentationSystem.tracer, propagation: TracePropagation = .environment
        ) { (self.tracer, self.propagation) = (tracer, propagation) }

        /// Whether there is a backend.
        public var isEnabled: Bool { !(tracer is NoOpTracer) }
        /// Fields are added.
        public var addsFields: Bool { propagation != .none }

        /// Makes the spans of a call. Their parent is the context of the present task.
        public func observer(of call: RequestCall) -> any RequestObserver { TracedCall(self) }

        /// Begins the span of an attempt, and returns the fields with its context.
        public func fields(of attempt: ObservedAttempt) -> HTTPFields {
            forwarded[attempt.call.id]?.fields(of: attempt) ?? HTTPFields()
        }

        /// Receives an event of a request.
        public func observe(_ event: RequestEvent) { forwarded.observe(event) { observer(of: $0) } }
    }
#endif

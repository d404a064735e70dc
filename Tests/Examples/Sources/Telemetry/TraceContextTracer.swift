import Synchronization
package import Tracing

/// A tracer that reads and writes `traceparent`, and hands over each span when it ends, such as to a log.
package struct TraceContextTracer: Tracer {
    /// A span that has ended.
    package struct Ended: Sendable {
        package let name: String
        package let context: TraceContext
        /// The span that it was begun in; `nil` if it began the trace.
        package let parent: TraceContext?
        package let attributes: SpanAttributes
        package let status: SpanStatus?
        /// How long it took, in seconds.
        package let seconds: Double
    }

    /// A span that is running.
    package final class Running: Tracing.Span {
        private struct State {
            var name: String
            var attributes = SpanAttributes()
            var status: SpanStatus?
            var hasEnded = false
        }

        package let context: ServiceContext
        private let parent: TraceContext?
        private let begin: UInt64
        private let export: @Sendable (Ended) -> Void
        private let state: Mutex<State>

        fileprivate init(
            _ name: String, _ context: ServiceContext, at begin: UInt64, _ export: @escaping @Sendable (Ended) -> Void
        ) {
            parent = context.traceContext
            var context = context
            context.traceContext = parent?.child ?? TraceContext()
            (self.context, self.begin, self.export) = (context, begin, export)
            state = Mutex(State(name: name))
        }

        package var operationName: String {
            get { state.withLock { $0.name } }
            set { state.withLock { $0.name = newValue } }
        }
        package var attributes: SpanAttributes {
            get { state.withLock { $0.attributes } }
            set { state.withLock { $0.attributes = newValue } }
        }
        package var isRecording: Bool { state.withLock { !$0.hasEnded } }
        package func setStatus(_ status: SpanStatus) { state.withLock { $0.status = status } }
        package func addEvent(_ event: SpanEvent) {}
        package func recordError<Instant: TracerInstant>(
            _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
        ) { setStatus(SpanStatus(code: .error)) }
        package func addLink(_ link: SpanLink) {}

        package func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
            let end = instant().nanosecondsSinceEpoch
            let ended = state.withLock { state -> Ended? in
                guard !state.hasEnded, let own = context.traceContext else { return nil }
                state.hasEnded = true
                return Ended(
                    name: state.name, context: own, parent: parent, attributes: state.attributes, status: state.status,
                    seconds: Double(end > begin ? end - begin : 0) / 1e9)
            }
            if let ended { export(ended) }
        }
    }

    private let export: @Sendable (Ended) -> Void

    /// - Parameter export: Receives each span when it ends.
    package init(export: @escaping @Sendable (Ended) -> Void) { self.export = export }

    package func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> Running { Running(operationName, context(), at: instant().nanosecondsSinceEpoch, export) }

    package func activeSpan(identifiedBy context: ServiceContext) -> Running? { nil }
    package func forceFlush() {}

    package func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let own = context.traceContext else { return }
        injector.inject("\(own)", forKey: "traceparent", into: &carrier)
        if let state = context.traceState { injector.inject(state, forKey: "tracestate", into: &carrier) }
    }

    package func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let text = extractor.extract(key: "traceparent", from: carrier), let known = TraceContext(text) else {
            return
        }
        context.traceContext = known
        context.traceState = extractor.extract(key: "tracestate", from: carrier)
    }
}

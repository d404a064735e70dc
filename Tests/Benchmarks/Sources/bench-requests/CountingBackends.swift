// They need packages that are only there with `BENCHMARK_SERVER=1`.
#if BENCHMARK_SERVER
    internal import CoreMetrics
    internal import Synchronization
    internal import Tracing

    /// A backend of metrics that only adds.
    struct CountingMetrics: MetricsFactory {
        private final class Handler: CounterHandler, MeterHandler, RecorderHandler, TimerHandler,
            FloatingPointCounterHandler
        {
            private let sum = Atomic<Int64>(0)
            private func add(_ value: Int64) { sum.wrappingAdd(value, ordering: .relaxed) }

            func increment(by amount: Int64) { add(amount) }
            func increment(by amount: Double) { add(Int64(amount)) }
            func decrement(by amount: Double) { add(-Int64(amount)) }
            func set(_ value: Int64) { sum.store(value, ordering: .relaxed) }
            func set(_ value: Double) { sum.store(Int64(value), ordering: .relaxed) }
            func record(_ value: Int64) { add(value) }
            func record(_ value: Double) { add(Int64(value)) }
            func recordNanoseconds(_ duration: Int64) { add(duration) }
            func reset() { sum.store(0, ordering: .relaxed) }
        }

        func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { Handler() }
        func makeFloatingPointCounter(
            label: String, dimensions: [(String, String)]
        ) -> any FloatingPointCounterHandler { Handler() }
        func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler { Handler() }
        func makeRecorder(
            label: String, dimensions: [(String, String)], aggregate: Bool
        ) -> any RecorderHandler { Handler() }
        func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { Handler() }
        func destroyCounter(_ handler: any CounterHandler) {}
        func destroyMeter(_ handler: any MeterHandler) {}
        func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
        func destroyRecorder(_ handler: any RecorderHandler) {}
        func destroyTimer(_ handler: any TimerHandler) {}
    }

    /// A backend of traces whose spans keep their attributes, and that forgets them when they end. It writes one field.
    struct CountingTracer: Tracer {
        final class CountingSpan: Tracing.Span {
            private struct State {
                var name: String
                var attributes = SpanAttributes()
                var events = 0
            }

            let context: InstrumentationContext
            private let state: Mutex<State>

            init(_ name: String, _ context: InstrumentationContext) {
                self.context = context
                state = Mutex(State(name: name))
            }

            var operationName: String {
                get { state.withLock { $0.name } }
                set { state.withLock { $0.name = newValue } }
            }
            var attributes: SpanAttributes {
                get { state.withLock { $0.attributes } }
                set { state.withLock { $0.attributes = newValue } }
            }
            var isRecording: Bool { true }
            func setStatus(_ status: SpanStatus) {}
            func addEvent(_ event: SpanEvent) { state.withLock { $0.events += 1 } }
            func recordError<Instant: TracerInstant>(
                _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
            ) {}
            func addLink(_ link: SpanLink) {}
            func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) { _ = instant() }
        }

        func startSpan<Instant: TracerInstant>(
            _ operationName: String, context: @autoclosure () -> InstrumentationContext, ofKind kind: SpanKind,
            at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
        ) -> CountingSpan {
            _ = instant()
            return CountingSpan(operationName, context())
        }

        func activeSpan(identifiedBy context: InstrumentationContext) -> CountingSpan? { nil }
        func forceFlush() {}

        func inject<Carrier, Inject: Injector>(
            _ context: InstrumentationContext, into carrier: inout Carrier, using injector: Inject
        ) where Inject.Carrier == Carrier {
            injector.inject(
                "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", forKey: "traceparent", into: &carrier)
        }

        func extract<Carrier, Extract: Extractor>(
            _ carrier: Carrier, into context: inout InstrumentationContext, using extractor: Extract
        ) where Extract.Carrier == Carrier {}
    }
#endif

#if Server || Inspector
    public import EssentialsHTTP
    public import EssentialsRequests
    import EssentialsTools
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
        private struct Attempt {
            let span: any Tracing.Span
            let time: SpanTime
            /// Whether the transport has received it.
            var isSent = false
        }

        private let tracer: any Tracer
        private let propagation: TracePropagation
        /// The calls, with the parents of their spans.
        private let calls = RunningCalls<InstrumentationContext, Attempt>()

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

        /// Begins the span of an attempt, and returns the fields with its context.
        public func fields(of attempt: ObservedAttempt) -> HTTPFields {
            guard let begun = begin(attempt.call, attempt.request, attempt.number, at: .now) else {
                return HTTPFields()
            }
            guard propagation.includes(attempt) else { return HTTPFields() }
            var fields = HTTPFields()
            tracer.inject(begun.span.context, into: &fields, using: FieldInjector())
            return fields
        }

        /// Receives an event of a request.
        public func observe(_ event: RequestEvent) {
            if let (attempt, end) = calls.attempt(endedBy: event) { finish(attempt, end, at: event.instant) }
            switch event.kind {
            case .began: calls.begin(event.call.id, InstrumentationContext.current ?? .topLevel)
            case .sent(let request): sent(request, event)
            case .ended(let ending):
                guard let (attempt, end) = calls.end(event.call.id, ending)?.ended else { return }
                finish(attempt, end, at: event.instant)
            default: break
            }
        }

        // MARK: The beginning

        /// Begins a span in place of one that has not ended.
        private func begin(
            _ call: RequestCall, _ request: ObservedRequest, _ number: Int, at instant: ContinuousClock.Instant
        ) -> Attempt? {
            guard let parent = calls.change(call.id, { parent, _ in parent }) else { return nil }
            let time = SpanTime(instant)
            let span = tracer.startSpan(
                Self.name(of: request), context: parent, ofKind: .client, at: time.instant(at: instant),
                function: "send", file: "EssentialsRequests/HTTPDataRequestService.swift", line: 0)
            Self.describe(span, request, number)
            let attempt = Attempt(span: span, time: time)
            // An exchange that others share goes on when its first call has ended. It has no span.
            guard let before = calls.begin(attempt, of: call.id) else {
                span.end(at: time.instant(at: instant))
                return nil
            }
            // The streamed body of a response that a stage has left, or an attempt that was not sent.
            if let (former, end) = before { finish(former, end, at: instant) }
            return attempt
        }

        /// The method, or `HTTP` for one that is not known, and the template of the URL.
        private static func name(of request: ObservedRequest) -> String {
            let method = request.method.attribute == other ? "HTTP" : request.method.attribute
            return request.urlTemplate.map { "\(method) \($0)" } ?? method
        }

        private static func describe(_ span: any Tracing.Span, _ request: ObservedRequest, _ number: Int) {
            guard span.isRecording else { return }
            let (origin, method) = (request.origin, request.method.attribute)
            // A new span mostly has no attributes. With these it has room for those of its end.
            var added: [String: SpanAttribute] = Dictionary(minimumCapacity: 12)
            added["http.request.method"] = .string(method)
            if method != request.method.rawValue {
                added["http.request.method_original"] = .string(request.method.rawValue)
            }
            added["server.address"] = .string(origin.host.text)
            added["server.port"] = .int64(Int64(origin.port))
            added["url.full"] = .string(request.url)
            if let template = request.urlTemplate { added["url.template"] = .string(template) }
            if number > 1 { added["http.request.resend_count"] = .int64(Int64(number - 1)) }
            let all = SpanAttributes(added)
            span.updateAttributes { if $0.isEmpty { $0 = all } else { $0.merge(all) } }
        }

        private func sent(_ request: ObservedRequest, _ event: RequestEvent) {
            // It has begun when its fields were made. The second attempt of Digest has not.
            let isBegun = calls.change(event.call.id) { _, attempt in
                guard attempt?.isSent == false else { return false }
                attempt?.isSent = true
                return true
            }
            guard isBegun == false, begin(event.call, request, event.attempt, at: event.instant) != nil else { return }
            calls.change(event.call.id) { _, attempt in attempt?.isSent = true }
        }

        // MARK: The end

        private func finish(_ attempt: Attempt, _ end: AttemptEnd?, at instant: ContinuousClock.Instant) {
            let span = attempt.span
            if span.isRecording, let end { Self.describe(span, end, attempt.time) }
            span.end(at: attempt.time.instant(at: instant))
        }

        private static func describe(_ span: any Tracing.Span, _ end: AttemptEnd, _ time: SpanTime) {
            span.updateAttributes { attributes in
                if let status = end.status { attributes.set("http.response.status_code", value: .int64(Int64(status))) }
                if let connection = end.connection {
                    let version = AttemptEnd.version(of: connection)
                    if !version.isEmpty { attributes.set("network.protocol.version", value: .string(version)) }
                    if !connection.peerAddress.isEmpty {
                        attributes.set("network.peer.address", value: .string(connection.peerAddress))
                        attributes.set("network.peer.port", value: .int64(Int64(connection.peerPort)))
                    }
                }
                if let error = end.error { attributes.set("error.type", value: .string(error)) }
            }
            for phase in end.metrics.phases {
                span.addEvent(SpanEvent(name: phase.name, at: time.instant(after: phase.end)))
            }
            if let error = end.error {
                // The description of a status is left out, as its code says all.
                span.setStatus(SpanStatus(code: .error, message: end.status == nil ? error : nil))
            }
        }
    }

    /// Puts the fields that a tracer makes into a request.
    private struct FieldInjector: Injector {
        func inject(_ value: String, forKey key: String, into fields: inout HTTPFields) {
            guard let name = HTTPField.Name(key) else { return }
            fields[name] = value
        }
    }

    /// The wall-clock times of a span, measured on the monotonic clock from its beginning, so that a change of the system's date
    /// while it runs changes nothing.
    private struct SpanTime: Sendable {
        private let begin: ContinuousClock.Instant
        private let wall: UInt64

        init(_ instant: ContinuousClock.Instant) {
            begin = instant
            let since = (ContinuousClock.now - instant).wholeNanoseconds
            wall = DefaultTracerClock.now.nanosecondsSinceEpoch &- UInt64(max(0, since))
        }

        func instant(at instant: ContinuousClock.Instant) -> DefaultTracerClock.Timestamp {
            self.instant(after: instant - begin)
        }

        func instant(after duration: Duration) -> DefaultTracerClock.Timestamp {
            DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: wall &+ UInt64(max(0, duration.wholeNanoseconds)))
        }
    }

    extension TransportMetrics {
        /// The phases that an attempt has passed, with the times of their ends since its beginning.
        fileprivate var phases: [(name: String, end: Duration)] {
            var phases: [(String, Duration)] = []
            if queued > .zero { phases.append(("queued", queued)) }
            for (name, end) in [
                ("name resolved", nameResolved), ("connected", connected), ("secured", secured),
                ("request sent", requestSent), ("first byte", firstByte),
            ] {
                if let end { phases.append((name, queued + end)) }
            }
            return phases
        }
    }
#endif

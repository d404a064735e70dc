#if Server || Inspector
    import EssentialsHTTP
    import EssentialsRequests
    import EssentialsTools
    import Tracing

    /// Makes the spans of one call.
    final class TracedCall: RequestObserver {
        private struct Attempt: Sendable {
            let span: any Tracing.Span
            let time: SpanTime
            /// Whether the transport has received it.
            var isSent = false
        }

        private struct State {
            var running = RunningAttempt<Attempt>()
            var hasEnded = false
        }

        private let observer: TracingObserver
        /// The context of the task that has made the call.
        private let parent = InstrumentationContext.current ?? .topLevel
        private let state = Mutex(State())

        init(_ observer: TracingObserver) { self.observer = observer }

        /// Begins the span of an attempt, and returns the fields with its context.
        func fields(of attempt: ObservedAttempt) -> HTTPFields {
            guard let span = begin(attempt.request, attempt.number, at: .now),
                observer.propagation.includes(attempt)
            else { return HTTPFields() }
            var fields = HTTPFields()
            observer.tracer.inject(span.context, into: &fields, using: FieldInjector())
            return fields
        }

        /// Receives an event. The backend is called without the lock.
        func observe(_ event: RequestEvent) {
            switch event.kind {
            case .sent(let request): sent(request, event)
            case .head, .attemptFailed, .retrying, .redirected, .authorized:
                finish(state.withLock { $0.running.end(by: event) }, at: event.time)
            case .ended(let ending):
                let last = state.withLock { state in
                    state.hasEnded = true
                    return state.running.end(by: ending)
                }
                finish(last, at: event.time)
            default: break
            }
        }

        // MARK: The beginning

        /// Begins a span in place of one that has not ended.
        ///
        /// - Returns: The span; `nil` if the call has ended.
        @discardableResult
        private func begin(
            _ request: ObservedRequest, _ number: Int, at instant: SteadyInstant, isSent: Bool = false
        ) -> (any Tracing.Span)? {
            // An exchange that others share goes on when its first call has ended. It has no span.
            guard state.withLock({ !$0.hasEnded }) else { return nil }
            let time = SpanTime(instant)
            let span = observer.tracer.startSpan(
                Self.name(of: request), context: parent, ofKind: .client, at: time.instant(at: instant),
                function: "send", file: "EssentialsRequests/HTTPDataRequestService.swift", line: 0)
            Self.describe(span, request, number)
            let attempt = Attempt(span: span, time: time, isSent: isSent)
            let (former, hasEnded) = state.withLock { state in
                state.hasEnded ? (nil, true) : (state.running.begin(attempt), false)
            }
            if hasEnded { finish((attempt, nil), at: instant) }
            // The streamed body of a response that a stage has left, or an attempt that was not sent.
            finish(former, at: instant)
            return hasEnded ? nil : span
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
            let isBegun = state.withLock { state in
                guard state.running.attempt?.isSent == false else { return false }
                state.running.attempt?.isSent = true
                return true
            }
            if !isBegun { begin(request, event.attempt, at: event.time, isSent: true) }
        }

        // MARK: The end

        private func finish(_ ended: RunningAttempt<Attempt>.Ended?, at instant: SteadyInstant) {
            guard let (attempt, end) = ended else { return }
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
        private let begin: SteadyInstant
        private let wall: UInt64

        init(_ instant: SteadyInstant) {
            begin = instant
            let since = (SteadyInstant.now - instant).wholeNanoseconds
            wall = DefaultTracerClock.now.nanosecondsSinceEpoch &- UInt64(max(0, since))
        }

        func instant(at instant: SteadyInstant) -> DefaultTracerClock.Timestamp {
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

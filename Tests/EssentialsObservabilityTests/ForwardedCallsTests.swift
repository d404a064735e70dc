#if Server || Inspector
    import EssentialsHTTP
    import EssentialsTestKit
    import EssentialsTools
    import InMemoryTracing
    import MetricsTestKit
    import Testing

    @testable import EssentialsObservability
    @testable import EssentialsRequests

    /// Passes on what it is told and asked, without asking for observers of calls.
    private struct Forwarding: RequestObserver {
        let other: any RequestObserver
        var addsFields: Bool { other.addsFields }
        func fields(of attempt: ObservedAttempt) -> HTTPFields { other.fields(of: attempt) }
        func observe(_ event: RequestEvent) { other.observe(event) }
    }

    @Suite("Observers behind another observer", .timeLimit(.minutes(5)))
    struct ForwardedCallsTests {
        /// Sends requests with a retry, a redirect, a failure, a refused path, and one that is followed by nothing.
        private func send(to observer: any RequestObserver) async throws -> ObservedFixture {
            let clock = ManualClock()
            let fixture = try ObservedFixture([observer]) {
                $0.retry = .attempts(2)
                $0.clock = clock.requestClock
            }
            fixture.transport.on(.get, "/v1/a").answer(.serviceUnavailable).thenAnswer(.ok, text: "a")
            fixture.transport.on(.get, "/v1/b").answer(.found, headerFields: [.location: "/v1/c"])
            fixture.transport.on(.get, "/v1/c").answer(.ok)
            let task = Task { await fixture.send(DataRequest(.get, "a")) }
            await clock.waitForSleepers(count: 1)
            clock.advanceToNextDeadline()
            await task.value
            fixture.transport.on(.get, "/v1/d").fail(.pinMismatch)
            for path in ["b", "d", "//other/x"] { await fixture.send(DataRequest(.get, path)) }
            return fixture
        }

        @Test("Metrics are the same")
        func metrics() async throws {
            func series(_ metrics: TestMetrics) -> [String] {
                func text(_ label: String, _ dimensions: [(String, String)], _ count: Int) -> String {
                    "\(label) \(dimensions.map(\.1)) \(count)"
                }
                let timers = ["http.client.request.duration", "essentials.client.call.duration"]
                    .flatMap { label in metrics.timers(label: label).map { text(label, $0.dimensions, $0.values.count) }
                    }
                let sizes = ["http.client.request.body.size", "http.client.response.body.size"]
                    .flatMap { label in
                        metrics.recorders(label: label).map { text(label, $0.dimensions, $0.values.count) }
                    }
                let active = metrics.meters(label: "http.client.active_requests")
                    .map { text($0.label, $0.dimensions, $0.values.count) }
                let counters = ["essentials.client.retries", "essentials.client.trust.rejections"]
                    .flatMap { label in
                        metrics.counters(label: label).map { text(label, $0.dimensions, $0.values.count) }
                    }
                return (timers + sizes + active + counters).sorted()
            }
            let (direct, forwarded) = (TestMetrics(), TestMetrics())
            _ = try await send(to: MetricsObserver(factory: direct))
            _ = try await send(to: Forwarding(other: MetricsObserver(factory: forwarded)))
            #expect(series(direct) == series(forwarded) && series(direct).count > 10)
        }

        @Test("At most 10,000 calls are observed at the same time")
        func limit() {
            final class Counter: RequestObserver {
                let count = Mutex(0)
                func observe(_ event: RequestEvent) { count.withLock { $0 += 1 } }
            }
            let calls = ForwardedCalls()
            let counter = Counter()
            func tell(_ number: Int, _ kind: RequestEvent.Kind) {
                let id = RequestID(service: 1, number: UInt64(number))
                let call = RequestCall(id, .get, Shared(Redaction()))
                calls.observe(RequestEvent(call: call, attempt: 0, time: .now, kind: kind)) { _ in counter }
            }
            let beginning = RequestEvent.Kind.began(.init(.url(nil), redaction: Shared(Redaction()), environment: nil))
            let ending = RequestEvent.Kind.ended(
                .init(outcome: .completed, bytesRead: nil, metrics: nil, progress: nil))
            for number in 0...ForwardedCalls.maximum { tell(number, beginning) }
            #expect(counter.count.withLock { $0 } == ForwardedCalls.maximum)
            // The end of a call that is not observed changes nothing; that of another one makes room.
            tell(ForwardedCalls.maximum, ending)
            #expect(counter.count.withLock { $0 } == ForwardedCalls.maximum)
            tell(0, ending)
            tell(30_000, beginning)
            #expect(counter.count.withLock { $0 } == ForwardedCalls.maximum + 2)
        }

        @Test("Spans and the fields with their contexts are the same")
        func traces() async throws {
            let (direct, forwarded) = (
                InMemoryTracer(idGenerator: .incrementing), InMemoryTracer(idGenerator: .incrementing)
            )
            let one = try await send(to: TracingObserver(tracer: direct))
            let other = try await send(to: Forwarding(other: TracingObserver(tracer: forwarded)))
            func text(_ span: FinishedInMemorySpan) -> String {
                "\(span.operationName) \(span.spanID) \(span.attributes) \(span.status.map { "\($0)" } ?? "-")"
            }
            #expect(direct.finishedSpans.map(text) == forwarded.finishedSpans.map(text))
            #expect(direct.finishedSpans.count == 5 && direct.activeSpans.isEmpty && forwarded.activeSpans.isEmpty)
            let name = try #require(HTTPField.Name(InMemoryTracer.spanIDKey))
            func carried(_ fixture: ObservedFixture) -> [String?] {
                fixture.transport.requests.map { $0.headerFields[name] }
            }
            #expect(carried(one) == carried(other) && carried(one).allSatisfy { $0 != nil })
        }
    }
#endif

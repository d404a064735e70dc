#if Server || Inspector
    import Dispatch
    import EssentialsCurl
    import EssentialsHTTP
    import EssentialsTestKit
    import EssentialsTools
    import InMemoryTracing
    import Testing
    import Tracing

    @testable import EssentialsObservability
    @testable import EssentialsRequests

    @Suite("Traces", .timeLimit(.minutes(5)))
    struct TracingObserverTests {
        private let tracer = InMemoryTracer(idGenerator: .incrementing)
        private let traceID = HTTPField.Name(InMemoryTracer.traceIDKey)
        private let spanID = HTTPField.Name(InMemoryTracer.spanIDKey)

        private func fixture(
            _ propagation: TracePropagation = .environment,
            _ change: (inout HTTPDataRequestService.Configuration) -> Void = { _ in }
        ) throws -> ObservedFixture {
            try ObservedFixture([TracingObserver(tracer: tracer, propagation: propagation)], change)
        }

        private func carried(_ fixture: ObservedFixture) throws -> [String?] {
            let name = try #require(spanID)
            return fixture.transport.requests.map { $0.headerFields[name] }
        }

        @Test("An attempt is a span of the kind client below the caller's, and the request carries its context")
        func plain() async throws {
            let fixture = try fixture()
            fixture.transport.on(.get, "/v1/a").answer(.ok)
            try await tracer.withSpan("job") { _ in
                _ = try await fixture.service.send(DataRequest(.get, "a?key=s3cret"))
            }
            let spans = tracer.finishedSpans
            let span = try #require(spans.first)
            #expect(spans.map(\.operationName) == ["GET", "job"] && span.kind == .client)
            #expect(span.parentSpanID == spans[1].spanID && span.traceID == spans[1].traceID)
            #expect(try carried(fixture) == [span.spanID])
            #expect(span.attributes.get("http.request.method") == "GET")
            #expect(span.attributes.get("server.address") == "h" && span.attributes.get("server.port") == .int64(443))
            #expect(span.attributes.get("url.full") == "https://h/v1/a?…")
            #expect(span.attributes.get("http.response.status_code") == .int64(200))
            #expect(span.attributes.get("error.type") == nil && span.status == nil)
            #expect(span.attributes.get("http.request.resend_count") == nil)
            #expect(tracer.activeSpans.isEmpty)
        }

        @Test("A span is named by its template, and one that follows a redirect by its method")
        func templates() async throws {
            let fixture = try fixture()
            fixture.transport.on(.get, "/v1/users/2").answer(.found, headerFields: [.location: "/v1/archive/2"])
            fixture.transport.on(.get, "/v1/archive/2").answer(.ok)
            await fixture.send(try RequestBuilder(.get, template: "users/{id}", ["id": 2]).build())
            let spans = tracer.finishedSpans
            #expect(spans.map(\.operationName) == ["GET /users/{id}", "GET"])
            #expect(spans.map { $0.attributes.get("url.template") } == ["/users/{id}", nil])
        }

        @Test("Statuses from 400 on and failures are errors")
        func errors() async throws {
            let fixture = try fixture()
            fixture.transport.on(.get, "/v1/a").answer(.notFound).thenFail(.connection)
            await fixture.send(DataRequest(.get, "a"))
            await fixture.send(DataRequest(.get, "a"))
            let spans = tracer.finishedSpans
            #expect(spans.map { $0.attributes.get("error.type") } == ["404", "connection"])
            #expect(spans.map { $0.status?.code } == [.error, .error])
            #expect(spans.map { $0.status?.message } == [nil, "connection"])
        }

        @Test("A retry is a second span with its number, and each attempt carries its own context")
        func retries() async throws {
            let clock = ManualClock()
            let fixture = try fixture {
                $0.clock = clock.requestClock
                $0.retry = .attempts(2)
            }
            fixture.transport.on(.get, "/v1/a").answer(.serviceUnavailable).thenAnswer(.ok)
            let task = Task { await fixture.send(DataRequest(.get, "a")) }
            await clock.waitForSleepers(count: 1)
            clock.advanceToNextDeadline()
            await task.value
            let spans = tracer.finishedSpans
            #expect(spans.map { $0.attributes.get("http.request.resend_count") } == [nil, .int64(1)])
            #expect(try carried(fixture) == spans.map(\.spanID))
            #expect(Set(spans.map(\.traceID)).count == 2, "Without a caller's span each attempt begins a trace.")
        }

        @Test("A redirect to another origin and a request to one carry nothing, unless that is wanted")
        func origins() async throws {
            for (propagation, expected) in [
                (TracePropagation.environment, [true, false, false]), (.all, [true, true, true]),
                (.none, [false, false, false]),
                (.hosts(try ["*.other", "x"].map { try HostPattern($0) }), [false, true, true]),
                (.hosts([try HostPattern("h")]), [true, false, false]),
            ] {
                let fixture = try fixture(propagation)
                fixture.transport.on(.get, "/v1/a").answer(.found, headerFields: [.location: "https://a.other/b"])
                fixture.transport.on(.get, "/b", host: "a.other").answer(.ok)
                await fixture.send(DataRequest(.get, "a"))
                await fixture.send(DataRequest(.get, at: try RequestURL("https://a.other/b")))
                #expect(try carried(fixture).map { $0 != nil } == expected, "\(propagation)")
            }
            #expect(tracer.finishedSpans.count == 15 && tracer.activeSpans.isEmpty)
        }

        @Test("What is carried is signed, and a field of the request itself stays")
        func signing() async throws {
            struct Signing: RequestInterceptor {
                let name: HTTPField.Name
                func sign(_ request: inout EncodedRequest) async throws {
                    request.headerFields[.authorization] = "signed \(request.headerFields[name] ?? "nothing")"
                }
            }
            let name = try #require(spanID)
            let fixture = try fixture { $0.interceptors = [Signing(name: name)] }
            fixture.transport.on(.get, "/v1/a").answer(.ok)
            await fixture.send(DataRequest(.get, "a"))
            await fixture.send(DataRequest(.get, "a", headerFields: [name: "own"]))
            let sent = fixture.transport.requests.map { $0.headerFields[.authorization] }
            #expect(sent == ["signed \(tracer.finishedSpans[0].spanID)", "signed own"])
        }

        @Test("Two observers add a field once")
        func twice() async throws {
            let observers = [TracingObserver(tracer: tracer), TracingObserver(tracer: tracer)]
            let fixture = try ObservedFixture(observers)
            fixture.transport.on(.get, "/v1/a").answer(.ok)
            await fixture.send(DataRequest(.get, "a"))
            let name = try #require(spanID)
            let sent = fixture.transport.requests[0].headerFields.filter { $0.name == name }
            #expect(sent.count == 1 && tracer.finishedSpans.map(\.spanID).contains(sent[0].value))
        }

        @Test("The span of a stream ends with its body or with its reader", arguments: [true, false])
        func streams(isRead: Bool) async throws {
            let fixture = try fixture()
            fixture.transport.on(.get, "/v1/a").answer(pieces: ["one", "two"])
            var response: DataResponse? = try await fixture.service.send(RequestBuilder(.get, "a").streaming())
            #expect(tracer.finishedSpans.isEmpty && tracer.activeSpans.count == 1)
            if isRead { _ = try await response?.body.collect(upTo: 100) }
            response = nil
            while tracer.finishedSpans.isEmpty { await Task.yield() }
            #expect(tracer.finishedSpans[0].attributes.get("http.response.status_code") == .int64(200))
            #expect(tracer.activeSpans.isEmpty)
        }

        @Test("The context of a handler form is that of the caller")
        func handlers() async throws {
            let fixture = try fixture()
            fixture.transport.on(.get, "/v1/a").answer(.ok)
            let ended = OneShot<Void>()
            let parent = tracer.withSpan("job") { span in
                fixture.service.send(DataRequest(.get, "a"), completionQueue: .main) { _ in ended.provide(()) }
                return span.context.inMemorySpanContext?.spanID
            }
            while tracer.finishedSpans.count < 2 { await Task.yield() }
            #expect(tracer.finishedSpans.first { $0.operationName == "GET" }?.parentSpanID == parent)
        }

        @Test("A call that is cancelled or refused leaves no span open")
        func cancelled() async throws {
            let fixture = try fixture()
            fixture.transport.on(.get, "/v1/a").answer(.ok, after: .seconds(600))
            let task = Task { await fixture.send(DataRequest(.get, "a")) }
            _ = try await fixture.transport.request(number: 1)
            task.cancel()
            await task.value
            await fixture.send(DataRequest(.get, "//other/x"))
            #expect(tracer.activeSpans.isEmpty)
            #expect(tracer.finishedSpans.map { $0.attributes.get("error.type") } == ["cancelled"])
        }

        @Test("The phases of a request over a real connection are events in their order")
        func phases() async throws {
            let server = try LoopbackServer { _ in .response(body: "ok") }
            defer { server.stop() }
            let observer = TracingObserver(tracer: tracer)
            var configuration = HTTPDataRequestService.Configuration()
            configuration.observers = [observer]
            let service = HTTPDataRequestService(
                environment: try ConstantEnvironment(server.url), transport: try CurlTransport(),
                configuration: configuration)
            _ = try await service.send(DataRequest(.get, "a"))
            await service.shutdown()
            let span = try #require(tracer.finishedSpans.first)
            let names = span.events.map(\.name)
            #expect(names.contains("connected") && names.last == "first byte")
            let times = span.events.map(\.nanosecondsSinceEpoch)
            #expect(times == times.sorted() && times.allSatisfy { $0 >= span.startInstant.nanosecondsSinceEpoch })
            #expect(span.attributes.get("network.protocol.version") == "1.1")
            #expect(span.attributes.get("network.peer.address") == "127.0.0.1")
        }
    }
#endif

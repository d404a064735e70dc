#if Server || Inspector
    import EssentialsCurl
    import EssentialsHTTP
    import EssentialsTestKit
    import EssentialsTools
    import InMemoryTracing
    import MetricsTestKit
    import Testing
    import Tracing

    @testable import EssentialsObservability
    @testable import EssentialsRequests

    /// Over the engine, the body of a response that another attempt may follow is streamed, whatever the caller asked for.
    @Suite("Metrics and traces over the engine", .timeLimit(.minutes(5)))
    struct EngineObservationTests {
        private let metrics = TestMetrics()
        private let tracer = InMemoryTracer(idGenerator: .incrementing)

        private func service(
            _ server: LoopbackServer, _ change: (inout HTTPDataRequestService.Configuration) -> Void
        ) throws -> HTTPDataRequestService {
            var configuration = HTTPDataRequestService.Configuration()
            configuration.observers = [MetricsObserver(factory: metrics), TracingObserver(tracer: tracer)]
            change(&configuration)
            return HTTPDataRequestService(
                environment: try ConstantEnvironment(server.url), transport: try CurlTransport(),
                configuration: configuration)
        }

        private var errors: [String] {
            metrics.timers(label: "http.client.request.duration").flatMap { timer in
                timer.values.map { _ in timer.dimensions.first { $0.0 == "error.type" }?.1 ?? "" }
            }.sorted()
        }

        private var active: [Int64?] {
            metrics.meters(label: "http.client.active_requests").map { Int64($0.values.last ?? -1) }
        }

        @Test("An attempt with a body that is retried ends before the pause")
        func retries() async throws {
            let count = Atomic(0)
            let server = try LoopbackServer { _ in
                count.add(1, ordering: .relaxed).newValue == 1
                    ? .response(status: 503, body: "later") : .response(body: "ok")
            }
            defer { server.stop() }
            let clock = ManualClock()
            let service = try service(server) {
                $0.retry = .attempts(2)
                $0.clock = clock.requestClock
            }
            let task = Task { try await service.send(DataRequest(.get, "a")) }
            while errors.isEmpty || tracer.finishedSpans.isEmpty { await Task.yield() }
            #expect(errors == ["503"] && active == [0])
            #expect(tracer.finishedSpans.map { $0.attributes.get("error.type") } == ["503"])
            // The time for reading the body may still be measured.
            let advancing = Task {
                while !Task.isCancelled {
                    clock.advanceToNextDeadline()
                    await Task.yield()
                }
            }
            _ = try await task.value
            advancing.cancel()
            #expect(errors == ["", "503"] && active == [0] && tracer.activeSpans.isEmpty)
            await service.shutdown()
        }

        @Test("The last attempt of a call that fails by its status has that status as its error")
        func lastStatus() async throws {
            let server = try LoopbackServer { _ in .response(status: 404, body: "none") }
            defer { server.stop() }
            let service = try service(server) { $0.retry = .never }
            for request in [RequestBuilder(.get, "a"), RequestBuilder(.get, "a").streaming()] {
                _ = try? await service.send(request)
            }
            await service.shutdown()
            #expect(errors == ["404", "404"] && active == [0])
            let sizes = metrics.recorders(label: "http.client.response.body.size").flatMap(\.values)
            #expect(sizes.first == 4)
            #expect(tracer.finishedSpans.map { $0.attributes.get("error.type") } == ["404", "404"])
        }

        @Test("A redirect with a body, and a call that ends while it waits for its retry, leave nothing open")
        func redirects() async throws {
            let server = try LoopbackServer { request in
                request.path == "/a"
                    ? .response(status: 302, headers: [("Location", "/b")], body: "moved")
                    : .response(status: 503, body: "later")
            }
            defer { server.stop() }
            let clock = ManualClock()
            let service = try service(server) {
                $0.retry = .attempts(2)
                $0.clock = clock.requestClock
            }
            let task = Task { try await service.send(DataRequest(.get, "a")) }
            // The bodies are read within a time of this clock too.
            while errors.count < 2 || tracer.finishedSpans.count < 2 { await Task.yield() }
            #expect(errors == ["", "503"] && active == [0])
            task.cancel()
            _ = await task.result
            #expect(errors == ["", "503"] && tracer.activeSpans.isEmpty)
            #expect(tracer.finishedSpans.map { $0.attributes.get("error.type") } == [nil, "503"])
            await service.shutdown()
        }

        @Test("A shared exchange whose first call has ended leaves no span open, and is carried on")
        func joined() async throws {
            let gate = LoopbackGate()
            let server = try LoopbackServer { _ in
                .raw([
                    .gate(gate), .send(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)), .keepAlive,
                ])
            }
            defer { server.stop() }
            let service = try service(server) { $0.joins = true }
            let first = Task { try await service.send(DataRequest(.get, "a")) }
            while tracer.activeSpans.isEmpty { await Task.yield() }
            let second = Task { try await service.send(DataRequest(.get, "a")) }
            while service.requestsInFlight < 2 { await Task.yield() }
            for _ in 0..<100 { await Task.yield() }
            first.cancel()
            _ = await first.result
            gate.open()
            #expect(try await second.value.status == .ok)
            #expect(tracer.activeSpans.isEmpty && active.allSatisfy { $0 == 0 })
            await service.shutdown()
        }
    }
#endif

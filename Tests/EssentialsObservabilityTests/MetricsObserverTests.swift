#if Server || Inspector
    import CoreMetrics
    import EssentialsHTTP
    import EssentialsPersistence
    import EssentialsTestKit
    import EssentialsTools
    import EssentialsTransport
    import MetricsTestKit
    import Testing

    @testable import EssentialsObservability
    @testable import EssentialsRequests

    @Suite("Metrics", .timeLimit(.minutes(5)))
    struct MetricsObserverTests {
        private let metrics = TestMetrics()
        private let fixture: ObservedFixture

        private static let get = [("http.request.method", "GET")]
        private static let server = [("server.address", "h"), ("server.port", "443")]

        init() throws { fixture = try ObservedFixture([MetricsObserver(factory: metrics)]) }

        private func attributes(
            _ method: String = "GET", status: String = "", error: String = "", template: String = ""
        ) -> [(String, String)] {
            [("http.request.method", method)] + Self.server + [
                ("network.protocol.version", ""), ("http.response.status_code", status), ("error.type", error),
                ("url.template", template),
            ]
        }

        private var durations: [TestTimer] { metrics.timers(label: "http.client.request.duration") }

        @Test("A request has a duration, sizes and an outcome, and is no longer active afterwards")
        func plain() async throws {
            fixture.transport.on(.post, "/v1/a").answer(.created, text: "three")
            await fixture.send(DataRequest(.post, "a", body: .text("12")))
            let expected = attributes("POST", status: "201")
            let duration = try metrics.expectTimer("http.client.request.duration", expected)
            #expect(duration.values.count == 1 && duration.values[0] > 0)
            #expect(try metrics.expectRecorder("http.client.request.body.size", expected).values == [2])
            #expect(metrics.recorders(label: "http.client.response.body.size", dimensions: expected).count == 1)
            let active = try metrics.expectMeter(
                "http.client.active_requests", [("http.request.method", "POST")] + Self.server)
            #expect(active.values == [1, 0])
            let call = try metrics.expectTimer(
                "essentials.client.call.duration",
                [("http.request.method", "POST")] + Self.server + [("outcome", "completed")])
            #expect(call.values.count == 1 && call.values[0] >= duration.values[0])
        }

        @Test("Observers without a backend are not called, and others are")
        func withoutBackend() async throws {
            let (idle, untraced) = (MetricsObserver(), TracingObserver())
            #expect(!idle.isEnabled && !untraced.isEnabled && MetricsObserver(factory: metrics).isEnabled)
            let fixture = try ObservedFixture([idle, untraced])
            fixture.transport.on(.get, "/v1/a").answer(.ok)
            await fixture.send(DataRequest(.get, "a"))
            #expect(idle.client.attempts.count == 0)
            let mixed = try ObservedFixture([idle, MetricsObserver(factory: metrics)])
            mixed.transport.on(.get, "/v1/a").answer(.ok)
            await mixed.send(DataRequest(.get, "a"))
            #expect(durations.count == 1 && idle.client.attempts.count == 0)
        }

        @Test("Requests of one kind share a series by their template, and what follows a redirect has none")
        func templates() async throws {
            fixture.transport.on(.get, "/v1/users/1").answer(.ok)
            fixture.transport.on(.get, "/v1/users/2").answer(.found, headerFields: [.location: "/v1/archive/2"])
            fixture.transport.on(.get, "/v1/archive/2").answer(.ok)
            for id in 1...2 {
                await fixture.send(try RequestBuilder(.get, template: "users/{id}", ["id": id]).build())
            }
            let found = durations.map { "\($0.dimensions.map(\.1))" }
            #expect(
                Set(found)
                    == Set(
                        [
                            attributes(status: "200", template: "/users/{id}"),
                            attributes(status: "302", template: "/users/{id}"), attributes(status: "200"),
                        ].map { "\($0.map(\.1))" }))
        }

        @Test("A status from 400 on and a failure are errors, and a refused call has no server")
        func errors() async throws {
            fixture.transport.on(.get, "/v1/status").answer(.notFound)
            fixture.transport.on(.get, "/v1/failure").fail(.connection)
            fixture.transport.on(.get, "/v1/pin").fail(.pinMismatch)
            for path in ["status", "failure", "pin", "//other/x"] { await fixture.send(DataRequest(.get, path)) }
            let found = Set(durations.map { "\($0.dimensions.map(\.1))" })
            #expect(
                found
                    == Set(
                        [
                            attributes(status: "404", error: "404"), attributes(error: "connection"),
                            attributes(error: "pinMismatch"),
                        ].map { "\($0.map(\.1))" }))
            let calls = metrics.timers(label: "essentials.client.call.duration").map { $0.dimensions.map(\.1) }
            #expect(
                calls.contains(["GET", "h", "443", "status"]) && calls.contains(["GET", "", "", "invalidRequest"]))
            let rejected = try metrics.expectCounter(
                "essentials.client.trust.rejections", Self.server + [("reason", "pinMismatch")])
            #expect(rejected.values == [1])
        }

        @Test("Each attempt of a call that is retried has a duration")
        func retries() async throws {
            let (metrics, clock) = (metrics, ManualClock())
            let fixture = try ObservedFixture([MetricsObserver(factory: metrics)]) {
                $0.clock = clock.requestClock
                $0.retry = .attempts(3)
            }
            fixture.transport.on(.get, "/v1/a").answer(.serviceUnavailable).thenAnswer(.ok)
            let task = Task { await fixture.send(DataRequest(.get, "a")) }
            await clock.waitForSleepers(count: 1)
            clock.advanceToNextDeadline()
            await task.value
            #expect(durations.map { $0.values.count } == [1, 1])
            #expect(try metrics.expectCounter("essentials.client.retries", Self.server).values == [1])
            #expect(metrics.timers(label: "essentials.client.call.duration").map { $0.values.count } == [1])
        }

        @Test("The duration of a stream ends with its body or with its reader", arguments: [true, false])
        func streams(isRead: Bool) async throws {
            fixture.transport.on(.get, "/v1/a").answer(pieces: ["one", "two"])
            var response: DataResponse? = try await fixture.service.send(RequestBuilder(.get, "a").streaming())
            #expect(durations.isEmpty)
            if isRead { _ = try await response?.body.collect(upTo: 100) }
            response = nil
            while durations.isEmpty { await Task.yield() }
            #expect(
                try metrics.expectTimer("http.client.request.duration", attributes(status: "200")).values.count == 1)
            let outcome = metrics.timers(label: "essentials.client.call.duration").first?.dimensions.last?.1
            #expect(outcome == (isRead ? "completed" : "dropped"))
            let active = try metrics.expectMeter("http.client.active_requests", Self.get + Self.server)
            #expect(active.values == [1, 0])
        }

        @Test("What the response cache has done is counted")
        func cache() async throws {
            let metrics = metrics
            let fixture = try ObservedFixture([MetricsObserver(factory: metrics)]) { $0.cache = ResponseCache() }
            fixture.transport.on(.get, "/v1/a").answer(text: "a", headerFields: [.cacheControl: "max-age=60"])
            for _ in 0..<3 { await fixture.send(DataRequest(.get, "a")) }
            let counts = metrics.counters(label: "essentials.client.cache").map { counter in
                "\(counter.dimensions.last?.1 ?? "") \(counter.totalValue)"
            }
            #expect(Set(counts) == ["missed 1", "hit 2"])
            #expect(durations.map { $0.values.count } == [1])
        }

        @Test("Many servers make a hundred series and one for the rest")
        func limits() async throws {
            let metrics = TestMetrics()
            let transport = ScriptedTransport()
            transport.on { _ in true }.answer(.ok)
            var configuration = HTTPDataRequestService.Configuration()
            configuration.observers = [MetricsObserver(factory: metrics)]
            let service = HTTPDataRequestService.forAnyServer(over: transport, configuration: configuration)
            for number in 0..<150 { _ = try await service.send(DataRequest(.get, "https://h\(number).example/")) }
            let timers = metrics.timers(label: "http.client.request.duration")
            let servers = timers.map { $0.dimensions[1].1 }
            #expect(servers.count == 101 && servers.filter { $0 == "_OTHER" }.count == 1)
            #expect(timers.map { $0.values.count }.max() == 50)
        }

        @Test("A connection that closes has a duration")
        func connections() throws {
            let observer = MetricsObserver(factory: metrics)
            let origin = try RequestURL("https://h/").origin
            observer.observe(ConnectionEvent(.opened, origin: origin))
            observer.observe(ConnectionEvent(.closed(lifetime: .milliseconds(3), served: 2), origin: origin))
            let timer = try metrics.expectTimer("http.client.connection.duration", Self.server)
            #expect(timer.values == [3_000_000])
        }

        @Test("The connections and queues of two transports that are followed add up, and are taken back at the end")
        func following() async throws {
            let observer = MetricsObserver(factory: metrics)
            let origin = try RequestURL("https://h/").origin
            let loads = [
                SetLoad(TransportLoad(origins: [OriginLoad(origin, active: 2, idle: 1, waiting: 4)])),
                SetLoad(TransportLoad(origins: [OriginLoad(origin, active: 1)])),
            ]
            func last(_ label: String, _ attributes: [(String, String)] = []) -> Double? {
                metrics.meters(label: label, dimensions: Self.server + attributes).first?.values.last
            }
            func shown() -> [Double?] {
                [
                    last("http.client.open_connections", [("http.connection.state", "active")]),
                    last("http.client.open_connections", [("http.connection.state", "idle")]),
                    last("essentials.client.queue.length"),
                ]
            }
            let tasks = loads.map { load in
                Task { await observer.follow(every: .milliseconds(1)) { load.value.withLock { $0 } } }
            }
            while shown() != [3, 1, 4] { await Task.yield() }
            loads[0].value.withLock { $0 = TransportLoad(origins: [OriginLoad(origin, idle: 3)]) }
            while shown() != [1, 3, 0] { await Task.yield() }
            loads[0].value.withLock { $0 = TransportLoad() }
            while shown() != [1, 0, 0] { await Task.yield() }
            for task in tasks { task.cancel() }
            for task in tasks { await task.value }
            #expect(shown() == [0, 0, 0])
        }

        @Test("A thousand servers have a hundred attributes, and the first ones keep theirs")
        func servers() throws {
            let table = OriginTable(limit: 100)
            let origins = try (0..<1_000).map { try RequestURL("https://h\($0).example:8443/").origin }
            let shown = Set(origins.map { table[$0] })
            #expect(shown.count == 101 && shown.contains(.others))
            #expect(table[origins[7]].attributes.map(\.1) == ["h7.example", "8443"])
            #expect(table[origins[7]] === table[origins[7]])
        }

        @Test("An invented method is no attribute")
        func methods() async throws {
            fixture.transport.on { _ in true }.answer(.ok)
            let invented = try #require(HTTPRequest.Method("BREW"))
            await fixture.send(DataRequest(invented, "a"))
            #expect(durations.map { $0.dimensions[0].1 } == ["_OTHER"])
        }

        @Test("An expected 404 and one that is a failure have one series, and a host has one for both schemes")
        func sameAttributes() async throws {
            let observer = MetricsObserver(factory: metrics)
            let fixture = try ObservedFixture([observer])
            fixture.transport.on(.get, "/v1/a").answer(.notFound)
            await fixture.send(DataRequest(.get, "a"))
            await fixture.send(DataRequest(.get, "a", expecting: .any))
            #expect(observer.client.attempts.count == 1)
            let table = OriginTable(limit: 2)
            let (plain, secure) = (try RequestURL("http://h:8080/").origin, try RequestURL("https://h:8080/").origin)
            #expect(table[plain] === table[secure])
        }

        @Test("Templates beyond the limit share one, and other requests keep their series")
        func manyTemplates() async throws {
            let metrics = TestMetrics()
            let fixture = try ObservedFixture([MetricsObserver(factory: metrics, maximumTemplates: 2)])
            fixture.transport.on { _ in true }.answer(.ok)
            for id in 1...50 {
                var request = DataRequest(.get, "users/\(id)")
                request.urlTemplate = "/users/\(id)"
                await fixture.send(request)
            }
            await fixture.send(DataRequest(.get, "plain"))
            let found = metrics.timers(label: "http.client.request.duration").map { $0.dimensions.last?.1 ?? "" }
            #expect(found.sorted() == ["", "/users/1", "/users/2", "_OTHER"])
        }

        @Test("Series beyond the limit share one")
        func series() async throws {
            let metrics = TestMetrics()
            let fixture = try ObservedFixture([MetricsObserver(factory: metrics, maximumSeries: 2)])
            let statuses = [200, 201, 202, 203, 204]
            for status in statuses {
                fixture.transport.on(.get, "/v1/\(status)").answer(HTTPResponse.Status(code: status))
                await fixture.send(DataRequest(.get, "\(status)"))
            }
            let found = metrics.timers(label: "http.client.request.duration").map { $0.dimensions.map(\.1) }
            #expect(found.count == 3 && found.contains(["_OTHER", "_OTHER", "_OTHER", "", "", "_OTHER", "_OTHER"]))
        }

        @Test("The calls of a store are recorded with the name of its file")
        func stores() throws {
            let observer = MetricsObserver(factory: metrics)
            func tell(_ action: StoreEvent.Call.Action, _ result: Result<SaveReport, PersistenceFailure>, log: Int64?) {
                let call = StoreEvent.Call(
                    action, scope: "edit", duration: .milliseconds(2), result: result, pendingRows: 3, logBytes: log)
                observer.observe(StoreEvent(.called(call), store: "/var/lib/shop.sqlite"))
            }
            tell(.save, .success(SaveReport(inserted: 1)), log: 4096)
            tell(.read, .success(SaveReport()), log: nil)
            tell(.change, .success(SaveReport()), log: nil)
            tell(.save, .failure(PersistenceFailure(.conflict, "Rows were changed.")), log: 8192)
            let store = [("store", "shop.sqlite")]
            let saves = try metrics.expectTimer("essentials.store.save.duration", store)
            #expect(saves.values == [2_000_000, 2_000_000])
            #expect(try metrics.expectCounter("essentials.store.reads", store).totalValue == 1)
            #expect(try metrics.expectMeter("essentials.store.log.size", store).values == [4096, 8192])
            #expect(try metrics.expectRecorder("essentials.store.pending", store).values == [3, 3, 3])
        }

        @Test("Nothing is left of calls that have ended, and many at once are counted exactly")
        func many() async throws {
            fixture.transport.on { _ in true }.answer(.ok)
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        let task = Task { await fixture.send(DataRequest(.get, "a")) }
                        if number % 3 == 0 { task.cancel() }
                        await task.value
                    }
                }
            }
            let active = try metrics.expectMeter("http.client.active_requests", Self.get + Self.server)
            #expect(active.values.last == 0)
            let ended = metrics.timers(label: "essentials.client.call.duration").map { $0.values.count }
            #expect(ended.reduce(0, +) == 100)
        }
    }

    /// The load of a transport, which a test sets.
    private final class SetLoad: Sendable {
        let value: Mutex<TransportLoad>

        init(_ load: TransportLoad) { value = Mutex(load) }
    }
#endif

#if Server || Inspector
    import CoreMetrics
    import EssentialsHTTP
    import EssentialsObservability
    import InMemoryTracing
    import ServiceEssentials
    import Testing
    import Tracing

    @Suite("The article MetricsAndTraces")
    struct MetricsAndTracesTests {
        /// It is compiled and not called, because a process chooses its backends once, and other tests have their own.
        private func bootstrap(
            _ metricsBackend: any MetricsFactory, _ tracingBackend: any Tracer, _ environment: any EnvironmentService
        ) throws -> HTTPDataRequestService {
            // Article begins
            MetricsSystem.bootstrap(metricsBackend)
            InstrumentationSystem.bootstrap(tracingBackend)
            var configuration = HTTPDataRequestService.Configuration()
            configuration.observers = [MetricsObserver(), TracingObserver()]
            let requests = try HTTPDataRequestService(
                environment: environment, configuration: configuration)
            // Article ends
            return requests
        }

        @Test("The article on metrics and traces shows how connections are counted")
        func connections() async throws {
            let (metrics, environment) = (
                MetricsObserver(factory: NOOPMetricsHandler.instance), try ConstantEnvironment("http://127.0.0.1:9/")
            )
            // Article begins
            var engine = CurlTransport.Configuration()
            engine.connectionObservers = [metrics]
            let requests = try HTTPDataRequestService(
                environment: environment, engine: engine)
            let following = Task {
                await metrics.follow { await requests.transportLoad }
            }
            // Article ends
            following.cancel()
            await following.value
            await requests.shutdown()
        }

        @Test("The article on metrics and traces shows what gives a request a template")
        func templates() throws {
            let id = 7
            // Article begins
            let request = RequestBuilder(.get, template: "users/{id}", ["id": id])
            var list = DataRequest(.get, "users")
            list.urlTemplate = "/users"
            // Article ends
            #expect(try request.build().urlTemplate == "/users/{id}")
            #expect(list.urlTemplate == "/users")
            #expect(("users/\(id)" as RequestPath).urlTemplate == "/users/{}")
        }

        @Test("The article on metrics and traces shows which requests carry a trace")
        func propagation() throws {
            let tracer = InMemoryTracer()
            // Article begins
            let hosts = [try HostPattern("**.internal.example.com")]
            let traces = TracingObserver(tracer: tracer, propagation: .hosts(hosts))
            // Article ends
            #expect(traces.addsFields)
        }
    }
#endif

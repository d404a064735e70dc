#if Server || Inspector
    import Configuration
    import EssentialsHTTP
    import EssentialsRequests
    import EssentialsTestKit
    import EssentialsTools
    import EssentialsTransport
    import ServiceEssentials
    import ServiceLifecycle
    import ServiceLifecycleTestKit
    import Testing

    @Suite("Environments of a configuration", .timeLimit(.minutes(5)))
    struct ConfigurationEnvironmentTests {
        private static let values: [AbsoluteConfigKey: ConfigValue] = [
            "http.environment-names": ConfigValue(.stringArray(["production", "staging"]), isSecret: false),
            "http.environments.production.url": "https://api.example.com/v1/",
            "http.environments.staging.url": "https://staging.example.com/v1/",
        ]

        @Test("The current environment is the named one, or the first, or the only one without a name")
        func current() throws {
            let first = try ConfigurationEnvironment(ConfigReader(provider: InMemoryProvider(values: Self.values)))
            #expect(first.name == "production" && first.baseURL.description == "https://api.example.com/v1/")
            var values = Self.values
            values["http.environment"] = "staging"
            #expect(
                try ConfigurationEnvironment(ConfigReader(provider: InMemoryProvider(values: values))).name == "staging"
            )
            let only = try ConfigurationEnvironment(
                ConfigReader(
                    provider: EnvironmentVariablesProvider(environmentVariables: ["HTTP_URL": "https://h.example/"])))
            #expect(only.name.isEmpty && only.baseURL.description == "https://h.example/")
        }

        @Test("What is missing or wrong is refused at the start, for all environments")
        func refused() throws {
            func message(_ change: (inout [AbsoluteConfigKey: ConfigValue]) -> Void) throws -> String {
                var values = Self.values
                change(&values)
                return try #require(throws: RequestFailure.self) {
                    try ConfigurationEnvironment(ConfigReader(provider: InMemoryProvider(values: values)))
                }.message
            }
            #expect(try message { $0 = [:] }.contains("“http.url” is missing"))
            #expect(
                try message { $0["http.environments.staging.url"] = nil }.contains("“http.environments.staging.url”"))
            #expect(
                try message { $0["http.environments.staging.url"] = "no" }.contains("“http.environments.staging.url”"))
            let url = "https://h.example/"
            #expect(
                try message { $0 = ["http.url": .init(.string(url), isSecret: false), "http.environment": "a"] }
                    .contains("“http.environment-names” is missing"))
            for names in [["eu-1", "EU.1"], ["production", ""], ["production", "production"]] {
                #expect(
                    try message { $0["http.environment-names"] = ConfigValue(.stringArray(names), isSecret: false) }
                        .contains("“http.environment-names”"))
            }
            #expect(try message { $0["http.environment"] = "none" }.contains("“http.environment”"))
            #expect(
                try message { $0["http.environments.staging.trust-policy-file"] = "/none.json" }.contains("/none.json"))
        }

        @Test("A change of the name is followed until the group shuts down, and other changes are not")
        func follows() async throws {
            let provider = MutableInMemoryProvider(initialValues: Self.values)
            let problems = Mutex<[String]>([])
            let environment = try ConfigurationEnvironment(ConfigReader(provider: provider)) { failure in
                problems.withLock { $0.append(failure.message) }
            }
            try await testGracefulShutdown { trigger in
                try await withThrowingTaskGroup { group in
                    group.addTask { try await environment.run() }
                    var changes = environment.changes.makeAsyncIterator()
                    provider.setValue("staging", forKey: "http.environment")
                    #expect(await changes.next()?.name == "staging")
                    provider.setValue("https://other.example/", forKey: "http.environments.staging.url")
                    provider.setValue("unknown", forKey: "http.environment")
                    while problems.withLock({ $0.isEmpty }) { await Task.yield() }
                    #expect(environment.baseURL.description == "https://staging.example.com/v1/")
                    provider.setValue(nil, forKey: "http.environment")
                    provider.setValue("production", forKey: "http.environment")
                    #expect(await changes.next()?.name == "production")
                    trigger.triggerGracefulShutdown()
                    try await group.next()
                }
            }
            #expect(problems.withLock { $0.count } == 1)
            provider.setValue("staging", forKey: "http.environment")
            #expect(environment.name == "production")
        }

        @Test("A service is made of a configuration in one line")
        func service() async throws {
            let server = try LoopbackServer { _ in .response(body: "ok") }
            defer { server.stop() }
            let reader = ConfigReader(
                provider: EnvironmentVariablesProvider(environmentVariables: [
                    "HTTP_URL": server.url, "HTTP_BEARER": "token", "HTTP_CONNECTIONS_PER_ORIGIN": "1",
                ]))
            let service = try HTTPDataRequestService(environment: try ConfigurationEnvironment(reader), reader) {
                $0.userAgent = "changed/1"
            }
            _ = try await service.send(DataRequest(.get, "a"))
            #expect(server.requests.first?.allHeaders("Authorization") == ["Bearer token"])
            #expect(server.requests.first?.allHeaders("User-Agent") == ["changed/1"])
            await service.close()
            let wrong = ConfigReader(
                provider: InMemoryProvider(values: [
                    "http.connections.shards": 8, "http.connections.requests-in-flight": 4,
                ]))
            #expect(throws: RequestFailure.self) {
                try HTTPDataRequestService(environment: try ConstantEnvironment("https://h.example/"), wrong)
            }
        }
    }
#endif

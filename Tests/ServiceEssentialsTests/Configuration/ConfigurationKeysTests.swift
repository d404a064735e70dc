#if Server || Inspector
    import Configuration
    import EssentialsCurl
    import EssentialsHTTP
    import EssentialsRequests
    import EssentialsTransport
    import FoundationEssentials
    import ServiceEssentials
    import Testing

    @Suite("The article ConfigurationKeys")
    struct ConfigurationKeysTests {
        /// It is compiled and not called, because it reads the arguments of the process.
        private func service() throws -> HTTPDataRequestService {
            // Article begins
            let reader = ConfigReader(providers: [
                CommandLineArgumentsProvider(), EnvironmentVariablesProvider(),
            ])
            let environment = try ConfigurationEnvironment(reader)
            let requests = try HTTPDataRequestService(
                environment: environment, reader)
            // Article ends
            return requests
        }

        @Test("The parts of the article can be made one by one")
        func parts() throws {
            let reader = ConfigReader(provider: InMemoryProvider(values: ["http.bearer": "token"]))
            // Article begins
            let configuration = try HTTPDataRequestService.Configuration(reader)
            let engine = try CurlTransport.Configuration(reader)
            let trust = try TrustPolicy(reader)
            let options = try TransportOptions(reader)
            let credentials = try Credentials(reader)
            // Article ends
            #expect(configuration.retry == .never && engine.shards == 1 && trust == .system)
            #expect(options == TransportOptions() && credentials != nil)
        }

        @Test("The table of the article is that of the code")
        func table() throws {
            let path = "\(#filePath)".replacing(
                "Tests/ServiceEssentialsTests/Configuration/ConfigurationKeysTests.swift",
                with: "Sources/ServiceEssentials/ServiceEssentials.docc/ConfigurationKeys.md")
            let article = try String(decoding: Data(contentsOf: URL(filePath: path)), as: UTF8.self)
            let rows = article.split(separator: "\n").filter { $0.hasPrefix("| `") }.map(String.init)
            let expected = ConfigurationKey.all.map { key in
                "| `\(key.name)` | \(key.value.rawValue)\(key.isSecret ? ", secret" : "") | \(key.meaning) |"
            }
            #expect(rows == expected)
            #expect(Set(rows).count == rows.count)
        }
    }
#endif

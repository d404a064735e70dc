#if Server || Inspector
    import Configuration
    import EssentialsCurl
    import EssentialsHTTP
    import EssentialsRequests
    import EssentialsTools
    import EssentialsTransport
    import FoundationEssentials
    import Testing

    @testable import ServiceEssentials

    @Suite("Settings")
    struct SettingsTests {
        /// Where the values of a test come from.
        enum Source: String, CaseIterable, Sendable {
            case variables, arguments, file, memory

            /// A reader of values, which are texts as people write them.
            func reader(
                _ values: [String: String], _ reporter: (any AccessReporter)? = nil
            ) async throws -> ConfigReader {
                ConfigReader(provider: try await provider(values), accessReporter: reporter)
            }

            /// A value as a typed source has it.
            private static func content(_ text: String) -> ConfigContent {
                if let number = Int(text) { return .int(number) }
                return ["true", "false"].contains(text) ? .bool(text == "true") : .string(text)
            }

            /// A value of a type that only another package names.
            private static func literal<Value: ExpressibleByStringLiteral>(
                _ text: String
            ) -> Value where Value.StringLiteralType == String { Value(stringLiteral: text) }

            private func provider(_ values: [String: String]) async throws -> any ConfigProvider {
                let variables = Dictionary(
                    uniqueKeysWithValues: values.map {
                        ($0.replacing(".", with: "_").replacing("-", with: "_").uppercased(), $1)
                    })
                switch self {
                case .variables: return EnvironmentVariablesProvider(environmentVariables: variables)
                case .arguments:
                    return CommandLineArgumentsProvider(
                        arguments: ["program"] + values.flatMap { ["--" + $0.replacing(".", with: "-"), $1] })
                case .file:
                    let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).env")
                    defer { try? FileManager.default.removeItem(at: path) }
                    try Data(variables.map { "\($0)=\($1)\n" }.joined().utf8).write(to: path)
                    return try await EnvironmentVariablesProvider(environmentFilePath: Self.literal(path.path))
                case .memory:
                    return InMemoryProvider(
                        values: Dictionary(
                            uniqueKeysWithValues: values.map {
                                (AbsoluteConfigKey(stringLiteral: $0), ConfigValue(Self.content($1), isSecret: false))
                            }))
                }
            }
        }

        /// A value of each key that is right, and one that is wrong unless every value is right.
        private static let samples: [String: (right: String, wrong: String?)] = [
            "http.url": ("https://h.example/v1/", "no url"), "http.environment": ("staging", nil),
            "http.environment-names": ("staging", nil),
            "http.environments.NAME.url": ("https://h.example/", "ftp://h.example/"),
            "http.environments.NAME.trust-policy-file": ("/none.json", nil), "http.user-agent": ("a/1", nil),
            "http.bearer": ("token", "to\u{1}ken"), "http.user": ("a:b", "\u{1}:b"), "http.retry.attempts": ("3", "0"),
            "http.retry.longest-wait": ("2m", "two"), "http.retry.attempt-timeout": ("none", "never"),
            "http.limits.concurrency": ("4", "-1"), "http.limits.per-second": ("10", "many"),
            "http.limits.breaker": ("true", "perhaps"), "http.redirects.limit": ("0", "-1"),
            "http.cache.memory": ("64k", "64 apples"), "http.cache.directory": ("/proc/none", "/proc/none"),
            "http.log.commands": ("false", "nope"), "http.timeout.connect": ("300ms", "0"),
            "http.timeout.idle": ("none", "-5"), "http.timeout.first-byte": ("1.5", "1.5d"),
            "http.timeout.total": ("20s", "soon"), "http.timeout.queue": ("1h", ""),
            "http.trust.policy-file": ("/none.json", "/none.json"),
            "http.proxy.url": ("http://p.example:1/", "gopher://p"),
            "http.unix-socket": ("/run/a.sock", nil), "http.network-interface": ("eth0", nil),
            "http.connections.per-origin": ("8", "0"), "http.connections.requests-in-flight": ("100", "x"),
            "http.connections.queue-limit": ("0", "-1"), "http.connections.idle-lifetime": ("5s", "5 s"),
            "http.connections.lifetime": ("1h", "old"), "http.connections.shards": ("2", "0"),
            "store.path": ("/tmp/a.sqlite", nil), "store.durability": ("power", "eternal"),
            "store.verification": ("full", "some"), "store.readers": ("9", "0"), "store.busy-timeout": ("1s", "1x"),
            "store.read-time-limit": ("90s", "1x"),
        ]

        /// Reads everything that a configuration can describe.
        private func read(_ reader: ConfigReader) throws {
            _ = try HTTPDataRequestService.Configuration(reader)
            _ = try CurlTransport.Configuration(reader)
            _ = try TransportOptions(reader)
            _ = try Credentials(reader)
            _ = try TrustPolicy(reader)
            #if Persistence
                if reader.string(forKey: "store.path") != nil { _ = try SQLiteStore(reader, models: []) }
            #endif
        }

        @Test("Every key is read from variables, arguments and files", arguments: Source.allCases)
        func sources(source: Source) async throws {
            #expect(Set(ConfigurationKey.all.map(\.name)) == Set(Self.samples.keys))
            var values = Self.samples.mapValues(\.right)
            for name in ["http.user", "http.trust.policy-file", "http.cache.directory"] { values[name] = nil }
            let reader = try await source.reader(values)
            let service = try HTTPDataRequestService.Configuration(reader)
            #expect(service.userAgent == "a/1" && service.retry.limit == .attempts(3))
            #expect(service.retry.longestWait == .seconds(120) && service.retry.attemptTimeout == nil)
            #expect(service.limits.concurrency == 4 && service.limits.rate != nil && service.limits.breaker != nil)
            #expect(service.redirects.limit == nil && service.cache != nil && !service.logsCommands)
            let options = try TransportOptions(reader)
            #expect(options.connectTimeout == .milliseconds(300) && options.idleTimeout == nil)
            #expect(options.firstByteTimeout == .milliseconds(1_500) && options.totalTimeout == .seconds(20))
            #expect(options.queueTimeout == .seconds(3_600))
            let transport = try CurlTransport.Configuration(reader)
            #expect(transport.connectionsPerOrigin == 8 && transport.requestsInFlight == 100)
            #expect(transport.queueLimit == 0 && transport.shards == 2 && transport.idleLifetime == .seconds(5))
            #expect(transport.connectionLifetime == .seconds(3_600))
            #expect(transport.unixSocket == "/run/a.sock" && transport.networkInterface == "eth0")
            #expect(try Credentials(reader) == Credentials.bearer("token"))
            #if Persistence
                let store = try SQLiteStore(reader, models: [])
                #expect(store.path == "/tmp/a.sqlite" && store.durability == .power && store.verification == .full)
                #expect(store.readers == 9 && store.busyTimeout == .seconds(1) && store.readTimeLimit == .seconds(90))
            #endif
        }

        @Test("A wrong value fails with the key, its name at the source and a remedy", arguments: Source.allCases)
        func wrong(source: Source) async throws {
            for (name, sample) in Self.samples.sorted(by: { $0.key < $1.key }) {
                guard let wrong = sample.wrong, !name.contains("NAME"), name != "http.url" else { continue }
                #if !Persistence
                    guard !name.hasPrefix("store") else { continue }
                #endif
                let reader = try await source.reader([name: wrong, "store.path": "/tmp/a.sqlite"])
                let failure = try #require(throws: RequestFailure.self, "\(name)=\(wrong)") { try read(reader) }
                #expect(failure.message.contains("“\(name)”"), "\(failure.message)")
                #expect(failure.remedy?.isEmpty == false)
                let variable = name.replacing(".", with: "_").replacing("-", with: "_").uppercased()
                switch source {
                case .variables, .file: #expect(failure.message.contains(variable), "\(failure.message)")
                case .arguments:
                    #expect(failure.message.contains("--" + name.replacing(".", with: "-")), "\(failure.message)")
                case .memory: break
                }
                let isSecret = ConfigurationKey.all.first { $0.name == name }?.isSecret == true
                if isSecret { #expect(!"\(failure)".contains(wrong)) }
            }
        }

        /// Keeps the descriptions of what was read.
        private final class Reporter: AccessReporter {
            let lines = Mutex<[String]>([])

            func report(_ event: AccessEvent) {
                lines.withLock { $0.append("\(event.metadata.key) \(event.result)") }
            }
        }

        @Test("No report of accesses shows a secret")
        func secrets() async throws {
            let reporter = Reporter()
            let values = ["http.bearer": "s3cret", "http.proxy.url": "http://user:s3cret@p.example:1/"]
            try read(try await Source.variables.reader(values, reporter))
            let failing = ["http.user": "\u{1}s3cret", "http.bearer": "\u{1}s3cret", "http.proxy.url": "s3cret://"]
            for (name, value) in failing {
                let reader = try await Source.variables.reader([name: value], reporter)
                let failure = try #require(throws: RequestFailure.self) { try read(reader) }
                #expect(!"\(failure)".contains("s3cret"), "\(failure)")
            }
            let lines = reporter.lines.withLock { $0 }
            #expect(lines.contains { $0.contains("http.bearer") })
            #expect(!lines.contains { $0.contains("s3cret") }, "\(lines)")
        }

        @Test("Of a CGI program, the variables that its client sets are refused, and scoped ones are read")
        func client() throws {
            let variables = ["HTTP_USER_AGENT": "client/1", "SHOP_HTTP_USER_AGENT": "shop/1"]
            let reader = ConfigReader(provider: EnvironmentVariablesProvider(environmentVariables: variables))
            #expect(try SettingsReader(reader, isCGI: false).text(.userAgent) == "client/1")
            let failure = try #require(throws: RequestFailure.self) {
                try SettingsReader(reader, isCGI: true).text(.userAgent)
            }
            #expect(failure.message.contains("HTTP_USER_AGENT") && failure.remedy?.contains("scoped") == true)
            #expect(try SettingsReader(reader.scoped(to: "shop"), isCGI: true).text(.userAgent) == "shop/1")
            #expect(try SettingsReader(reader, isCGI: true).text(.unixSocket) == nil)
        }

        @Test("A user without a password, and a token beside a user, are refused without being shown")
        func credentials() async throws {
            for values in [["http.user": "s3cret"], ["http.user": "s3cret:p", "http.bearer": "t"]] {
                let reader = try await Source.variables.reader(values)
                let failure = try #require(throws: RequestFailure.self) { try Credentials(reader) }
                #expect(failure.message.contains("“http.user”") && !"\(failure)".contains("s3cret"))
            }
            let reader = try await Source.variables.reader(["http.user": "a:"])
            #expect(try Credentials(reader) == Credentials.basic(user: "a", password: ""))
        }

        @Test("Without values everything has its default, and numbers of typed sources are numbers")
        func defaults() async throws {
            let reader = try await Source.memory.reader([:])
            #expect(try TransportOptions(reader) == TransportOptions())
            #expect(try HTTPDataRequestService.Configuration(reader).settings == RequestSettings())
            #expect(try Credentials(reader) == nil)
            #expect(try TrustPolicy(reader) == .system)
            let typed = ConfigReader(
                provider: InMemoryProvider(values: [
                    "http.timeout.total": 20, "http.timeout.idle": 1.5, "http.retry.attempts": 3,
                    "http.limits.breaker": true,
                    "http.cache.memory": 4_096,
                ]))
            let options = try TransportOptions(typed)
            #expect(options.totalTimeout == .seconds(20) && options.idleTimeout == .milliseconds(1_500))
            #expect(try HTTPDataRequestService.Configuration(typed).retry.limit == .attempts(3))
            let odd = ConfigReader(provider: InMemoryProvider(values: ["http.retry.attempts": true]))
            #expect(throws: RequestFailure.self) { try HTTPDataRequestService.Configuration(odd) }
        }
    }
#endif

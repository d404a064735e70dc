#if Server || Inspector
    public import Configuration
    public import EssentialsHTTP
    public import EssentialsRequests
    import EssentialsTransport
    public import ServiceLifecycle

    /// The environments that a configuration names, of
    /// [swift-configuration](https://github.com/apple/swift-configuration).
    ///
    /// ```swift
    /// let reader = ConfigReader(providers: [
    ///     CommandLineArgumentsProvider(), EnvironmentVariablesProvider(),
    /// ])
    /// let environment = try ConfigurationEnvironment(reader)
    /// // HTTP_ENVIRONMENT_NAMES=production,staging HTTP_ENVIRONMENT=staging
    /// // HTTP_ENVIRONMENTS_PRODUCTION_URL=https://… HTTP_ENVIRONMENTS_STAGING_URL=https://…
    /// ```
    ///
    /// A configuration with one environment has the key `http.url` instead of names. All values are read and checked when the
    /// environment is created. After that only `http.environment` is followed, while ``run()`` runs: which servers there are,
    /// and which are trusted, does not change in a running program.
    ///
    /// It can be used from any thread, and is a service of a group of swift-service-lifecycle.
    public final class ConfigurationEnvironment: EnvironmentService, Service {
        private let reader: ConfigReader
        private let environments: SwitchableEnvironment
        private let onProblem: @Sendable (RequestFailure) -> Void

        /// Reads the environments.
        ///
        /// - Parameters:
        ///   - reader: The configuration.
        ///   - onProblem: Receives a failure when `http.environment` changes to the name of no environment. The current one then
        ///     stays. It runs in the task of ``run()``. The default ignores it.
        /// - Throws: `invalidRequest` if a value is missing or wrong, and the failures of trust policy files.
        public init(
            _ reader: ConfigReader, onProblem: @escaping @Sendable (RequestFailure) -> Void = { _ in }
        ) throws(RequestFailure) {
            (self.reader, self.onProblem) = (reader, onProblem)
            let settings = SettingsReader(reader)
            guard let names = try settings.list(.environmentNames), !names.isEmpty else {
                guard try settings.text(.environment) == nil else { throw settings.missing(.environmentNames) }
                guard let url = try settings.url(.url) else { throw settings.missing(.url) }
                environments = try SwitchableEnvironment([EnvironmentSnapshot(baseURL: url)])
                return
            }
            try Self.check(names, settings)
            var snapshots: [EnvironmentSnapshot] = []
            for name in names { snapshots.append(try Self.snapshot(name, reader)) }
            let selected = try settings.text(.environment)
            do throws(RequestFailure) {
                environments = try SwitchableEnvironment(snapshots, current: selected)
            } catch {
                throw settings.wrong(
                    selected == nil ? .environmentNames : .environment, error.message, error.remedy ?? "Correct it.",
                    error)
            }
        }

        /// Refuses names that no variable can have, or that have the same one.
        private static func check(_ names: [String], _ settings: SettingsReader) throws(RequestFailure) {
            var variables: Set<String> = []
            for name in names {
                let variable = name.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "_" }
                guard !name.isEmpty, variables.insert(String(variable)).inserted else {
                    throw settings.wrong(
                        .environmentNames, "“\(RequestFailure.shown(name))” is empty, or too similar to another name",
                        "Give each environment a name of its own letters and digits.")
                }
            }
        }

        private static func snapshot(
            _ name: String, _ reader: ConfigReader
        ) throws(RequestFailure) -> EnvironmentSnapshot {
            let settings = SettingsReader(reader, environment: name)
            guard let url = try settings.url(.environmentURL) else { throw settings.missing(.environmentURL) }
            let trust = try settings.value(.environmentTrust) { path throws(RequestFailure) in
                try TrustPolicy(contentsOfFile: path)
            }
            return EnvironmentSnapshot(name: name, baseURL: url, trust: trust)
        }

        /// The current environment.
        public var snapshot: EnvironmentSnapshot { environments.snapshot }
        /// The base URL of the current environment.
        public var baseURL: RequestURL { snapshot.baseURL }
        /// The name of the current environment.
        public var name: String { snapshot.name }
        /// The trust policy of the current environment.
        public var trust: TrustPolicy? { snapshot.trust }
        /// The number of switches so far; see the protocol.
        public var version: UInt64? { environments.version }
        /// A new stream of all later environments; see the protocol.
        public var changes: AsyncStream<EnvironmentSnapshot> { environments.changes }

        /// Follows `http.environment` until the task is cancelled or its group shuts down. If the key disappears, the current
        /// environment stays.
        ///
        /// - Throws: What a provider throws while it is watched.
        public func run() async throws {
            // An environment without a name is the only one.
            guard !name.isEmpty else { return try await gracefulShutdown() }
            try await cancelWhenGracefulShutdown { [self] in
                try await reader.watchString(forKey: ConfigKey(ConfigurationKey.environment.name)) { updates in
                    for await name in updates { if let name { select(name) } }
                }
            }
        }

        private func select(_ name: String) {
            guard name != self.name else { return }
            do throws(RequestFailure) { try environments.select(name) } catch { onProblem(error) }
        }
    }
#endif

/// A key that ``ConfigurationEnvironment`` and the initializers with a `ConfigReader` read.
///
/// ```swift
/// for key in ConfigurationKey.all { print(key.name, key.value, key.meaning) }
/// ```
///
/// The article <doc:ConfigurationKeys> lists them. Each has a name such as `http.retry.attempts`; a variable of the process is
/// then called `HTTP_RETRY_ATTEMPTS`, and an argument `--http-retry-attempts`.
public struct ConfigurationKey: Sendable, Hashable {
    /// The kind of a value.
    public enum Value: String, Sendable, Hashable {
        /// A text.
        case text
        /// Texts, with commas between them in variables and arguments.
        case list
        /// The path of a file or directory.
        case path
        /// An absolute URL.
        case url = "URL"
        /// A whole number.
        case number
        /// A time such as `300ms`, `5s`, `2m`, `1h`, or a number of seconds. A limit of time can also be `none`.
        case time
        /// A number of bytes such as `4096`, `64k`, `10M` or `1G`.
        case bytes
        /// `true` or `false`.
        case flag
    }

    /// The name. `NAME` in it stands for the name of an environment.
    public let name: String
    /// The kind of its value.
    public let value: Value
    /// What it sets, and its default.
    public let meaning: String
    /// Whether its value is a secret, which no report of accesses shows.
    public let isSecret: Bool

    private init(_ name: String, _ value: Value, _ meaning: String, isSecret: Bool = false) {
        (self.name, self.value, self.meaning, self.isSecret) = (name, value, meaning, isSecret)
    }

    /// All keys.
    public static let all = environments + requests + transport + store

    private static let environments = [url, environment, environmentNames, environmentURL, environmentTrust]
    private static let requests = [
        userAgent, bearer, user, retryAttempts, retryLongestWait, retryAttemptTimeout, concurrency, ratePerSecond,
        breaker,
        redirectLimit, cacheMemory, cacheDirectory, logsCommands, connectTimeout, idleTimeout, firstByteTimeout,
        totalTimeout, queueTimeout,
    ]
    private static let transport = [
        trustPolicy, proxy, unixSocket, networkInterface, connectionsPerOrigin, requestsInFlight, queueLimit,
        idleLifetime, connectionLifetime, shards,
    ]
    private static let store = [storePath, durability, verification, readers, busyTimeout, readTimeLimit]
}

// MARK: The table

extension ConfigurationKey {
    static let url = Self("http.url", .url, "The base URL, if there is only one environment without a name.")
    static let environment = Self(
        "http.environment", .text, "The name of the current environment; the default is the first one. It can change.")
    static let environmentNames = Self("http.environment-names", .list, "The names of the environments.")
    static let environmentURL = Self("http.environments.NAME.url", .url, "The base URL of an environment.")
    static let environmentTrust = Self(
        "http.environments.NAME.trust-policy-file", .path, "The trust policy of an environment's servers.")

    static let userAgent = Self("http.user-agent", .text, "The field User-Agent of requests without one.")
    static let bearer = Self(
        "http.bearer", .text, "A bearer token for the servers of the environment at the start.", isSecret: true)
    static let user = Self(
        "http.user", .text, "User name, colon and password for the same servers.", isSecret: true)
    static let retryAttempts = Self(
        "http.retry.attempts", .number, "How often a request is sent at most; the default is 1.")
    static let retryLongestWait = Self(
        "http.retry.longest-wait", .time, "The longest pause before an attempt; the default is 30s.")
    static let retryAttemptTimeout = Self(
        "http.retry.attempt-timeout", .time, "The maximum time of one attempt; the default is none.")
    static let concurrency = Self(
        "http.limits.concurrency", .number, "The requests to one origin at a time; the default is no limit.")
    static let ratePerSecond = Self(
        "http.limits.per-second", .number, "The requests to one origin in a second; the default is no limit.")
    static let breaker = Self(
        "http.limits.breaker", .flag, "Whether origins that fail get no requests for a while; the default is false.")
    static let redirectLimit = Self(
        "http.redirects.limit", .number, "How many redirects are followed; the default is 10, and 0 refuses them.")
    static let cacheMemory = Self(
        "http.cache.memory", .bytes, "The memory for stored responses; without it and a directory there is no cache.")
    static let cacheDirectory = Self("http.cache.directory", .path, "The directory for stored responses.")
    static let logsCommands = Self(
        "http.log.commands", .flag, "Whether the log at trace shows each request as a command; the default is false.")
    static let connectTimeout = Self(
        "http.timeout.connect", .time, "The maximum time for a connection; the default is 10s.")
    static let idleTimeout = Self(
        "http.timeout.idle", .time, "The maximum time without progress; the default is 60s.")
    static let firstByteTimeout = Self(
        "http.timeout.first-byte", .time, "The maximum time for the first byte of a response; the default is none.")
    static let totalTimeout = Self("http.timeout.total", .time, "The maximum time of an exchange; the default is none.")
    static let queueTimeout = Self(
        "http.timeout.queue", .time, "The maximum wait for a connection; the default is 60s.")

    static let trustPolicy = Self(
        "http.trust.policy-file", .path, "The trust policy; the default trusts what the system trusts.")
    // Not “http.proxy”, because the variable `HTTP_PROXY` has another meaning, and exceptions beside it.
    static let proxy = Self(
        "http.proxy.url", .text,
        "The URL of a proxy, “none”, or the default “environment”, which asks the variables of the process.",
        isSecret: true)
    static let unixSocket = Self("http.unix-socket", .path, "A socket to which every request goes.")
    static let networkInterface = Self(
        "http.network-interface", .text, "The interface or local address to send from.")
    static let connectionsPerOrigin = Self(
        "http.connections.per-origin", .number, "The connections to one origin; the default is 256.")
    static let requestsInFlight = Self(
        "http.connections.requests-in-flight", .number, "The requests in flight; the default is 2048.")
    static let queueLimit = Self(
        "http.connections.queue-limit", .number, "The requests that wait; the default is 10000.")
    static let idleLifetime = Self(
        "http.connections.idle-lifetime", .time, "How long an idle connection is kept; the default is 60s.")
    static let connectionLifetime = Self(
        "http.connections.lifetime", .time, "The age up to which a connection is used again; the default is none.")
    static let shards = Self("http.connections.shards", .number, "The engine threads; the default is 1.")

    static let storePath = Self("store.path", .path, "The SQLite file.")
    static let durability = Self(
        "store.durability", .text, "What a save survives: the default “process”, or “power”.")
    static let verification = Self(
        "store.verification", .text, "What is read when the store opens: the default “never”, “quick” or “full”.")
    static let readers = Self("store.readers", .number, "The concurrent reads; the default is 5.")
    static let busyTimeout = Self(
        "store.busy-timeout", .time, "How long another process that locks the file is waited for; the default is 5s.")
    static let readTimeLimit = Self(
        "store.read-time-limit", .time, "The longest time of a read; the default is 30s.")
}

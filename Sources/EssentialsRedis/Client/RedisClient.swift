public import EssentialsHTTP
public import EssentialsRequests
import EssentialsTools
public import EssentialsTransport

/// The client of a Redis or Valkey server, through which machines share what one of them has fetched.
///
/// ```swift
/// let redis = try RedisClient("rediss://cache.example", application: "films", over: CurlTransport(trust: policy))
/// try await redis.connect()
/// ```
///
/// It needs Redis 6.2 or later, or Valkey, and has two connections: one for reading and one for writing, so that a large value
/// that is written delays no reading. They are opened when they are needed, and again whenever they have ended. Commands are
/// sent as they come, without waiting for earlier replies.
///
/// What was read is kept in the memory of the process, and the server tells when it changes (`CLIENT TRACKING`). Nothing of it
/// is used once the server was silent for two seconds or the connection has ended.
///
/// A server that does not reply in time is left alone for a while. Requests then neither wait for it nor fail because of it. All functions can be called from any thread.
public final class RedisClient: Sendable {
    /// How a client behaves.
    public struct Configuration: Sendable {
        /// Gives the user and the password, whenever a connection is opened. The default is `nil`, which means those of the URL.
        ///
        /// It is waited for as long as for a connection.
        public var credentials: (@Sendable @concurrent () async throws -> RedisCredentials?)?
        /// How long a request waits for each answer of the server. The default is 2 milliseconds.
        public var timeLimit = Duration.milliseconds(2)
        /// How long opening a connection may take. The default is 5 seconds.
        public var connectTimeout = Duration.seconds(5)
        /// The memory of the process for what was read. The default is 64 MiB.
        public var memoryBytes = 64 << 20
        /// Whether other applications or users use the same keys. The default is `false`; see `ResponseStore.isShared`.
        public var isShared = false
        /// Whether a connection to another machine may be without encryption. The default is `false`.
        public var allowsPlaintext = false
        /// The name that the server shows for the connections, of the same characters as that of an application. The default is
        /// `ServiceEssentials`.
        public var name = "ServiceEssentials"
        /// The secret with which keys are hashed. Without it, a reader of the keys cannot tell which URLs and accounts they are
        /// for. Processes that share what they store need the same one. The default is `FingerprintKey.common`, which everybody knows; responses to
        /// requests with secrets of their own, such as a key of an API, are then not stored.
        public var secret = FingerprintKey.common
        /// The clock of all waits. The default is that of the system.
        public var clock = RequestClock.system

        /// Creates a configuration with the default of each property.
        public init() {}
    }

    /// What a client has done, and its present state.
    public struct Health: Sendable {
        /// Whether both connections are open.
        public var isConnected = false
        /// Why a connection is not open; `nil` if both are, or none was tried.
        public var failure: RequestFailure?
        /// Whether the server is left alone for a while, because it did not reply in time.
        public var isResting = false
        /// How often connections were opened.
        public var connections = 0
        /// How many commands have failed or were not sent.
        public var failures = 0
        /// How many changes wait until the server has them, such as invalidations.
        public var waitingChanges = 0
        /// How many values were damaged, or of another version, and were deleted.
        public var damagedValues = 0
        /// The number and the size of the values in the memory of the process.
        public var memory = (values: 0, bytes: 0)
        /// What has failed last.
        public var lastFailure: String?

        /// Adds what concerns the other connection.
        fileprivate mutating func add(_ other: Health) {
            isResting = isResting || other.isResting
            failures += other.failures
            waitingChanges += other.waitingChanges
            damagedValues += other.damagedValues
            lastFailure = other.lastFailure ?? lastFailure
        }
    }

    let configuration: Configuration
    /// What all keys begin with.
    let prefix: String
    let memory: TrackedValues
    private let readGate: RedisGate
    private let writeGate: RedisGate
    private let reads: RedisLane
    private let writes: RedisLane

    /// Creates a client. It connects when it is used first.
    ///
    /// - Parameters:
    ///   - url: `redis://host:port`, or `rediss://` for TLS under the trust policy of `links`. The default port is 6379.
    ///   - application: What the keys begin with: 1 to 64 letters, digits, dots, underscores and hyphens. Programs with the same
    ///     name share what they store.
    ///   - links: Opens the connections: a `CurlTransport`. One of its own keeps requests independent of Redis.
    ///   - configuration: How it behaves.
    /// - Throws: `invalidRequest` for a URL or a name that is malformed; `plaintextRefused` for `redis://` to another machine.
    public init(
        _ url: String, application: String, over links: any LinkOpening, configuration: Configuration = Configuration()
    ) throws(RequestFailure) {
        let address = try RedisAddress(url)
        for name in [application, configuration.name] { try Self.check(name: name) }
        guard address.origin.scheme == .https || address.origin.isLoopback || configuration.allowsPlaintext else {
            throw RedisFailures.plaintext(address.origin.host)
        }
        var target = LinkTarget(address.origin)
        target.connectTimeout = configuration.connectTimeout
        let prefix = "es:\(application):"
        let memory = TrackedValues(bytes: configuration.memoryBytes, clock: configuration.clock)
        func lane(_ name: String, isTracked: Bool, _ events: RedisConnection.Events) -> RedisLane {
            RedisLane(
                RedisLane.Settings(
                    links: links, target: target,
                    credentials: configuration.credentials ?? address.fixedCredentials,
                    name: configuration.name + name, prefix: prefix, isTracked: isTracked,
                    clock: configuration.clock), events)
        }
        let events = RedisConnection.Events(
            caughtUp: { memory.caughtUp(at: $0) }, pushed: { memory.receive($0) }, ended: { memory.removeAll() })
        (self.configuration, self.memory, self.prefix) = (configuration, memory, prefix)
        readGate = RedisGate(configuration.clock)
        writeGate = RedisGate(configuration.clock)
        reads = lane("-reads", isTracked: true, events)
        writes = lane("-writes", isTracked: false, RedisConnection.Events())
    }

    deinit { close() }

    /// The rules of a server's access control list (`ACL SETUSER`) that an application needs: its keys, and the commands that
    /// a client uses.
    ///
    /// ```
    /// ACL SETUSER films on >password resetchannels ~es:films:* -@all +hello +auth …
    /// ```
    ///
    /// - Parameter application: The name that the client is created with.
    /// - Throws: `invalidRequest` if it cannot be the name of an application.
    public static func accessRules(application: String) throws(RequestFailure) -> String {
        try check(name: application)
        return (["resetchannels", "~es:\(application):*", "-@all"] + commands.map { "+" + $0 }).joined(separator: " ")
    }

    /// The commands that clients use, as access control lists name them.
    static let commands = [
        "hello", "auth", "ping", "client|setname", "client|tracking", "get", "mget", "set", "del", "pexpire", "scan",
        "eval", "evalsha", "info",
    ]

    private static func check(name: String) throws(RequestFailure) {
        guard (1...64).contains(name.utf8.count), name.utf8.allSatisfy(isOfName) else {
            throw RedisFailures.application(name)
        }
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: false
        }
    }

    // MARK: Connections

    /// Opens both connections. A program that calls it at its start knows whether the server is there; without it, the first
    /// requests find nothing until there are connections.
    ///
    /// - Throws: Why a connection could not be opened, such as `connection`, `pinMismatch` or `authorization`. It is tried
    ///   again nevertheless. `cancelled` if the task was cancelled.
    public func connect() async throws(RequestFailure) {
        async let reading = reads.opened()
        async let writing = writes.opened()
        for failure in [await reading, await writing] { if let failure { throw failure } }
    }

    /// Ends the connections. Nothing is found or stored any more.
    public func close() {
        reads.close()
        writes.close()
        memory.removeAll()
    }

    /// How the client is.
    public var health: Health {
        var health = readGate.health
        health.add(writeGate.health)
        health.isConnected = reads.isReady && writes.isReady
        health.failure = reads.failure ?? writes.failure
        health.connections = reads.openings + writes.openings
        health.memory = memory.usage
        return health
    }

    /// The name and the version of the server; `nil` before the first connection.
    var server: String? { writes.server }

    // MARK: Commands

    /// Sends commands that write, in their order, and waits for the replies.
    ///
    /// - Returns: One result for each. A command without a reply may be executed nevertheless.
    func write(_ commands: [RedisCommand]) async -> [RedisConnection.Reply] {
        let replies = commands.map { _ in OneShot<RedisConnection.Reply>() }
        let (gate, limit) = (writeGate, configuration.timeLimit)
        for (command, result) in zip(commands, replies) {
            guard let ticket = gate.pass() else {
                result.provide(.failure(.late))
                continue
            }
            let begun = configuration.clock.now
            writes.send(command, within: limit) { reply in
                gate.end(ticket, reply, begun: begun, within: limit)
                result.provide(reply)
            }
        }
        var results: [RedisConnection.Reply] = []
        for reply in replies { results.append(await reply.value()) }
        return results
    }

    /// Sends a command that writes.
    ///
    /// - Returns: The reply; `nil` if there is none.
    func write(_ command: RedisCommand) async -> RESPValue? { try? await write([command]).first?.get() }

    /// Sends a change until the server has it, however long that takes. The keys have no value for this process meanwhile.
    ///
    /// - Parameters:
    ///   - names: The keys that are changed.
    ///   - command: Makes the command, anew for each try: one that has changed nothing visible may still be executed, and must
    ///     not undo what others do after it.
    func change(_ names: [String], _ command: () -> RedisCommand) async {
        memory.block(names)
        writeGate.changes(by: 1)
        await repeated { await writes.reply(to: command(), isPatient: true) }
        writeGate.changes(by: -1)
        memory.unblock(names)
    }

    /// Sends a command that only reads on the connection for writing, and waits for its reply, however long that takes.
    ///
    /// - Returns: The reply; `nil` if the server has refused it, or the client was closed.
    func asked(_ command: RedisCommand) async -> RESPValue? {
        var value: RESPValue?
        await repeated {
            let reply = await writes.reply(to: command, isPatient: true)
            if case .failure(.refused(let error)) = reply {
                writeGate.note(.refused(error))
                return .success(.null)
            }
            value = try? reply.get()
            return reply
        }
        return value
    }

    private func repeated(_ attempt: () async -> RedisConnection.Reply) async {
        var failures = 0
        while true {
            switch await attempt() {
            case .success, .failure(.closed): return
            case .failure(let failure):
                writeGate.note(failure)
                failures += 1
                let clock = configuration.clock
                let fraction = clock.random(in: .zero ... .seconds(1)) / .seconds(1)
                // A task that is cancelled does not give up what has to be changed.
                let wait = Self.backoff.wait(retry: failures, previous: .zero, fraction: fraction)
                await Task.detached { try? await clock.sleep(for: wait) }.value
            }
        }
    }

    /// How often the connection for writing was opened.
    var writeConnections: Int { writes.openings }
    /// Counts a value that could not be read.
    func noteDamage() { readGate.noteDamage() }

    /// The waits before a change is sent again.
    private static let backoff = Backoff.exponential(base: .milliseconds(50), cap: .seconds(5))

    // MARK: Values

    /// The values of keys that are in the memory of the process; `nil` if one is not.
    func residentValues(_ keys: [String]) -> [TrackedValues.Value]? { memory.values(keys) }

    /// The values of keys: from the memory of the process, or from the server; `nil` if the server does not give them.
    func values(_ keys: [String]) async -> [TrackedValues.Value]? {
        if let known = memory.values(keys) { return known }
        guard !memory.isBlocked(keys), let ticket = readGate.pass() else { return nil }
        let load = memory.begin(keys)
        let command = RedisCommand(["MGET"] + keys.map { .text($0) })
        return await withCheckedContinuation { continuation in
            let (gate, memory, limit) = (readGate, memory, configuration.timeLimit)
            let begun = configuration.clock.now
            reads.send(command, within: limit) { reply in
                // On the link's thread, so that what the server says afterwards comes afterwards.
                gate.end(ticket, reply, begun: begun, within: limit)
                let values = (try? reply.get()).flatMap { TrackedValues.values(in: $0, count: keys.count) }
                memory.end(load, keys, values)
                continuation.resume(returning: values)
            }
        }
    }
}

/// The user and the password of a server.
public struct RedisCredentials: Sendable, Hashable {
    /// The user of the server's ACL. The default is `default`.
    public var user: String
    /// The password.
    public var password: String

    /// Creates credentials.
    public init(user: String = "default", password: String) { (self.user, self.password) = (user, password) }
}

extension RedisCredentials: CustomStringConvertible, CustomReflectable {
    /// The user, without the password.
    public var description: String { "RedisCredentials(user: \(user))" }
    /// Without the password.
    public var customMirror: Mirror { Mirror(self, children: ["user": user]) }
}

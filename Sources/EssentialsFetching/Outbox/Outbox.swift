public import EssentialsHTTP
public import EssentialsReachability
public import EssentialsRequests
import EssentialsStorage
import EssentialsTools

/// Keeps requests on the disk until a server has accepted them.
///
/// **What it promises:** a request that was added takes effect exactly once at a server that honours the field
/// `Idempotency-Key`, and at least once at any other. It is lost neither by a failure, nor by the end of the process, nor by
/// a loss of power. It can take effect twice at a server that ignores the key, if a response is lost, or if the process is
/// killed between the response and the removal of the entry.
///
/// ```swift
/// let outbox = try Outbox(directory: "/var/lib/shop/outbox", requests: requests, environment: environment)
/// try await service.fireAndForget(DataRequest(.post, "views", parameters: ["id": 7]), through: outbox)
/// for entry in try await outbox.entries { print(entry.id, entry.path, entry.state) }
/// ```
///
/// - Requests with one ``OrderingKey`` are sent one after the other. The default is one key for each origin, because a
///   write often depends on the one before. Requests with different keys are sent at the same time.
/// - An entry that cannot be sent is tried again, with pauses. One that a server refuses, or that has become too old, is
///   given up: it stays on the disk, and is listed, until ``retry(_:)`` or ``drop(_:)`` is called. The next one follows.
/// - Entries belong to the partition and the environment in which they were added, and are sent only in these. It is the
///   same environment if it has the same name, at whatever base URL, or without a name the same base URL, and the same
///   header fields.
/// - One outbox at a time uses a directory. A second one, in this process or in another, throws an error that names the
///   process. It works as soon as the first one is closed.
/// - Credentials are not stored: the data-request service adds them when a request is sent. Everything else, such as bodies
///   and other header fields, is stored readable for the user of the process only (mode 0600). Of the header fields of the
///   environment only a hash is stored, whose key is random.
///
/// It can be used from any task. Files are read and written on threads for files. Reading begins when the outbox is
/// created.
public final class Outbox: Sendable {
    let core: OutboxCore
    private let tasks = Mutex<[Task<Void, Never>]>([])
    private let observation = Mutex<ReachabilityObservation?>(nil)

    /// Creates an outbox, which begins to send what is in the directory.
    ///
    /// - Parameters:
    ///   - directory: The directory, which is created if it does not exist. It should hold nothing else.
    ///   - requests: Sends the requests. The outbox does not shut it down.
    ///   - environment: The environment of that service.
    ///   - partition: The account whose credentials the service has; `nil` if nobody has logged in, so that nothing
    ///     is sent until ``enter(_:)`` is called.
    ///   - reachability: Says when the server is reachable again, so that entries which the network did not carry are sent
    ///     at once. The default is `nil`: their pauses pass.
    ///   - configuration: Limits and the clock.
    /// - Throws: `file` if the path is empty or contains a zero byte; `resources` if there is no thread for files.
    public convenience init(
        directory: String, requests: any DataRequestService, environment: any EnvironmentService,
        partition: EntityPartition? = .shared, reachability: (any ReachabilityService)? = nil,
        configuration: Configuration = Configuration()
    ) throws(RequestFailure) {
        try self.init(
            OutboxFiles(directory, .system), requests, environment, partition, reachability, configuration)
    }

    init(
        _ files: OutboxFiles, _ requests: any DataRequestService, _ environment: any EnvironmentService,
        _ partition: EntityPartition?, _ reachability: (any ReachabilityService)?, _ configuration: Configuration
    ) throws(RequestFailure) {
        try FileThreads.shared.start()
        core = OutboxCore(OutboxStore(files), requests, environment, partition, configuration)
        let opening = Task { [core] in
            do throws(RequestFailure) {
                try await core.open()
            } catch {
                core.log("The entries of an outbox are not sent.", error)
            }
        }
        let following = Task { [weak core, changes = environment.changes] in
            for await _ in changes { core?.adoptEnvironment() }
        }
        tasks.withLock { $0 = [opening, following] }
        guard let reachability else { return }
        let observed = reachability.observe { [weak core] status in core?.note(isReachable: status.isReachable()) }
        observation.withLock { $0 = observed }
    }

    deinit {
        endFollowing()
        core.stop()
    }

    private func endFollowing() {
        for task in tasks.withLock({ $0 }) { task.cancel() }
        observation.withLock { $0.take() }?.cancel()
    }

    // MARK: Adding and sending

    /// Waits until the directory is locked and read. Every other function that throws does so by itself. After a failure
    /// the next call tries again.
    ///
    /// - Throws: `file` if another outbox uses the directory, with the process that does, or if the directory cannot be
    ///   used; `closed` after ``close()``.
    public func open() async throws(RequestFailure) { try await core.open() }

    /// Adds a request, and returns when it is on the disk: after a loss of power it is still there.
    ///
    /// Method, path, query, parameters, header fields, body, expected statuses and the use of cookies are stored. A model is
    /// encoded now, and a file is copied. Parameters are encoded when they are sent, so that interceptors can add to them,
    /// but now if the request or the caller has codecs. Options, retries, codecs and the error model are not stored; see
    /// ``Configuration/options``.
    ///
    /// - Parameters:
    ///   - request: A request, a builder or a definition.
    ///   - key: The key of its order; `nil` means one key for each origin.
    ///   - codecs: Encode the body. The default is `nil`, which means those of the outbox's data-request service.
    /// - Returns: The identifier of the entry.
    /// - Throws: `queueFull` if the outbox is full; `notReplayable` for a stream; `invalidRequest` for a request with
    ///   credentials, a trust policy, a redirect policy or an environment of its own, for one that must not be sent twice,
    ///   and if no partition is entered; `encoding`; `file`, such as on a full disk; `closed` after ``close()``.
    @discardableResult
    public func add(
        _ request: some BuildableRequest, in key: OrderingKey? = nil, codecs: CodecRegistry? = nil
    ) async throws(RequestFailure) -> OutboxEntry.ID {
        let request: DataRequest = try request.build()
        return try await core.add(request, request.codecs ?? codecs, in: key)
    }

    /// Sends what can be sent now, and returns when there is nothing more to send at the moment.
    ///
    /// Pauses after failures are skipped, except those that a server has requested. The call ends early if the calling task
    /// is cancelled; sending continues.
    ///
    /// - Throws: The failures of ``open()``.
    public func drain() async throws(RequestFailure) {
        try await core.open()
        core.adoptEnvironment()
        core.changing { $0.drain($1) }
        await core.idle()
    }

    /// Sends no further requests until ``resume()``. Requests can be added.
    public func pause() {
        core.changing { machine, _ in
            machine.pause()
            return []
        }
    }

    /// Sends requests again.
    public func resume() { core.changing { $0.resume($1) } }

    // MARK: Partitions

    /// Enters the partition of another account. Entries of other partitions wait.
    ///
    /// ```swift
    /// await outbox.leave()
    /// requests.setAuthorization(try .bearer(token))
    /// await outbox.enter(EntityPartition(account.id))
    /// ```
    ///
    /// Call ``leave()`` before the credentials change, because a request gets those that the data-request service has when
    /// it is sent. Credentials that replace others, and a logout, stop the entries of every partition but `shared` in any
    /// case, until the partition is entered again, and adding fails as `authorization` until then.
    public func enter(_ partition: EntityPartition) async { await core.enter(partition) }

    /// Leaves the partition: nothing is sent and nothing can be added until ``enter(_:)``. Requests that are being sent are
    /// cancelled, and the function returns when they have ended. They are sent again in their partition.
    public func leave() async { await core.enter(nil) }

    /// The partition that was entered; `nil` after ``leave()``.
    public var partition: EntityPartition? { core.reading { $0.partition } }

    // MARK: Entries

    /// All entries in the order in which they were added, also those of other partitions and those that were given up.
    ///
    /// - Throws: The failures of ``open()``.
    public var entries: [OutboxEntry] {
        get async throws(RequestFailure) {
            try await core.open()
            return core.reading { $0.entries }
        }
    }

    /// The entries of a directory, also while another outbox or process uses it. Nothing is changed.
    ///
    /// Every entry that was not given up is shown as waiting. Damaged files are left out.
    ///
    /// - Throws: `file` if the directory cannot be read; `resources` if there is no thread for files.
    public static func entries(in directory: String) async throws(RequestFailure) -> [OutboxEntry] {
        try FileThreads.shared.start()
        return try await OutboxStore(OutboxFiles(directory, .system)).list()
    }

    /// The entries that are there, then each one that changes.
    ///
    /// ```swift
    /// for await entry in outbox.statuses {
    ///     if case .failed(let failure) = entry.state { show(failure.message) }
    /// }
    /// ```
    ///
    /// A reader that is slower than the changes finds only the newest state of each entry. At most 10,000 entries wait for
    /// a reader; beyond that the oldest changes are dropped, and ``entries`` has the whole truth. There can be any number
    /// of readers. The sequence ends when the calling task is cancelled or the outbox is closed.
    public var statuses: ValueSequence<OutboxEntry> {
        ValueSequence { [core] in
            let mailbox = OutboxMailbox()
            let number = core.add(mailbox)
            return .init(holding: Place { core.removeReader(number) }) { await mailbox.next() }
        }
    }

    /// Sends an entry again that was given up. It gets its old place in its order, and its age counts from now until the
    /// process ends.
    ///
    /// - Returns: Whether there is such an entry.
    /// - Throws: The failures of ``open()``; `file` if its files cannot be changed.
    @discardableResult
    public func retry(_ id: OutboxEntry.ID) async throws(RequestFailure) -> Bool {
        try await core.open()
        return try await core.retry(id)
    }

    /// Drops an entry, whoever it belongs to.
    ///
    /// - Returns: Whether it was dropped. One that is being sent is not, because the server may have accepted it.
    /// - Throws: The failures of ``open()``; `file` if its files cannot be removed.
    @discardableResult
    public func drop(_ id: OutboxEntry.ID) async throws(RequestFailure) -> Bool {
        try await core.open()
        return try await core.drop(id)
    }

    /// The names of files that are damaged or of another version. They are not sent, and stop no other entry.
    ///
    /// - Throws: The failures of ``open()``.
    public var damagedFiles: [String] {
        get async throws(RequestFailure) {
            try await core.open()
            return await core.store.damaged
        }
    }

    /// Removes the files of ``damagedFiles``.
    ///
    /// - Throws: The failures of ``open()``; `file` if one cannot be removed.
    public func removeDamagedFiles() async throws(RequestFailure) {
        try await core.open()
        try await core.store.removeDamaged()
    }

    // MARK: End

    /// Ends the outbox: requests that are being sent are waited for, for at most ``Configuration/closeDeadline``, and then
    /// cancelled. All entries stay on the disk. Sequences end, and later calls fail as `closed`.
    public func close() async {
        endFollowing()
        await core.close()
    }
}

extension Outbox: OwnedPendingWrites {
    /// Tries the entries that the network did not carry, and waits until none of them can be sent any more, or for a time.
    public func sendPending(waitingAtMost deadline: Duration) async { await core.sendPending(waitingAtMost: deadline) }

    package var sender: any PendingWrites { core }
}

extension OutboxCore: PendingWrites {}

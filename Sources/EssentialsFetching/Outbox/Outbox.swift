public import EssentialsHTTP
public import EssentialsReachability
public import EssentialsRequests
import EssentialsStorage
import EssentialsTools

/// Keeps requests on the disk until a server has accepted them.
///
/// **The promise:** a request that was added takes effect exactly once at a server that honours the field
/// `Idempotency-Key`, and at least once at any other. A failure, the end of the process, or a loss of power does not
/// lose it. At a server that ignores the key it can take effect twice, if a response is lost, or if the process is
/// killed between the response and the removal of the entry.
///
/// ```swift
/// let outbox = try Outbox(directory: "/var/lib/shop/outbox", requests: requests, environment: environment)
/// try await service.fireAndForget(DataRequest(.post, "views", parameters: ["id": 7]), through: outbox)
/// for entry in try await outbox.entries { print(entry.id, entry.path, entry.state) }
/// ```
///
/// - Requests with the same ``OrderingKey`` are sent one after another. The default is one key for each origin, because
///   a write often depends on the previous one. Requests with different keys are sent at the same time.
/// - An entry that cannot be sent is tried again, with pauses. An entry that a server refuses, or that has become too
///   old, is given up. It stays on the disk and is listed until ``retry(_:)`` or ``drop(_:)`` is called, while the next
///   entry follows.
/// - Entries belong to the partition and the environment in which they were added, and are sent only in these. An
///   environment is the same if it has the same name, regardless of its base URL, or if it has no name and the same
///   base URL. Its header fields must be the same too.
/// - One outbox at a time uses a directory. A second one, in this process or in another, throws an error that names the
///   process. It works as soon as the first one is closed.
/// - Credentials are not stored: the data-request service adds them when a request is sent. Everything else, such as
///   bodies and other header fields, is stored so that only the user of the process can read it (mode 0600). The header
///   fields of the environment are stored only as a hash with a random key.
///
/// It can be used from any task. Files are read and written on threads for files. Reading begins when the outbox is
/// created.
public final class Outbox: Sendable {
    let core: OutboxCore
    private let tasks = Mutex<[Task<Void, Never>]>([])
    private let observation = Mutex<ReachabilityObservation?>(nil)

    /// Creates an outbox, which begins to send the entries of the directory.
    ///
    /// - Parameters:
    ///   - directory: The directory, which is created if it does not exist. It should hold nothing else.
    ///   - requests: Sends the requests. The outbox does not shut it down.
    ///   - environment: The environment of that service.
    ///   - partition: The account whose credentials the service has; `nil` if no account is logged in, so that nothing
    ///     is sent until ``enter(_:)`` is called.
    ///   - reachability: Reports when the server is reachable again, so that entries that failed because of the network
    ///     are sent at once. With the default `nil`, their pauses have to pass.
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

    /// Waits until the directory is locked and read. Every other function that throws does this itself. After a failure
    /// the next call tries again.
    ///
    /// - Throws: `file` if the directory cannot be used, or if another outbox uses it, whose process the failure names;
    ///   `closed` after ``close()``.
    public func open() async throws(RequestFailure) { try await core.open() }

    /// Adds a request, and returns when it is on the disk, where it survives a loss of power.
    ///
    /// Method, path, query, parameters, header fields, body, expected statuses and the use of cookies are stored. A
    /// model is encoded now, and a file is copied. Parameters are encoded when they are sent, so that interceptors can
    /// add to them. If the request or the caller has codecs, the parameters are encoded now. Options, retries, codecs
    /// and the error model are not stored; see ``Configuration/options``.
    ///
    /// - Parameters:
    ///   - request: A request, a builder or a definition.
    ///   - key: The ordering key; `nil` means one key for each origin.
    ///   - codecs: Encode the body. The default `nil` means those of the outbox's data-request service.
    /// - Returns: The identifier of the entry.
    /// - Throws: `queueFull` if the outbox is full; `notReplayable` for a stream; `invalidRequest` for a request with
    ///   credentials, a trust policy, a redirect policy or an environment of its own, for a request that must not be
    ///   sent twice, and if no partition is entered; `encoding`; `file`, such as on a full disk; `closed` after
    ///   ``close()``.
    @discardableResult
    public func add(
        _ request: some BuildableRequest, in key: OrderingKey? = nil, codecs: CodecRegistry? = nil
    ) async throws(RequestFailure) -> OutboxEntry.ID {
        let request: DataRequest = try request.build()
        return try await core.add(request, request.codecs ?? codecs, in: key)
    }

    /// Sends the entries that can be sent now, and returns when there is nothing more to send at the moment.
    ///
    /// Pauses after failures are skipped, except those that a server has requested. The call ends early if the calling
    /// task is cancelled; sending continues.
    ///
    /// - Throws: The failures of ``open()``.
    public func drain() async throws(RequestFailure) {
        try await core.open()
        core.adoptEnvironment()
        core.changing { $0.drain($1) }
        await core.idle()
    }

    /// Sends no further requests until ``resume()``. Requests can still be added.
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
    /// Call ``leave()`` before the credentials change, because a request gets the credentials that the data-request
    /// service has when it is sent. A logout, or credentials that replace others, stop the entries of every partition
    /// except `shared` until the partition is entered again. Until then, adding fails as `authorization`.
    public func enter(_ partition: EntityPartition) async { await core.enter(partition) }

    /// Leaves the partition: nothing is sent and nothing can be added until ``enter(_:)``. Requests that are being sent
    /// are cancelled, and the function returns when they have ended. They are sent again in their partition.
    public func leave() async { await core.enter(nil) }

    /// The partition that was entered; `nil` after ``leave()``.
    public var partition: EntityPartition? { core.reading { $0.partition } }

    // MARK: Entries

    /// All entries in the order in which they were added, including those of other partitions and those that were given
    /// up.
    ///
    /// - Throws: The failures of ``open()``.
    public var entries: [OutboxEntry] {
        get async throws(RequestFailure) {
            try await core.open()
            return core.reading { $0.entries }
        }
    }

    /// The entries of a directory, even while another outbox or process uses it. Nothing is changed.
    ///
    /// Every entry that was not given up is shown as waiting. Damaged files are left out.
    ///
    /// - Throws: `file` if the directory cannot be read; `resources` if there is no thread for files.
    public static func entries(in directory: String) async throws(RequestFailure) -> [OutboxEntry] {
        try FileThreads.shared.start()
        return try await OutboxStore(OutboxFiles(directory, .system)).list()
    }

    /// The existing entries, then each entry that changes.
    ///
    /// ```swift
    /// for await entry in outbox.statuses {
    ///     if case .failed(let failure) = entry.state { show(failure.message) }
    /// }
    /// ```
    ///
    /// A reader that is slower than the changes finds only the newest state of each entry. At most 10,000 entries wait
    /// for a reader. Beyond that the oldest changes are dropped, and only ``entries`` is complete. There can be any
    /// number of readers. The sequence ends when the calling task is cancelled or the outbox is closed.
    public var statuses: ValueSequence<OutboxEntry> {
        ValueSequence { [core] in
            let mailbox = OutboxMailbox()
            let number = core.add(mailbox)
            return .init(holding: Place { core.removeReader(number) }) { await mailbox.next() }
        }
    }

    /// Sends an entry that was given up again. It gets its old place in its order. Until the process ends, its age
    /// counts from now.
    ///
    /// - Returns: Whether there is such an entry.
    /// - Throws: The failures of ``open()``; `file` if its files cannot be changed.
    @discardableResult
    public func retry(_ id: OutboxEntry.ID) async throws(RequestFailure) -> Bool {
        try await core.open()
        return try await core.retry(id)
    }

    /// Drops an entry of any partition.
    ///
    /// - Returns: Whether it was dropped. An entry that is being sent is not dropped, because the server may have
    ///   accepted it.
    /// - Throws: The failures of ``open()``; `file` if its files cannot be removed.
    @discardableResult
    public func drop(_ id: OutboxEntry.ID) async throws(RequestFailure) -> Bool {
        try await core.open()
        return try await core.drop(id)
    }

    /// The names of files that are damaged or of another version. They are not sent, and do not hold back other
    /// entries.
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

    /// Sends no further entries, and waits for those that are being sent, for at most a time. Entries that are added later
    /// stay on the disk.
    ///
    /// - Parameter grace: The maximum time. It is over at once if the calling task is cancelled.
    public func finish(within grace: Duration) async { await core.finish(within: grace) }

    /// Ends the outbox. It waits for requests that are being sent, for at most ``Configuration/closeDeadline``, and
    /// then cancels them. All entries stay on the disk. Sequences end, and later calls fail as `closed`.
    public func close() async {
        endFollowing()
        await core.close()
    }
}

extension Outbox: OwnedPendingWrites {
    /// Tries the entries that failed because of the network, and waits until no entry can be sent, for at most the
    /// deadline.
    public func sendPending(waitingAtMost deadline: Duration) async { await core.sendPending(waitingAtMost: deadline) }

    package var sender: any PendingWrites { core }
}

extension OutboxCore: PendingWrites {}

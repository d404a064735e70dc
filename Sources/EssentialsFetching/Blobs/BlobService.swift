public import EssentialsHTTP
public import EssentialsRequests
import EssentialsStorage
import EssentialsTools
public import FoundationEssentials

/// Stores bytes by URL, such as pictures and films, in a directory up to a size.
///
/// ```swift
/// let blobs = try BlobService(requests: requests, environment: environment, directory: "/var/cache/shop/blobs")
/// let picture = try await blobs.value(at: coin.pictureURL) { try Picture(decoding: $0) }
/// let film = try await blobs.file(at: "films/7.mp4")
/// ```
///
/// A blob is a streamed GET through a response cache of its own, which decides as for every other response what is fresh, what
/// is validated and what is not stored ([RFC 9111](https://www.rfc-editor.org/rfc/rfc9111)). If the server gives no lifetime, a
/// blob is fresh for ``BlobService/Configuration/expiration``. After the statuses 401, 403, 404, 410 and 451 it is not used any
/// more. A server that redirects is asked each time, and what it leads to is stored as the blob of the first URL.
///
/// Calls for the same URL at the same time share one transfer. It has the priority of the most urgent call, and is cancelled
/// with the last one. A blob of more than 1 MiB is written to the disk while it is received, and is never in memory as a whole
/// unless ``bytes(at:upTo:priority:)`` is called for it. To make room for new blobs, those that were used longest ago are
/// removed, and before them those that were used only once. The blobs are never larger than the limit of the directory, even
/// while transfers run: a blob for which there is no room fails as `tooLarge`. A failure of the disk is not thrown for a blob of
/// up to 1 MiB, but counted in ``problems``.
///
/// An address is a whole URL, or a path below the environment's base URL in which every character stands for itself. A whole URL
/// outside the base URL is loaded without credentials, and only from the listed hosts; see `ForeignHost`. Over a test double of
/// the data-request service, which has no cache, each blob is loaded each time.
///
/// Several processes can use one directory. The incomplete files of a killed process are never used, and a blob that another
/// process has removed is loaded again. Each process counts all files at its first use, and again whenever it has stored a
/// quarter of the size, so several processes together can exceed the size for a while. `essentials cache` lists a directory.
///
/// Each MiB of a blob has a checksum, which is checked whenever its bytes are read. A damaged blob is loaded again. Reads
/// through the path or the descriptor of a ``BlobFile`` are not checked.
public final class BlobService: Sendable {
    /// Settings of a blob service.
    public struct Configuration: Sendable {
        /// The maximum size of the files of all blobs on the disk. The default is 256 MiB. A blob that is larger, or that
        /// leaves less than 4 KiB for its head, fails as `tooLarge`. Files that record removals take a few MiB more.
        public var maximumBytes = 256 << 20
        /// How long a blob is fresh if the server gives no lifetime. The default is one hour.
        public var expiration = Duration.seconds(3_600)
        /// Whether a blob that is no longer fresh is used if its server cannot be reached, or responds with 500, 502,
        /// 503 or 504. The default is `true`. `no-cache` and `must-revalidate` forbid it, and `stale-if-error` of the
        /// server says for how long.
        public var servesStale = true
        /// The hosts outside the base URL from which blobs may be loaded. By default there are none.
        public var foreignHosts: [ForeignHost] = []
        /// The account whose blobs are stored, until ``BlobService/enter(_:)`` is called. Blobs of other accounts are
        /// not found. The default is `shared`.
        public var partition = EntityPartition.shared
        /// Whether responses with `no-store` are stored too. The default is `false`: they are loaded each time. Responses to
        /// requests with credentials are stored only in a partition that names the account.
        public var storesSensitiveResponses = false
        /// The fingerprint of the transport's trust policy; see
        /// `HTTPResourceService.Configuration.trustFingerprint`. The default is empty.
        public var trustFingerprint = ""

        /// Creates the default settings.
        public init() {}
    }

    /// The contents of the directory, as far as this process knows.
    public struct Usage: Sendable, Hashable {
        /// The number of blobs.
        public let count: Int
        /// The size of their files on the disk.
        public let bytes: Int
        /// The number of damaged blobs that were removed.
        public let damaged: Int
    }

    /// The maximum number of bytes that functions read into memory without another limit: 64 MiB.
    public static let defaultMaximum = 64 << 20

    private let environment: any EnvironmentService
    private let requests: any DataRequestService
    private let configuration: Configuration
    let files: BlobFiles
    private let receiver: BlobReceiver
    let transfers = BlobTransfers()
    /// The current place.
    private let adopted: Mutex<BlobPlace>
    private let closed = Atomic(false)

    /// Opens the directory. This blocks for a few system calls.
    ///
    /// - Parameters:
    ///   - requests: Sends the requests below the base URL. The service does not shut it down.
    ///   - environment: The environment of that service. Paths are joined below its base URL.
    ///   - open: Loads blobs of the foreign hosts that the configuration lists. The default is `nil`, which means
    ///     `requests`. Either service sends such requests without anything of its own, such as credentials.
    ///   - directory: The directory for blobs, which need not exist and should hold nothing else. It is created for the
    ///     user of the process only (mode 0700), and so are the files (0600).
    ///   - configuration: Sizes, times and hosts.
    /// - Throws: `file` if the directory cannot be created or used, is a symbolic link, belongs to another user or can be
    ///   written by others; `resources` if there is no thread for files, or if too many stores have joined the
    ///   data-request service (see `PrivateStateRegistry`).
    public convenience init(
        requests: any DataRequestService, environment: any EnvironmentService, open: (any DataRequestService)? = nil,
        directory: String, configuration: Configuration = Configuration()
    ) throws(RequestFailure) {
        try self.init(requests, environment, open, FileDirectory(directory), configuration)
    }

    init(
        _ requests: any DataRequestService, _ environment: any EnvironmentService, _ open: (any DataRequestService)?,
        _ directory: FileDirectory, _ configuration: Configuration
    ) throws(RequestFailure) {
        (self.environment, self.requests, self.configuration) = (environment, requests, configuration)
        files = try BlobFiles(directory, configuration)
        receiver = BlobReceiver(
            files: files, access: ForeignAccess(requests: requests, open: open, hosts: configuration.foreignHosts),
            configuration: configuration)
        adopted = Mutex(Self.place(environment, configuration.partition, configuration, files, requests))
        try requests.privateStateRegistry?.add(privateStateStore: self)
    }

    // MARK: Blobs

    /// The bytes of a blob.
    ///
    /// Small blobs that the system has in memory are read on the calling thread. All other work on files happens on threads
    /// for files.
    ///
    /// - Parameters:
    ///   - address: A whole URL, or a path below the base URL.
    ///   - maximum: The maximum number of bytes. The default is 64 MiB.
    ///   - priority: The priority of the request. The default is `nil`, which means `normal`.
    /// - Throws: `tooLarge` if there are more bytes, `hostRefused` if the host is not listed, `file` if a blob of more
    ///   than 1 MiB cannot be written, `cancelled` if the task is cancelled, `closed` after ``close()``, and every
    ///   failure of the request.
    public func bytes(
        at address: String, upTo maximum: Int = BlobService.defaultMaximum, priority: RequestPriority? = nil
    ) async throws(RequestFailure) -> Data {
        try await found(BlobTarget(address), upTo: maximum, priority, nil).bytes
    }

    /// The bytes of a blob, with their type.
    func found(
        _ target: BlobTarget, upTo maximum: Int, _ priority: RequestPriority?, _ reader: (any BlobReader)?
    ) async throws(RequestFailure) -> (bytes: Data, type: String?, key: BlobKey) {
        let place = adopt()
        var (content, key) = try await content(target, in: place, maximum: Int64(maximum), priority, reader)
        do throws(RequestFailure) {
            return (try await content.data(upTo: maximum), content.mediaType, key)
        } catch {
            guard error.reason == .file else { throw error }
        }
        // It was damaged. No byte of it was returned, so it is loaded again once.
        (content, key) = try await self.content(target, in: place, maximum: Int64(maximum), priority, reader)
        return (try await content.data(upTo: maximum), content.mediaType, key)
    }

    /// A value that is made from the bytes of a blob.
    ///
    /// - Parameters:
    ///   - address: A whole URL, or a path below the base URL.
    ///   - maximum: The maximum number of bytes. The default is 64 MiB.
    ///   - priority: The priority of the request. The default is `nil`, which means `normal`.
    ///   - decode: Makes the value. It is called on the global executor, for each call of this function.
    /// - Throws: The failures of ``bytes(at:upTo:priority:)``; `decoding` with the error of the closure. A response
    ///   that no caller can decode is not stored, and the stored blob stays. If a stored blob cannot be decoded, the
    ///   next use contacts the server to find out whether it has other bytes.
    public func value<Value: Sendable>(
        at address: String, upTo maximum: Int = BlobService.defaultMaximum, priority: RequestPriority? = nil,
        decode: @escaping @Sendable (Data) throws -> Value
    ) async throws(RequestFailure) -> Value {
        try await value(BlobTarget(address), upTo: maximum, priority) { data, _ in try decode(data) }
    }

    func value<Value: Sendable>(
        _ target: BlobTarget, upTo maximum: Int, _ priority: RequestPriority?,
        _ decode: @escaping @Sendable (Data, String?) throws -> Value
    ) async throws(RequestFailure) -> Value {
        let reading = BlobReading(upTo: maximum, decode)
        let (bytes, type, key) = try await found(target, upTo: maximum, priority, reading)
        let received = reading.takeFirst()
        let result = if let received { received } else { await reading.result(of: bytes, type) }
        switch result {
        case .success(let value): return value
        case .failure(let error):
            // Bytes that were received now were not stored.
            if received == nil { receiver.doubts.add(key) }
            throw RequestFailure(
                .decoding, "The blob could not be decoded.", remedy: "Check what the server sends at this URL.",
                underlying: error)
        }
    }

    /// A blob as an open file, regardless of its size. Its bytes are not read into memory if it is larger than 1 MiB.
    ///
    /// - Parameters:
    ///   - address: A whole URL, or a path below the base URL.
    ///   - priority: The priority of the request. The default is `nil`, which means `normal`.
    /// - Throws: The failures of ``bytes(at:upTo:priority:)``; `file` if the blob cannot be written.
    public func file(at address: String, priority: RequestPriority? = nil) async throws(RequestFailure) -> BlobFile {
        try await file(BlobTarget(address), priority)
    }

    func file(_ target: BlobTarget, _ priority: RequestPriority?) async throws(RequestFailure) -> BlobFile {
        let (content, _) = try await content(target, in: adopt(), maximum: .max, priority, nil)
        switch (content.bytes, content.stored) {
        case (.file(let file), _), (.memory, let file?): return BlobFile(file, mediaType: content.mediaType)
        case (.memory(let bytes), nil):
            return BlobFile(try await files.file(of: bytes), mediaType: content.mediaType)
        }
    }

    /// The codecs of the data-request service.
    var codecs: CodecRegistry { requests.codecs }

    // MARK: Accounts

    /// Enters another account, or enters the current one again after other credentials were set.
    ///
    /// ```swift
    /// requests.setAuthorization(try .bearer(token))
    /// blobs.enter(EntityPartition(account.id))
    /// ```
    ///
    /// Blobs of other accounts are not found, and stay in the directory. After a logout, or after credentials that
    /// replace others, blobs of an account are neither read nor stored until this call, so they are loaded each time.
    public func enter(_ account: EntityPartition) {
        requests.sender?.enter(account)
        _ = adopted.withLock { enter(account, &$0) }
    }

    // MARK: Removing

    /// Removes what is stored for a URL, for all accounts. A running transfer of it is not stored. A failure of the disk is
    /// counted in ``problems``, and the blob is not read any more.
    ///
    /// - Throws: `invalidRequest` if the address is invalid.
    public func remove(at address: String) async throws(RequestFailure) { try await remove(BlobTarget(address)) }

    func remove(_ target: BlobTarget) async throws(RequestFailure) {
        let place = adopt()
        let address = try target.url(in: place)
        let url = try place.base.requestURL(of: address)
        transfers.separate { $0.address.text == address.text }
        await files.cache.remove(url)
        // One can have begun before the removal did.
        transfers.separate { $0.address.text == address.text }
    }

    /// Removes all blobs, of all accounts and also those of other processes. Running transfers are not stored. A failure is
    /// counted in ``problems``. What could not be removed is not read any more, not even after a restart, and each later
    /// removal tries again.
    public func removeAll() async {
        transfers.separate { _ in true }
        await files.cache.removeAll()
        transfers.separate { _ in true }
    }

    /// The contents of the directory.
    public var usage: Usage {
        get async {
            let usage = await files.cache.usage
            return Usage(count: usage.count, bytes: usage.bytes, damaged: usage.damaged)
        }
    }

    /// The problems of the directory since the service was created that callers did not receive.
    public var problems: CacheProblems { files.cache.problems }

    /// Cancels all transfers, and writes what the next process reads when it starts. Later calls fail as `closed`; the files
    /// stay.
    public func close() async {
        closed.store(true, ordering: .releasing)
        transfers.close()
        await files.cache.close()
    }

    // MARK: Finding

    /// The current place. In a new place, the same texts may stand for other blobs.
    private func adopt() -> BlobPlace {
        adopted.withLock { adopted in
            if adopted.isCurrent(in: environment) { return adopted }
            return enter(adopted.account, &adopted)
        }
    }

    private func enter(_ account: EntityPartition, _ adopted: inout BlobPlace) -> BlobPlace {
        adopted = Self.place(environment, account, configuration, files, requests)
        return adopted
    }

    private static func place(
        _ environment: any EnvironmentService, _ account: EntityPartition, _ configuration: Configuration,
        _ files: BlobFiles, _ requests: any DataRequestService
    ) -> BlobPlace {
        let binding = CacheBinding(to: files.cache, account: account, trust: configuration.trustFingerprint)
        return BlobPlace(environment, account, binding, requests)
    }

    /// The content of a blob from the shared transfer.
    private func content(
        _ target: BlobTarget, in place: BlobPlace, maximum: Int64, _ priority: RequestPriority?,
        _ reader: (any BlobReader)?
    ) async throws(RequestFailure) -> (content: BlobContent, key: BlobKey) {
        guard !closed.load(ordering: .acquiring) else { throw Self.closedFailure }
        guard !Task.isCancelled else { throw BlobTransfer.cancelled }
        let url = try target.url(in: place)
        let operation = requests.sender?.operation(in: place.identity, begun: .now)
        let key = BlobKey(url: url.text, fields: target.fields)
        let asker = BlobAsker(priority: priority ?? .normal, maximum: maximum, reader: reader)
        let joined = transfers.join(key, asker, target.request, in: place, operation) {
            let variant = target.variant(key: files.cache.fingerprintKey)
            return BlobTransfer(key, url, target.request, place, variant, operation, asker)
        }
        guard let (transfer, isNew) = joined else { throw Self.closedFailure }
        if isNew {
            transfer.start { [receiver, transfers] in
                defer { transfers.remove(transfer) }
                do throws(RequestFailure) {
                    return .success(try await receiver.content(for: transfer))
                } catch {
                    return .failure(error)
                }
            }
        }
        return (try await transfer.outcome().get(), key)
    }

    private static let closedFailure = RequestFailure(
        .closed, "The blob service was closed.", remedy: "Create another one.")
}

/// Clearing the authorization of the data-request service removes the blobs that were loaded with it.
extension BlobService: PrivateStateStore {
    /// Removes the blobs of an origin that belong to the current account. Blobs of other accounts stay. The service joins
    /// the data-request service by itself, which calls this function in `clearAuthorization()`. A failure is counted in
    /// ``problems``. Blobs that could not be removed are not read any more, not even after a restart.
    public func clearPrivateState(of origin: Origin) async {
        let account = adopted.withLock { $0.account }
        let isConcerned = { (transfer: BlobTransfer) in (try? transfer.url)?.origin == origin }
        transfers.separate(where: isConcerned)
        await files.cache.remove(of: origin, account)
        transfers.separate(where: isConcerned)
    }
}

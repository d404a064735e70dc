import EssentialsHTTP
import EssentialsRequests
import EssentialsTools
import FoundationEssentials

/// One caller that waits for a transfer.
struct BlobAsker: Sendable {
    let priority: RequestPriority
    /// The maximum number of bytes.
    let maximum: Int64
    /// Makes a value from the bytes; `nil` if the caller needs the bytes themselves.
    var reader: (any BlobReader)?
}

/// One look-up of a blob, on disk and then at its server, with the waiting callers.
final class BlobTransfer: Sendable {
    typealias Outcome = Result<BlobContent, RequestFailure>

    private struct State {
        var askers: Int
        /// The largest maximum of the callers.
        var maximum: Int64
        /// The readers of the callers that need a value.
        var readers: [any BlobReader]
        var task: Task<Void, Never>?
        /// Whether the outcome is known, or the last caller has left.
        var hasEnded = false
        /// Whether the blob is larger than every caller allowed.
        var isTooLarge = false
    }

    let key: BlobKey
    let address: ResourceURL
    /// The request of a definition, without its URL; `nil` for an address.
    let template: DataRequest?
    let place: BlobPlace
    /// The header fields of a definition that distinguish the blob, as they are stored; empty without them.
    let variant: String
    /// The operation with the credentials; `nil` for a test double of the data-request service.
    let operation: OperationContext?
    /// The priority of the most urgent caller.
    let priority: RaisablePriority
    private let completion = OneShot<Outcome>()
    private let state: Mutex<State>

    /// Creates a transfer with one caller.
    init(
        _ key: BlobKey, _ address: ResourceURL, _ template: DataRequest?, _ place: BlobPlace, _ variant: String,
        _ operation: OperationContext?, _ asker: BlobAsker
    ) {
        self.variant = variant
        (self.key, self.address, self.place, self.operation) = (key, address, place, operation)
        self.template = template
        priority = RaisablePriority(asker.priority)
        state = Mutex(State(askers: 1, maximum: asker.maximum, readers: asker.reader.map { [$0] } ?? []))
    }

    /// The URL of the blob.
    var url: RequestURL {
        get throws(RequestFailure) { try place.base.requestURL(of: address) }
    }
    /// The number of waiting callers.
    var askers: Int { state.withLock { $0.askers } }

    /// Checks that a caller allows a number of bytes. If none does, no further caller joins: it may allow more, and would get a
    /// failure that is not about its maximum.
    ///
    /// - Throws: `tooLarge`.
    func check(_ size: Int64) throws(RequestFailure) {
        let exceeded = state.withLock { state -> Int64? in
            guard size > state.maximum else { return nil }
            state.isTooLarge = true
            return state.maximum
        }
        if let exceeded { throw BlobContent.tooLarge(nil, exceeded) }
    }

    /// Whether the bytes are the blob: a caller that needs a value can read them, or no caller needs a value.
    ///
    /// - Parameters:
    ///   - size: The number of bytes.
    ///   - type: The value of the `Content-Type` field.
    ///   - bytes: Returns all bytes. It is called only if a reader needs them.
    func isReadable(
        size: Int64, _ type: String?, _ bytes: () async throws(RequestFailure) -> Data
    ) async throws(RequestFailure) -> Bool {
        let readers = state.withLock { $0.readers.filter { $0.maximum >= size } }
        guard !readers.isEmpty else { return true }
        let bytes = try await bytes()
        for reader in readers where await reader.reads(bytes, type) { return true }
        return false
    }

    /// Whether the blobs of the account may be read and stored. After the credentials were cleared or replaced, this is not
    /// allowed until the account is entered again.
    var mayUseStore: Bool { operation.map { !$0.hasEnded && $0.admits(place.account) } ?? true }

    /// Adds a caller.
    ///
    /// - Returns: `false` if it is too late, if the blob is known to be too large, if the environment, the account or the
    ///   credentials have changed since, or if its request would be sent in another way.
    func join(
        _ asker: BlobAsker, _ template: DataRequest?, in place: BlobPlace, _ operation: OperationContext?
    ) -> Bool {
        guard place === self.place, operation?.scope === self.operation?.scope, isLike(template) else { return false }
        let joins = state.withLock { state in
            guard !state.hasEnded, !state.isTooLarge else { return false }
            state.askers += 1
            state.maximum = max(state.maximum, asker.maximum)
            if let reader = asker.reader { state.readers.append(reader) }
            return true
        }
        if joins { priority.raise(to: asker.priority) }
        return joins
    }

    /// Whether another definition has the same trust, and uses what is stored in the same way.
    private func isLike(_ other: DataRequest?) -> Bool {
        template?.options.trust == other?.options.trust
            && template?.options.decompresses ?? true == other?.options.decompresses ?? true
            && template?.settings.cachePolicy == other?.settings.cachePolicy
            && template?.headerFields[.cacheControl] == other?.headerFields[.cacheControl]
    }

    /// Removes a caller, and ends the transfer with the last one.
    func leave() {
        let task = state.withLock { state -> Task<Void, Never>? in
            state.askers -= 1
            guard state.askers == 0, !state.hasEnded else { return nil }
            state.hasEnded = true
            return state.task.take()
        }
        task?.cancel()
    }

    /// Starts the work. It begins on the caller's thread.
    func start(_ work: @escaping @Sendable () async -> Outcome) {
        let task = Task.immediate { [self] in end(await work()) }
        let isOver = state.withLock { state in
            if !state.hasEnded { state.task = task }
            return state.hasEnded
        }
        if isOver { task.cancel() }
    }

    private func end(_ outcome: Outcome) {
        let task = state.withLock { state in
            state.hasEnded = true
            return state.task.take()
        }
        completion.provide(outcome)
        _ = consume task
    }

    /// Ends the transfer for all callers.
    func cancel() {
        let task = state.withLock { state in
            state.hasEnded = true
            return state.task.take()
        }
        completion.provide(.failure(Self.cancelled))
        task?.cancel()
    }

    /// Waits for the outcome. The caller leaves if its task is cancelled.
    nonisolated(nonsending) func outcome() async -> Outcome {
        guard let outcome = await completion.valueUnlessCancelled() else {
            leave()
            return .failure(Self.cancelled)
        }
        return outcome
    }

    static let cancelled = RequestFailure(.cancelled, "The request for the blob was cancelled.")
}

/// What callers that share a transfer have asked for in the same place.
struct BlobKey: Sendable, Hashable {
    let url: String
    /// The header fields of a definition that distinguish its blob from others at the URL; empty without them.
    let fields: String
}

/// The running transfers.
final class BlobTransfers: Sendable {
    private struct State {
        var running: [BlobKey: BlobTransfer] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())

    /// The running transfers.
    var running: [BlobTransfer] { state.withLock { Array($0.running.values) } }

    /// Joins the running transfer of a blob, or adds a new one.
    ///
    /// - Returns: The transfer, and whether it is new; `nil` after ``close()``.
    func join(
        _ key: BlobKey, _ asker: BlobAsker, _ template: DataRequest?, in place: BlobPlace,
        _ operation: OperationContext?, make: () -> BlobTransfer
    ) -> (transfer: BlobTransfer, isNew: Bool)? {
        state.withLock { state in
            guard !state.isClosed else { return nil }
            if let running = state.running[key], running.join(asker, template, in: place, operation) {
                return (running, false)
            }
            let transfer = make()
            state.running[key] = transfer
            return (transfer, true)
        }
    }

    /// Forgets a transfer that has ended.
    func remove(_ transfer: BlobTransfer) {
        let removed = state.withLock { state in
            state.running[transfer.key] === transfer ? state.running.removeValue(forKey: transfer.key) : nil
        }
        _ = consume removed
    }

    /// Lets later callers start new transfers instead of joining running ones.
    func separate(where isSeparate: (BlobTransfer) -> Bool) {
        let separate = state.withLock { state in
            let separate = state.running.values.filter(isSeparate)
            for transfer in separate { state.running[transfer.key] = nil }
            return separate
        }
        _ = consume separate
    }

    /// Cancels all transfers, and prevents new ones.
    func close() {
        let running = state.withLock { state in
            state.isClosed = true
            defer { state.running = [:] }
            return state.running
        }
        for transfer in running.values { transfer.cancel() }
    }
}

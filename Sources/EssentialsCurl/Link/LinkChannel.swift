import CEssentials
import EssentialsTools
import EssentialsTransport

/// One link on its way through the engine: what its users want, and what the engine's thread knows.
final class LinkChannel: @unchecked Sendable {
    // Argument for @unchecked: `prepared`, `receiver`, `engine` and `maximumUnsent` are constant, and `shared` is locked.
    // Everything under "Engine thread" is used by that thread alone.
    let prepared: PreparedRequest
    /// Provided once connecting has ended, with `nil` if the link is open.
    let outcome = OneShot<RequestFailure?>()
    weak let receiver: (any LinkReceiver)?
    private weak let engine: Engine?
    private let maximumUnsent: Int
    private let shared = Mutex(Shared())

    /// What the users of the link want.
    struct Shared {
        var waiting: [UInt8] = []
        /// The number of bytes that wait here or with the engine's thread.
        var unsent = 0
        /// Whether a message for the engine's thread waits in its mailbox.
        var isPosted = false
        var isPaused = false
        var isClosed = false
        var isCancelled = false
        /// Whether sending has failed.
        var takesNothing = false
        /// Whether the receiver waits to hear that everything was sent.
        var owesSentAll = false

        /// Returns whether a message must be posted.
        mutating func post() -> Bool {
            defer { isPosted = true }
            return !isPosted
        }
    }

    // MARK: Engine thread

    /// The link of libcurl, from the beginning of its connection until its end.
    var link: OpaquePointer?
    var isOpen = false
    var isPaused = false
    /// Whether the peer has refused to take more bytes for now.
    private(set) var isBlocked = false
    /// libcurl's code of a failure to send; `nil` while the peer takes bytes.
    private(set) var sendFailure: Int32?
    private var writing: [UInt8] = []
    private var written = 0

    init(prepared: PreparedRequest, receiver: any LinkReceiver, maximumUnsent: Int, engine: Engine) {
        self.prepared = prepared
        self.receiver = receiver
        self.maximumUnsent = maximumUnsent
        self.engine = engine
    }

    // MARK: Any thread

    var isClosed: Bool { shared.withLock { $0.isClosed } }
    /// Whether the task that opens the link was cancelled before it was open.
    var isCancelled: Bool { shared.withLock { $0.isCancelled } }
    var unsentBytes: Int { shared.withLock { $0.unsent } }

    func send(_ bytes: [UInt8]) -> Bool {
        let wakes = shared.withLock { state -> Bool? in
            guard !state.isClosed, !state.takesNothing else { return nil }
            guard state.unsent == 0 || bytes.count <= maximumUnsent - state.unsent else {
                state.owesSentAll = true
                return nil
            }
            guard !bytes.isEmpty else { return false }
            // A large array is taken as it is. Small ones are collected in memory that is kept.
            if state.waiting.isEmpty, bytes.count > Self.collected {
                state.waiting = bytes
            } else {
                state.waiting += bytes
            }
            state.unsent += bytes.count
            return state.post()
        }
        if wakes == true { engine?.post(.link(self)) }
        return wakes != nil
    }

    func pause() { shared.withLock { $0.isPaused = true } }

    func resume() {
        let wakes = shared.withLock { state in
            defer { state.isPaused = false }
            return state.isPaused && !state.isClosed && state.post()
        }
        if wakes { engine?.post(.link(self)) }
    }

    func close() { if markClosed() { engine?.post(.link(self)) } }

    /// Ends an opening because its task was cancelled.
    func cancel() {
        shared.withLock { $0.isCancelled = true }
        close()
    }

    /// Ends an opening that the engine has not begun.
    func fail(_ failure: RequestFailure) {
        markClosed()
        outcome.provide(failure)
    }

    /// Refuses all further bytes, and drops those that wait. Returns `false` if the link was closed before.
    @discardableResult
    func markClosed() -> Bool {
        shared.withLock { state in
            guard !state.isClosed else { return false }
            state.isClosed = true
            state.waiting = []
            state.unsent = 0
            return true
        }
    }

    /// Arrays up to this size are copied, and memory up to this size is kept.
    private static let collected = 64 << 10

    // MARK: Engine thread

    /// What the users of the link want now.
    var wish: (isPaused: Bool, isClosed: Bool) { shared.withLock { ($0.isPaused, $0.isClosed) } }

    /// Reads a message of the link: what its users want now.
    func take() -> (isPaused: Bool, isClosed: Bool) {
        shared.withLock { state in
            state.isPosted = false
            return (state.isPaused, state.isClosed)
        }
    }

    /// Sends what waits, until the peer takes no more or others have their turn.
    ///
    /// - Returns: libcurl's code if the link has failed, and whether the receiver is to hear that everything was sent.
    func flush(_ link: OpaquePointer) -> (failure: Int32?, hasSentAll: Bool) {
        guard sendFailure == nil else { return (nil, false) }
        var sent = 0
        var code: Int32 = 0
        var result = CE_LINK_MOVED
        while result == CE_LINK_MOVED, sent < Self.turn, written < writing.count || fetch() {
            var count = 0
            result = writing.withUnsafeBytes { bytes in
                guard let first = bytes.baseAddress else { return CE_LINK_MOVED }
                let size = min(bytes.count - written, Self.turn)
                return ce_link_send(link, first + written, size, &count, &code)
            }
            written += count
            sent += count
        }
        isBlocked = result == CE_LINK_BLOCKED
        let (sum, isBlocked) = (sent, isBlocked)
        let hasSentAll = shared.withLock { state in
            guard !state.isClosed else { return false }
            state.unsent -= sum
            state.owesSentAll = state.owesSentAll || isBlocked
            guard state.owesSentAll, state.unsent == 0 else { return false }
            state.owesSentAll = false
            return true
        }
        return (result == CE_LINK_FAILED ? code : nil, hasSentAll)
    }

    /// Takes the next bytes over. Returns `false` if none wait.
    private func fetch() -> Bool {
        writing.removeAll(keepingCapacity: writing.capacity <= Self.collected)
        written = 0
        shared.withLock { swap(&$0.waiting, &writing) }
        return !writing.isEmpty
    }

    /// Sends nothing more, because the peer takes nothing. What it has sent before is still read.
    func stopSending(_ code: Int32) {
        sendFailure = code
        isBlocked = false
        writing = []
        written = 0
        shared.withLock { state in
            state.waiting = []
            state.unsent = 0
            state.takesNothing = true
        }
    }

    /// The number of bytes after which the thread serves others first.
    static let turn = 256 << 10

    /// Whether bytes wait to be sent.
    var hasUnsent: Bool { written < writing.count || unsentBytes > 0 }
}

/// A link as its user holds it.
final class CurlLink: ByteLink {
    private let channel: LinkChannel
    /// Keeps the engine's thread alive.
    private let owner: EngineOwner

    init(_ channel: LinkChannel, owner: EngineOwner) {
        self.channel = channel
        self.owner = owner
    }

    deinit { channel.close() }

    var unsentBytes: Int { channel.unsentBytes }

    @discardableResult
    func send(_ bytes: consuming [UInt8]) -> Bool { channel.send(bytes) }
    func pause() { channel.pause() }
    func resume() { channel.resume() }
    func close() { channel.close() }
}

public import EssentialsHTTP
public import FoundationEssentials

/// Keeps the responses of a ``ResponseCache``: in memory, in files, or on another machine. The cache decides what is stored
/// and served; a store only keeps it.
///
/// ```swift
/// let cache = ResponseCache(store: SharedStore(client))
/// ```
///
/// Nothing throws. A store that fails finds nothing and stores nothing, and counts it in ``problems``. The cache waits at
/// most the ``timeLimit`` for each call, and then goes on as if nothing were stored. It leaves a store that often fails alone
/// for a while.
///
/// What a store has to keep is checked by the suite `ResponseStoreConformance` of the test kit. Above all, what was asked for
/// before an invalidation is never stored after it: see ``ResponseTicket``.
///
/// All functions are called from any thread, several at the same time.
public protocol ResponseStore: Sendable {
    /// The size of the largest body that is stored, in bytes.
    var largest: Int { get }

    /// Whether other applications or users use the store too. The cache then keeps to the rules for shared caches (RFC 9111,
    /// 3.5): for example it stores no response that is `private`. The default is `false`.
    var isShared: Bool { get }

    /// Whether processes that find nothing under a key agree on which of them asks the server, with ``lease(_:for:)``, if the
    /// request joins equal ones. The others wait 100 milliseconds for its response. It costs one more call for each such
    /// request. The default is `false`.
    var leasesMisses: Bool { get }

    /// How long a request waits for each call. The default is 100 milliseconds.
    var timeLimit: Duration { get }

    /// The clock that measures the ``timeLimit``. The default is that of the system.
    var clock: RequestClock { get }

    /// The key with which secrets of requests are hashed in ``ResponseKey/partition``. A store that outlives the process needs
    /// a key that does. The default is ``FingerprintKey/process``.
    var fingerprintKey: FingerprintKey { get }

    /// The stored responses of a key, and what a later change has to prove.
    func lookup(_ key: ResponseKey) async -> ResponseLookup

    /// The ticket for a response that is asked for now, after a lookup without one. The default is that of a new lookup.
    func ticket(for key: ResponseKey) async -> ResponseTicket?

    /// The body of a stored response; `nil` if it is gone, also if its key was invalidated since the lookup.
    func body(of response: StoredResponse, for key: ResponseKey) async -> StoredContent?

    /// Stores a response as a whole or not at all, in place of the one that it replaces; see
    /// ``StoredResponse/replaces(_:)``.
    ///
    /// It is not stored if the key was invalidated or its partition was cleared after the ticket was given, or if what it
    /// replaces has a greater ``StoredResponse/load``.
    ///
    /// - Parameters:
    ///   - response: The head of the response, with its numbers.
    ///   - body: The whole body.
    ///   - key: The key under which it is found.
    ///   - replaced: The ``StoredResponse/bodyNumber`` of another response that it replaces.
    ///   - ticket: What the store gave before the request was sent.
    /// - Returns: Whether it is stored.
    func store(
        _ response: StoredResponse, _ body: Data, for key: ResponseKey, replacing replaced: UInt64?,
        since ticket: ResponseTicket
    ) async -> Bool

    /// Begins to store a response whose body comes in pieces, as ``store(_:_:for:replacing:since:)`` does; `nil` if it is not
    /// stored. The default keeps the pieces in memory.
    func begin(
        _ response: StoredResponse, for key: ResponseKey, replacing replaced: UInt64?, since ticket: ResponseTicket
    ) async -> (any ResponseWriter)?

    /// Replaces the head of the stored response with the same ``StoredResponse/bodyNumber``, but never its body, under the
    /// same conditions. Another response that the new head replaces is removed.
    ///
    /// - Returns: `false` if another request was quicker, or the response is gone.
    func freshen(_ response: StoredResponse, for key: ResponseKey, since ticket: ResponseTicket) async -> Bool

    /// The right to ask the server about a key, so that not all processes with one store do; `nil` if another process has it.
    /// It ends by itself. The default always grants it, because within a process the cache sees to that.
    ///
    /// - Parameters:
    ///   - key: The key of the response.
    ///   - duration: How long the right holds, at most a minute.
    func lease(_ key: ResponseKey, for duration: Duration) async -> ResponseLease?

    /// Removes the responses of a URL in all partitions. What was asked for before is not stored any more, also if nothing was
    /// stored.
    func invalidate(_ url: RequestURL) async

    /// Removes the responses of a scope, and those of keys that have ended (``ResponseKey/hasEnded``). None is found when the
    /// call returns, and what was asked for before is not stored any more.
    func remove(in scope: ResponseScope) async

    /// What is stored now, as far as the store knows.
    func usage() async -> ResponseCache.Usage

    /// What has gone wrong. The default is nothing.
    var problems: CacheProblems { get }

    /// Writes what waits, and may release files and connections, which later calls open again.
    func close() async
}

extension ResponseStore {
    /// `false`.
    public var isShared: Bool { false }

    /// `false`.
    public var leasesMisses: Bool { false }

    /// 100 milliseconds.
    public var timeLimit: Duration { .milliseconds(100) }

    /// The clock of the system.
    public var clock: RequestClock { .system }

    /// The key of the process.
    public var fingerprintKey: FingerprintKey { .process }

    /// No problems.
    public var problems: CacheProblems { CacheProblems() }

    /// The ticket of a lookup.
    public func ticket(for key: ResponseKey) async -> ResponseTicket? { await lookup(key).ticket }

    /// Keeps the pieces in memory, together with other stores at most 64 MiB, and stores them as a whole.
    public func begin(
        _ response: StoredResponse, for key: ResponseKey, replacing replaced: UInt64?, since ticket: ResponseTicket
    ) async -> (any ResponseWriter)? {
        BufferedResponseWriter(self, response, key, replaced, ticket, in: BufferRoom.common.share())
    }

    /// Always granted.
    public func lease(_ key: ResponseKey, for duration: Duration) async -> ResponseLease? { .free }

    /// Does nothing.
    public func close() async {}
}

/// A store that often finds responses without waiting, so that a call needs neither another thread nor a limit.
///
/// The functions are called on any thread, and must not block it. What they find fulfils the same conditions as the
/// results of the other functions.
package protocol ResidentResponseStore: ResponseStore {
    /// Whether the store leaves what is behind it alone after failures, so that its caller does not have to.
    var limitsItself: Bool { get }

    /// The same as ``ResponseStore/lookup(_:)``; `nil` if that has to be called.
    func residentLookup(_ key: ResponseKey) -> ResponseLookup?

    /// The same as ``ResponseStore/ticket(for:)``; `nil` if that has to be called.
    func residentTicket(for key: ResponseKey) -> ResponseTicket?
}

extension ResidentResponseStore {
    package var limitsItself: Bool { false }
}

/// What is stored under a key.
public struct ResponseLookup: Sendable {
    /// The responses, which differ in the fields that `Vary` names.
    public var responses: [StoredResponse]
    /// What a response that is asked for now has to prove when it is stored; `nil` if the store gives it on request.
    public var ticket: ResponseTicket?

    /// Creates a result.
    public init(_ responses: [StoredResponse] = [], ticket: ResponseTicket? = nil) {
        (self.responses, self.ticket) = (responses, ticket)
    }
}

/// A moment in the order of a store's lookups and removals, as the store counts them.
///
/// An invalidation of the key, and a removal that concerns its partition, make all earlier tickets worthless: what is stored
/// with one is refused. So a response that was asked for before a change at the server is never stored after it.
public struct ResponseTicket: Sendable {
    /// The number of the key, which each invalidation changes.
    public var epoch: UInt64
    /// The number of the partition, which each removal changes.
    public var generation: UInt64
    /// Anything else that the store needs.
    public var context: (any Sendable)?

    /// Creates a ticket.
    public init(epoch: UInt64 = 0, generation: UInt64 = 0, context: (any Sendable)? = nil) {
        (self.epoch, self.generation, self.context) = (epoch, generation, context)
    }
}

/// The right to ask the server about a key.
public struct ResponseLease: Sendable {
    /// A right that nobody else waits for.
    public static let free = ResponseLease(onEnd: nil)

    private let onEnd: (@Sendable () async -> Void)?

    private init(onEnd: (@Sendable () async -> Void)?) { self.onEnd = onEnd }

    /// Creates a lease.
    ///
    /// - Parameter onEnd: Gives the right back.
    public init(onEnd: @escaping @Sendable () async -> Void) { self.onEnd = onEnd }

    /// Whether nobody else waits for the right.
    public var isFree: Bool { onEnd == nil }

    /// Gives the right back before it ends by itself.
    public func end() async { await onEnd?() }
}

/// A response that is being stored.
///
/// It belongs to one caller, which ends it with ``commit()`` or ``abandon()``.
public protocol ResponseWriter: Sendable {
    /// Appends bytes, without waiting.
    ///
    /// - Returns: `false` if the response is not stored, because it is too large or the store is too slow. Nothing more is
    ///   appended then.
    func append(_ bytes: BodyChunk) -> Bool

    /// Stores the response.
    ///
    /// - Returns: Whether it is stored.
    func commit() async -> Bool

    /// Forgets the response.
    func abandon()
}

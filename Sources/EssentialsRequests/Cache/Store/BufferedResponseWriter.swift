import EssentialsTools
import EssentialsTransport
import FoundationEssentials

/// Keeps the pieces of a body in memory until it is stored as a whole.
final class BufferedResponseWriter<Store: ResponseStore>: ResponseWriter {
    /// How many bytes are reserved for a body before it arrives.
    private static var largestReservation: Int { 1 << 20 }

    private let store: Store
    private let response: StoredResponse
    private let key: ResponseKey
    private let replaced: UInt64?
    private let ticket: ResponseTicket
    private let room: BufferRoom.Share?
    /// What was appended; `nil` if the response is not stored.
    private let data: Mutex<Data?>

    /// - Parameter room: Where the bytes are counted; `nil` for no other limit than ``ResponseStore/largest``.
    init(
        _ store: Store, _ response: StoredResponse, _ key: ResponseKey, _ replaced: UInt64?, _ ticket: ResponseTicket,
        in room: BufferRoom.Share? = nil
    ) {
        (self.store, self.response, self.key, self.replaced, self.ticket) = (store, response, key, replaced, ticket)
        self.room = room
        var data = Data()
        // A server can announce more than it sends.
        if !response.head.fields.contains(.contentEncoding),
            let length = response.head.fields.joined(.contentLength).flatMap({ Int($0) })
        {
            data.reserveCapacity(min(max(length, 0), Self.largestReservation))
        }
        self.data = Mutex(data)
    }

    func append(_ bytes: BodyChunk) -> Bool {
        data.withLock { data in
            guard let count = data?.count, bytes.count <= store.largest - count, room?.take(bytes.count) ?? true else {
                data = nil
                return false
            }
            bytes.withUnsafeBytes { data?.append(contentsOf: $0) }
            return true
        }
    }

    func commit() async -> Bool {
        guard let whole = data.withLock({ $0.take() }) else { return false }
        return await store.store(response, whole, for: key, replacing: replaced, since: ticket)
    }

    func abandon() { data.withLock { $0 = nil } }
}

/// The bytes of bodies that wait in memory to be stored. They do not count for the budget of a store yet.
final class BufferRoom: Sendable {
    /// The share of one body, which is given back when it is released.
    final class Share: Sendable {
        private let room: BufferRoom
        private let bytes = Atomic<Int>(0)

        fileprivate init(_ room: BufferRoom) { self.room = room }

        deinit { room.bytes.subtract(bytes.load(ordering: .relaxed), ordering: .relaxed) }

        /// Takes room for bytes.
        ///
        /// - Returns: `false` if there is none.
        func take(_ count: Int) -> Bool {
            bytes.add(count, ordering: .relaxed)
            let isFree = room.bytes.add(count, ordering: .relaxed).newValue <= room.limit
            if !isFree { giveBack(count) }
            return isFree
        }

        /// Gives back room for bytes that are not in memory any more.
        func giveBack(_ count: Int) {
            bytes.subtract(count, ordering: .relaxed)
            room.bytes.subtract(count, ordering: .relaxed)
        }
    }

    /// The room of all stores that have none of their own.
    static let common = BufferRoom(bytes: 64 << 20)

    private let limit: Int
    private let bytes = Atomic<Int>(0)

    /// - Parameter limit: The maximum number of bytes.
    init(bytes limit: Int) { self.limit = limit }

    func share() -> Share { Share(self) }

    /// Whether nothing waits.
    var isUnused: Bool { bytes.load(ordering: .relaxed) == 0 }
}

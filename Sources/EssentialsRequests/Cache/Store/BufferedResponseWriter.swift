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

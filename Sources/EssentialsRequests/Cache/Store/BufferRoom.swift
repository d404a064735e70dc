import EssentialsTools

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

    /// How many bytes may wait for all stores that have no room of their own.
    static let commonBytes = 64 << 20
    /// The room of these stores.
    static let common = BufferRoom(bytes: commonBytes)

    private let limit: Int
    private let bytes = Atomic<Int>(0)

    /// - Parameter limit: The maximum number of bytes.
    init(bytes limit: Int) { self.limit = limit }

    func share() -> Share { Share(self) }
}

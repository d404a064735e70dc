/// The sizes and uses of the records of a directory, in a file. It serves eviction, and says which
/// names do not exist: if it is missing, damaged or outdated, the records are counted instead.
struct RecordIndex: Sendable {
    static let fileName = ".index"
    private static let format = RecordFormat(mark: "SErecidx", version: 2, partCount: 1)
    private static let entrySize = 50

    private let places: [EvictionOrder<RecordName>.Place]
    private let bodies: [RecordName: UInt64]
    /// The size of the records committed since the last sweep.
    private let committed: Int
    /// The number of commits at which these were all records; `nil` if there may have been more.
    private let completeAt: UInt64?

    init(_ order: EvictionOrder<RecordName>, _ bodies: [RecordName: UInt64], committed: Int, completeAt: UInt64?) {
        (places, self.bodies) = (order.places, bodies)
        (self.committed, self.completeAt) = (committed, completeAt)
    }

    /// The size of the file for a number of records.
    static func size(for count: Int) -> Int { format.headerSize + 16 + entrySize * min(count, 1 << 30) }

    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.append(Int64(committed))
        writer.append(completeAt ?? 0)
        for place in places {
            let (name, body) = (place.key, bodies[place.key])
            writer.append(name.key)
            writer.append(name.partition)
            writer.append(name.group)
            writer.append(name.number)
            writer.append(Int64(place.bytes))
            writer.append(UInt8(place.uses | (place.isMain ? 4 : 0) | (body == nil ? 0 : 8)))
            writer.append(body ?? 0)
        }
        return Self.format.bytes(of: [writer.bytes])
    }

    /// Reads the bytes of a file; `nil` if they are damaged.
    init?(bytes: [UInt8]) {
        guard case .record(_, let parts) = Self.format.content(of: bytes), let part = parts.first else { return nil }
        var (places, bodies): ([EvictionOrder<RecordName>.Place], [RecordName: UInt64]) = ([], [:])
        let numbers: (committed: Int64, completeAt: UInt64)? = bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[part]))
            guard let committed: Int64 = reader.number(), let completeAt: UInt64 = reader.number() else { return nil }
            while reader.count > 0 {
                guard let key: UInt128 = reader.number(), let partition: UInt64 = reader.number(),
                    let group: UInt64 = reader.number(), let number: UInt8 = reader.number(),
                    let size: Int64 = reader.number(), let facts: UInt8 = reader.number(),
                    let body: UInt64 = reader.number()
                else { return nil }
                let name = RecordName(key: key, partition: partition, group: group, number: number)
                places.append(
                    .init(key: name, bytes: Int(clamping: size), uses: Int(facts & 3), isMain: facts & 4 != 0))
                if facts & 8 != 0 { bodies[name] = body }
            }
            return (committed, completeAt)
        }
        guard let numbers else { return nil }
        (self.places, self.bodies, committed) = (places, bodies, Int(clamping: numbers.committed))
        completeAt = numbers.completeAt == 0 ? nil : numbers.completeAt
    }

    /// Whether these are all records at a number of commits.
    func isComplete(at commits: UInt64?) -> Bool { completeAt != nil && completeAt == commits }

    /// Counts the records of the index, except those that are counted already.
    ///
    /// - Parameter commits: The present number of commits; `nil` if it is not known.
    func restore(in state: inout RecordDirectory.State, _ commits: UInt64?) {
        for place in places where !state.order.contains(place.key) {
            state.bodies[place.key] = bodies[place.key]
            state.noteScope(of: place.key)
        }
        state.order.restore(places)
        state.committed = max(state.committed, committed)
        state.completeAt = completeAt == commits ? commits : nil
    }
}

/// The invalidations of keys whose records are in several partitions, in a file of a directory that several processes
/// share.
///
/// An invalidation concerns the records in all partitions, and their names are not all known. So each record has the
/// number of the last invalidation when its writing began, and this file has the number of each key's last invalidation.
/// A record with a smaller number is neither committed nor read.
///
/// There are ``setCount`` sets of ``wayCount`` keys. A further key in a set replaces the one that was invalidated first,
/// and its number becomes the least number of all records in that set. So any number of keys can be invalidated: with many, a
/// record is not found any more after some 50,000 invalidations of other keys.
///
/// Numbers rise, and are written in place. A record with a number of a file that was lost is not read.
final class KeyInvalidations: Sendable {
    static let fileName = ".invalidations"
    static let setCount = 8_192
    static let wayCount = 7
    /// The number of the last invalidation, and the first number of the file.
    private static let headerCount = 2
    /// The least number, and for each key its hash and its number. One place is unused.
    private static let setSize = 2 + 2 * wayCount

    private let file: NumberFile

    init(_ path: String, _ calls: FileCalls) {
        file = NumberFile(path, maximumCount: (1 + Self.setCount) * Self.setSize, calls)
    }

    /// The number of the last invalidation; `nil` if there is no file yet.
    func latest() throws(FileError) -> UInt64? {
        guard try file.isThere() else { return nil }
        return try header(file.open())?.latest
    }

    /// The number of the last invalidation. A missing file is begun. The caller has the lock of the directory.
    ///
    /// - Parameter start: The first number of a new file, greater than all numbers of a lost one.
    func begin(at start: UInt64) throws(FileError) -> UInt64 {
        let opened = try file.open()
        if let header = try header(opened) { return header.latest }
        let start = max(start, 1)
        try file.write([start, start], at: 0, of: opened)
        return start
    }

    /// Whether a record of a key whose writing began at a number is valid.
    func allow(_ key: UInt128, begun: UInt64) throws(FileError) -> Bool {
        guard try file.isThere() else { return false }
        let opened = try file.open()
        guard let header = try header(opened), begun >= header.start, begun <= header.latest else { return false }
        let set = try set(of: key, opened)
        guard begun >= set[0] else { return false }
        let hash = Self.hash(of: key)
        return !stride(from: 1, to: Self.setSize - 1, by: 2).contains { set[$0] == hash && begun < set[$0 + 1] }
    }

    /// Invalidates a key. The caller has the lock of the directory.
    ///
    /// - Parameter start: As for ``begin(at:)``.
    func add(_ key: UInt128, startingAt start: UInt64) throws(FileError) {
        // After a loss of power the last number can be smaller than those of records.
        let number = max(try begin(at: start) &+ 1, start)
        let opened = try file.open()
        let (set, hash, position) = (try set(of: key, opened), Self.hash(of: key), Self.position(of: key))
        let ways = stride(from: 1, to: Self.setSize - 1, by: 2)
        // An unused place has the number zero, so it is taken first.
        let way = ways.first { set[$0] == hash } ?? ways.min { set[$0 + 1] < set[$1 + 1] } ?? 1
        // A process that reads between two writes finds too few records, and never an invalid one.
        try file.write([number], at: 0, of: opened)
        if set[way] != hash, set[way + 1] > set[0] { try file.write([set[way + 1]], at: position, of: opened) }
        try file.write([hash, number], at: position + way, of: opened)
    }

    private func header(_ opened: OpenFile) throws(FileError) -> (latest: UInt64, start: UInt64)? {
        let numbers = try file.read(Self.headerCount, at: 0, of: opened)
        guard numbers.count == Self.headerCount, numbers[0] > 0, numbers[0] >= numbers[1] else { return nil }
        return (numbers[0], numbers[1])
    }

    /// The numbers of a set, with zeros for those that were never written.
    private func set(of key: UInt128, _ opened: OpenFile) throws(FileError) -> [UInt64] {
        let numbers = try file.read(Self.setSize, at: Self.position(of: key), of: opened)
        return numbers + [UInt64](repeating: 0, count: Self.setSize - numbers.count)
    }

    private static func position(of key: UInt128) -> Int {
        (1 + Int(UInt64(truncatingIfNeeded: key) % UInt64(setCount))) * setSize
    }

    /// Never zero, which means that a place is unused.
    private static func hash(of key: UInt128) -> UInt64 { UInt64(truncatingIfNeeded: key >> 64) | 1 }
}

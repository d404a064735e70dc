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
///
/// The file also has the number of commits of all processes, which begins at random. A process that knows all records at
/// one number of commits still knows them as long as it has not changed.
final class KeyInvalidations: Sendable {
    static let fileName = ".invalidations"
    static let setCount = 8_192
    static let wayCount = 7
    /// The number of the last invalidation, the first number of the file, and the number of commits.
    private static let headerCount = 3
    private static let commitsPosition = 2
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
        try file.write([start, start, .random(in: 1...(1 << 62))], at: 0, of: opened)
        return start
    }

    /// The number of commits; `nil` if there is no file yet. Under the lock of the directory, all of them are in place.
    func commits() throws(FileError) -> UInt64? {
        guard try file.isThere() else { return nil }
        return try header(file.open())?.commits
    }

    /// Counts a commit, which has to follow, and returns the number before it. The caller has the lock of the directory.
    func countCommit() throws(FileError) -> UInt64 {
        let opened = try file.open()
        let commits = try header(opened)?.commits ?? 0
        try file.write([commits &+ 1], at: Self.commitsPosition, of: opened)
        return commits
    }

    /// Whether a record of a key whose writing began at a number is valid.
    func allow(_ key: UInt128, begun: UInt64) throws(FileError) -> Bool {
        guard try file.isThere() else { return false }
        let opened = try file.open()
        guard let header = try header(opened) else { return false }
        return Self.allow(key, begun: begun, header, try set(of: key, opened))
    }

    private static func allow(_ key: UInt128, begun: UInt64, _ header: Header, _ set: [UInt64]) -> Bool {
        guard begun >= header.start, begun <= header.latest, begun >= set[0] else { return false }
        let hash = Self.hash(of: key)
        return !stride(from: 1, to: Self.setSize - 1, by: 2).contains { set[$0] == hash && begun < set[$0 + 1] }
    }

    // MARK: Without waiting

    /// The beginning of the file, read without waiting for a disk.
    struct Resident {
        fileprivate let file: OpenFile
        fileprivate let size: Int64
        fileprivate let header: Header

        /// The number of the last invalidation.
        var latest: UInt64 { header.latest }
        var commits: UInt64 { header.commits }
    }

    /// `nil` if there is no file yet, or if it is not in memory.
    func resident() -> Resident? {
        guard let (opened, status) = file.openedLast(),
            let numbers = file.readResident(Self.headerCount, at: 0, of: opened, size: status.size),
            let header = Self.header(numbers)
        else { return nil }
        return Resident(file: opened, size: status.size, header: header)
    }

    /// Whether records of a key whose writing began at these numbers are valid. It is `false` too if that cannot be found out
    /// without waiting, or if there were invalidations since the beginning of the file was read.
    func allow(_ key: UInt128, begun: [UInt64], _ resident: Resident) -> Bool {
        guard
            let numbers = file.readResident(
                Self.setSize, at: Self.position(of: key), of: resident.file, size: resident.size)
        else { return false }
        let set = Self.filled(numbers)
        return begun.allSatisfy { Self.allow(key, begun: $0, resident.header, set) }
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

    fileprivate typealias Header = (latest: UInt64, start: UInt64, commits: UInt64)

    private func header(_ opened: OpenFile) throws(FileError) -> Header? {
        Self.header(try file.read(Self.headerCount, at: 0, of: opened))
    }

    private static func header(_ numbers: [UInt64]) -> Header? {
        guard numbers.count >= commitsPosition, numbers[0] > 0, numbers[0] >= numbers[1] else { return nil }
        return (numbers[0], numbers[1], numbers.count > commitsPosition ? numbers[commitsPosition] : 0)
    }

    /// The numbers of a set, with zeros for those that were never written.
    private func set(of key: UInt128, _ opened: OpenFile) throws(FileError) -> [UInt64] {
        Self.filled(try file.read(Self.setSize, at: Self.position(of: key), of: opened))
    }

    private static func filled(_ set: [UInt64]) -> [UInt64] {
        set + [UInt64](repeating: 0, count: setSize - set.count)
    }

    private static func position(of key: UInt128) -> Int {
        (1 + Int(UInt64(truncatingIfNeeded: key) % UInt64(setCount))) * setSize
    }

    /// Never zero, which means that a place is unused.
    private static func hash(of key: UInt128) -> UInt64 { UInt64(truncatingIfNeeded: key >> 64) | 1 }
}

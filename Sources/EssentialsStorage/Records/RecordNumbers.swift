/// Numbers of keys, in a file of a directory that several processes share.
///
/// A commit succeeds only if the number of its key has not changed since its beginning, so that it does not undo an
/// invalidation in between. There are ``count`` numbers, each for many keys. So any number of keys can be invalidated
/// without a file for each. An invalidation also refuses the commits of a few other keys, which are merely not stored.
///
/// Numbers are random and written in place. A missing number is replaced. No commit expects the new number or a damaged
/// one.
///
/// After the numbers there are as many leases: each has the hash of a key, the number of its holder, and its end.
final class RecordNumbers: Sendable {
    static let fileName = ".numbers"
    static let count = 4_096
    /// The longest lease, in nanoseconds.
    static let longestLease: Int64 = 60_000_000_000
    private static let leaseCount = 3

    private let file: NumberFile

    init(_ path: String, _ calls: FileCalls) {
        file = NumberFile(path, maximumCount: Self.count * (1 + Self.leaseCount), calls)
    }

    /// The number of a key. A missing file is created.
    func number(of name: RecordName) throws(FileError) -> UInt64 {
        if let number = try read(file.open(), name) { return number }
        // If another process writes a number at the same time, the commit finds a different one and is refused.
        return try raise(name)
    }

    /// Whether the file exists. It is created when it is first written.
    func areThere() throws(FileError) -> Bool { try file.isThere() }

    /// Whether the number of a key still equals one that was read. The caller has the lock of the directory.
    func isStill(_ number: UInt64, of name: RecordName) throws(FileError) -> Bool {
        try read(file.open(), name) == number
    }

    /// Sets a new number for a key, and returns it.
    @discardableResult
    func raise(_ name: RecordName) throws(FileError) -> UInt64 {
        let number = UInt64.random(in: 1 ... .max)
        try file.write([number], at: Self.slot(of: name), of: file.open())
        return number
    }

    private func read(_ opened: OpenFile, _ name: RecordName) throws(FileError) -> UInt64? {
        let number = try file.read(1, at: Self.slot(of: name), of: opened).first
        return number == 0 ? nil : number
    }

    // MARK: Leases

    /// Writes a lease, unless another one of the same key has not ended. The caller has the lock of the directory.
    ///
    /// If the place is taken by another key, the lease is granted without being written.
    ///
    /// - Returns: Whether the lease was granted.
    func begin(_ lease: RecordLease, _ now: UInt64, until end: UInt64) throws(FileError) -> Bool {
        let (opened, position) = (try file.open(), Self.leasePosition(lease.name))
        let found = try file.read(Self.leaseCount, at: position, of: opened)
        // An end that is too far in the future is from before the last start of the machine.
        if found.count == Self.leaseCount, found[2] > now, found[2] - now <= UInt64(Self.longestLease) {
            return found[0] != Self.hash(of: lease.name)
        }
        try file.write([Self.hash(of: lease.name), lease.holder, end], at: position, of: opened)
        return true
    }

    /// Removes a lease, if it is still the written one. The caller has the lock of the directory.
    func end(_ lease: RecordLease) throws(FileError) {
        let (opened, position) = (try file.open(), Self.leasePosition(lease.name))
        guard try file.read(Self.leaseCount, at: position, of: opened).dropFirst().first == lease.holder else { return }
        try file.write([0, 0, 0], at: position, of: opened)
    }

    private static func leasePosition(_ name: RecordName) -> Int { count + slot(of: name) * leaseCount }

    private static func hash(of name: RecordName) -> UInt64 {
        [name.partition, name.group].reduce(UInt64(truncatingIfNeeded: name.key >> 64)) { $0 &* 31 ^ $1 }
    }

    private static func slot(of name: RecordName) -> Int {
        Int(UInt64(truncatingIfNeeded: name.key) % UInt64(count))
    }
}

/// The right of one caller to load a key; see ``RecordDirectory/lease(_:for:now:)``.
package struct RecordLease: Sendable, Hashable {
    let name: RecordName
    let holder = UInt64.random(in: 1 ... .max)
}

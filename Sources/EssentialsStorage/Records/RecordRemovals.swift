/// The removals of a directory of records. They are in a file of the directory, so that all processes know them, even
/// after a restart.
///
/// Every removal has a number, and every record has the number of the last removal when its writing began. A removal
/// concerns the records of its scope with a smaller number: they are no longer committed, and those whose files could
/// not be removed are no longer read. When a scope is removed, this file is written before the first record is removed.
package struct RecordRemovals: Sendable, Hashable {
    /// The maximum number of removals that are remembered individually.
    package static let maximumRemovals = 256
    /// The maximum number of records that are remembered individually. Beyond it their scopes are remembered.
    package static let maximumNames = 4_096
    /// The maximum size of the file.
    package static let maximumSize = 1 << 20
    private static let format = RecordFormat(mark: "SErecrem", version: 1, partCount: 1)

    /// The number of the last removal.
    package private(set) var latest: UInt64 = 0
    /// No record that began before this number is committed, in any scope.
    private var floor: UInt64 = 0
    /// The first number of this file. A record with a smaller number other than 0 began with an earlier file, which was
    /// lost.
    private var start: UInt64 = 0
    /// The latest removals by their scopes.
    private var recent: [RecordScope: UInt64] = [:]
    /// The removals of whole scopes that may have left files.
    private var unfinished: [RecordScope: UInt64] = [:]
    /// Single records that could not be removed, or that are being removed.
    private var names: [RecordName: UInt64] = [:]

    package init() {}

    /// Creates the removals of a new file, for a directory that never had one or has lost it.
    package init(startingAt number: UInt64) { (latest, start) = (number, number) }

    /// Creates removals in place of a damaged file. They hide all records that began before a number.
    package init(lostAt number: UInt64) {
        (latest, floor) = (number, number)
        unfinished = [RecordScope(): number]
    }

    /// Whether there may be files that must not be read.
    package var isUnfinished: Bool { !unfinished.isEmpty || !names.isEmpty }

    /// Whether a record whose writing began at a number may be committed.
    package func allowsCommit(of name: RecordName, begun: UInt64) -> Bool {
        guard begun >= floor, begun <= latest else { return false }
        return !recent.contains { begun < $0.value && $0.key.contains(name) }
    }

    /// Whether a record that was committed with a number may be read.
    package func allowsReading(of name: RecordName, begun: UInt64) -> Bool {
        // Such a number comes from a file that was lost, and the removals in that file are unknown.
        guard begun <= latest, begun == 0 || begun >= start else { return false }
        guard isUnfinished else { return true }
        if let number = names[name], begun < number { return false }
        return !unfinished.contains { begun < $0.value && $0.key.contains(name) }
    }

    /// Whether an unfinished removal concerns a record's name. The number in its file is not compared.
    package func mayConcern(_ name: RecordName) -> Bool {
        names[name] != nil || unfinished.contains { $0.key.contains(name) }
    }

    /// Adds the removal of a scope.
    ///
    /// - Parameter isWhole: Whether all present records of the scope are hidden from now on.
    package mutating func begin(_ scope: RecordScope, isWhole: Bool) {
        latest += 1
        recent[scope] = latest
        if isWhole { unfinished[scope] = latest }
        while recent.count > Self.maximumRemovals, let oldest = recent.min(by: { $0.value < $1.value }) {
            floor = max(floor, oldest.value)
            recent[oldest.key] = nil
        }
        if unfinished.count > Self.maximumRemovals {
            unfinished = [RecordScope(): latest]
            names = [:]
        }
    }

    /// Adds records that could not be removed, or that will be removed one by one.
    ///
    /// - Returns: The number of this removal, for ``finish(_:left:)``.
    @discardableResult
    package mutating func add(_ left: [RecordName]) -> UInt64 {
        latest += 1
        let number = latest
        guard names.count + left.count > Self.maximumNames else {
            for name in left { names[name] = number }
            return number
        }
        // There are too many names, so their scopes are hidden. A scope that was unfinished before gets a later number,
        // so that it stays unfinished when this removal is finished.
        latest += 1
        for name in left {
            let scope = RecordScope(partition: name.partition, group: name.group)
            unfinished[scope] = unfinished[scope].map { $0 == number ? number : latest } ?? number
        }
        if unfinished.count > Self.maximumRemovals { (unfinished, names) = ([RecordScope(): latest], [:]) }
        return number
    }

    /// Finishes one removal, except for the records whose files are left.
    ///
    /// - Parameter number: A number of ``begin(_:isWhole:)`` or ``add(_:)``. A scope or record that was removed again
    ///   since has a later number and stays unfinished.
    package mutating func finish(_ number: UInt64, left: some Collection<RecordName>) {
        unfinished = unfinished.filter { $0.value != number }
        names = names.filter { $0.value != number }
        if !left.isEmpty { add(Array(left)) }
    }

    /// Finishes all removals that were unfinished in an earlier value, except for the records whose files are left.
    package mutating func finish(_ earlier: RecordRemovals, left: some Collection<RecordName>) {
        unfinished = unfinished.filter { earlier.unfinished[$0.key] != $0.value }
        names = names.filter { earlier.names[$0.key] != $0.value }
        if !left.isEmpty { add(Array(left)) }
    }

    // MARK: Bytes

    /// All bytes of the file.
    package var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.append(latest)
        writer.append(floor)
        writer.append(start)
        for scopes in [recent, unfinished] {
            writer.append(UInt32(clamping: scopes.count))
            for (scope, number) in scopes {
                writer.append(UInt8((scope.partition == nil ? 0 : 1) | (scope.group == nil ? 0 : 2)))
                writer.append(scope.partition ?? 0)
                writer.append(scope.group ?? 0)
                writer.append(number)
            }
        }
        writer.append(UInt32(clamping: names.count))
        for (name, number) in names {
            writer.append(text: name.text)
            writer.append(number)
        }
        return Self.format.bytes(of: [writer.bytes])
    }

    /// Reads the bytes of a file; `nil` if they are damaged.
    package init?(bytes: [UInt8]) {
        guard case .record(_, let parts) = Self.format.content(of: bytes), let part = parts.first,
            let read = bytes.withUnsafeBytes({ Self.read(UnsafeRawBufferPointer(rebasing: $0[part])) })
        else { return nil }
        self = read
    }

    private static func read(_ bytes: UnsafeRawBufferPointer) -> RecordRemovals? {
        var (reader, removals) = (ByteReader(bytes), RecordRemovals())
        guard let latest: UInt64 = reader.number(), let floor: UInt64 = reader.number(),
            let start: UInt64 = reader.number(), let recent = scopes(&reader), let unfinished = scopes(&reader),
            let count: UInt32 = reader.number()
        else { return nil }
        (removals.latest, removals.floor, removals.start) = (latest, floor, start)
        (removals.recent, removals.unfinished) = (recent, unfinished)
        for _ in 0..<count {
            guard let name = reader.text().flatMap({ RecordName($0) }), let number: UInt64 = reader.number() else {
                return nil
            }
            removals.names[name] = number
        }
        return reader.count == 0 ? removals : nil
    }

    private static func scopes(_ reader: inout ByteReader) -> [RecordScope: UInt64]? {
        guard let count: UInt32 = reader.number() else { return nil }
        var scopes: [RecordScope: UInt64] = [:]
        for _ in 0..<count {
            guard let parts: UInt8 = reader.number(), let partition: UInt64 = reader.number(),
                let group: UInt64 = reader.number(), let number: UInt64 = reader.number()
            else { return nil }
            let scope = RecordScope(
                partition: parts & 1 == 0 ? nil : partition, group: parts & 2 == 0 ? nil : group)
            scopes[scope] = number
        }
        return scopes
    }
}

import EssentialsHTTP
import EssentialsStorage
import EssentialsTools

/// What was read from the server, as long as the server would tell if it had changed.
///
/// The server tells on the connection on which it was read, so a change that comes after a reply concerns what was in it, and
/// one that comes before does not.
final class TrackedValues: Sendable {
    /// The value of a key; `nil` if the server has none.
    typealias Value = [UInt8]?

    fileprivate struct Entry: Sendable {
        let value: Value
        let storedAt: Duration
    }

    /// A key that is being read.
    fileprivate struct Reading: Sendable {
        var count = 0
        /// The number of the last change since.
        var changedAt: UInt64 = 0
    }

    fileprivate struct State {
        var entries: LeastRecentlyUsed<String, Entry>
        var readings: [String: Reading] = [:]
        /// Counts readings and changes.
        var lastNumber: UInt64 = 0
        /// The number of the last change of all keys.
        var allChangedAt: UInt64 = 0
        /// All changes are known that the server has made before it received what was sent at this time; `nil` at first.
        var caughtUpAt: Duration?
        /// The keys that this process is changing, and how often.
        var blocked: [String: Int] = [:]

        mutating func next() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }
    }

    /// How long a value is used at most, in case a change is missed.
    static let lifetime = Duration.seconds(60)
    /// What an entry needs beside its key and its value, estimated.
    private static let entryBytes = 160

    private let clock: RequestClock
    private let state: Mutex<State>

    init(bytes: Int, clock: RequestClock) {
        self.clock = clock
        state = Mutex(State(entries: LeastRecentlyUsed<String, Entry>(maximumCount: .max, maximumBytes: bytes)))
    }

    /// The number and the size of the values.
    var usage: (values: Int, bytes: Int) { state.withLock { ($0.entries.count, $0.entries.bytes) } }

    /// The values of keys; `nil` if one is not known.
    func values(_ keys: [String]) -> [Value]? {
        let now = clock.now
        return state.withLock { state in
            guard let caughtUpAt = state.caughtUpAt, now - caughtUpAt < RedisConnection.deadSilence,
                !state.isBlocked(keys)
            else { return nil }
            var values: [Value] = []
            values.reserveCapacity(keys.count)
            for key in keys {
                guard let entry = state.entries.use(key), now - entry.storedAt < Self.lifetime else { return nil }
                values.append(entry.value)
            }
            return values
        }
    }

    // MARK: Reading

    /// Begins to read keys.
    ///
    /// - Returns: The number of the reading, for ``end(_:_:_:)``.
    func begin(_ keys: [String]) -> UInt64 {
        state.withLock { state in
            for key in keys { state.readings[key, default: Reading()].count += 1 }
            return state.next()
        }
    }

    /// Keeps what was read, unless it has changed since.
    ///
    /// - Parameter values: `nil` if nothing was read.
    func end(_ reading: UInt64, _ keys: [String], _ values: [Value]?) {
        let now = clock.now
        state.withLock { state in
            for (index, key) in keys.enumerated() {
                guard var found = state.readings[key] else { continue }
                found.count -= 1
                state.readings[key] = found.count > 0 ? found : nil
                guard let values, found.changedAt < reading, state.allChangedAt < reading else { continue }
                let bytes = Self.entryBytes + key.utf8.count + (values[index]?.count ?? 0)
                _ = state.entries.insert(Entry(value: values[index], storedAt: now), for: key, bytes: bytes)
            }
        }
    }

    /// The values in the reply to `MGET`; `nil` if it is another one.
    static func values(in reply: RESPValue, count: Int) -> [Value]? {
        guard case .array(let elements) = reply, elements.count == count else { return nil }
        var values: [Value] = []
        values.reserveCapacity(count)
        for element in elements {
            switch element {
            case .bytes(let bytes): values.append(bytes)
            case .null: values.append(nil)
            default: return nil
            }
        }
        return values
    }

    // MARK: Changes

    /// Forgets keys that this process has changed.
    func remove(_ keys: some Sequence<String>) {
        state.withLock { state in for key in keys { state.remove(key) } }
    }

    /// Forgets everything.
    func removeAll() {
        let empty = LeastRecentlyUsed<String, Entry>(
            maximumCount: .max, maximumBytes: state.withLock { $0.entries.maximumBytes })
        let former = state.withLock { state in
            defer { state.entries = empty }
            state.allChangedAt = state.next()
            state.caughtUpAt = nil
            return state.entries
        }
        // Many values are released here, without the lock.
        _ = consume former
    }

    /// Everything was delivered that the server has sent before it executed a command that was sent at this time.
    func caughtUp(at time: Duration) {
        state.withLock { $0.caughtUpAt = max($0.caughtUpAt ?? time, time) }
    }

    /// Keys have no values from now on, because this process is changing them.
    func block(_ keys: [String]) {
        state.withLock { state in for key in keys { state.blocked[key, default: 0] += 1 } }
    }

    /// The server has changed the keys.
    func unblock(_ keys: [String]) {
        state.withLock { state in
            for key in keys {
                let count = state.blocked[key] ?? 1
                state.blocked[key] = count > 1 ? count - 1 : nil
                state.remove(key)
            }
        }
    }

    /// Whether one of the keys is being changed.
    func isBlocked(_ keys: [String]) -> Bool { state.withLock { $0.isBlocked(keys) } }

    /// The number of keys in one message above which everything is forgotten.
    private static let maximumKeys = 1_000

    /// Reads a message that no command has asked for.
    func receive(_ message: [RESPValue]) {
        guard message.first == .bytes(Array("invalidate".utf8)), message.count == 2 else { return }
        switch message[1] {
        case .array(let keys) where keys.count <= Self.maximumKeys:
            state.withLock { state in
                for case .bytes(let key) in keys { state.remove(String(decoding: key, as: UTF8.self)) }
            }
        // The server has forgotten what was read, or everything was deleted.
        default: removeAll()
        }
    }
}

extension TrackedValues.State {
    fileprivate func isBlocked(_ keys: [String]) -> Bool { !blocked.isEmpty && keys.contains { blocked[$0] != nil } }

    fileprivate mutating func remove(_ key: String) {
        entries.remove(key)
        guard var reading = readings[key] else { return }
        reading.changedAt = next()
        readings[key] = reading
    }
}

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
        /// `nil` as long as the server has said nothing.
        var heardAt: Duration?

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
            guard let heardAt = state.heardAt, now - heardAt < RedisConnection.deadSilence else { return nil }
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
        state.withLock { state in
            state.entries = LeastRecentlyUsed(
                maximumCount: state.entries.maximumCount, maximumBytes: state.entries.maximumBytes)
            state.allChangedAt = state.next()
        }
    }

    /// The server has sent something.
    func heard(at time: Duration) { state.withLock { $0.heardAt = time } }

    /// Reads a message that no command has asked for.
    func receive(_ message: [RESPValue]) {
        guard message.first == .bytes(Array("invalidate".utf8)), message.count == 2 else { return }
        switch message[1] {
        case .array(let keys):
            state.withLock { state in
                for case .bytes(let key) in keys { state.remove(String(decoding: key, as: UTF8.self)) }
            }
        // The server has forgotten what was read, or everything was deleted.
        default: removeAll()
        }
    }
}

extension TrackedValues.State {
    fileprivate mutating func remove(_ key: String) {
        entries.remove(key)
        guard var reading = readings[key] else { return }
        reading.changedAt = next()
        readings[key] = reading
    }
}

public import EssentialsHTTP
import EssentialsRequests
import EssentialsTools

/// One value in a cache of models, for settings, drafts and the like.
///
/// ```swift
/// let draft = CachedValue(ModelKey<Draft>("draft", partition: "account-7"), in: cache)
/// try await draft.update { $0 = Draft(text: ($0?.text ?? "") + "!") }
/// let text = try await draft.load()?.text
/// ```
///
/// The changes that are made through a stored value and its copies are made one after the other. Those that are made in
/// another way, or through another stored value with the same key, can come between the reading and the saving of
/// ``update(_:)``. A cache may forget a value, so keep nothing in it that cannot be lost.
public struct CachedValue<Value: Codable & Sendable>: Sendable {
    /// What the value is stored under.
    public let key: ModelKey<Value>
    private let cache: any AsyncCache
    private let clock: RequestClock
    private let turns = AsyncMutex()

    /// Creates a stored value. Nothing is read yet.
    ///
    /// - Parameters:
    ///   - key: What the value is stored under.
    ///   - cache: The cache.
    ///   - clock: Gives the date with which values are saved.
    public init(_ key: ModelKey<Value>, in cache: any AsyncCache, clock: RequestClock = .system) {
        (self.key, self.cache, self.clock) = (key, cache, clock)
    }

    /// The value; `nil` if there is none.
    ///
    /// - Throws: What the cache throws.
    public func load() async throws -> Value? { try await cache.load(key)?.value }

    /// Saves a value in place of the one that is there.
    ///
    /// - Throws: What the cache throws, and `CancellationError` if the task was cancelled before it was its turn.
    public func save(_ value: Value) async throws {
        try await inTurn { try await cache.save(CachedModel(value, date: clock.date), for: key) }
    }

    /// Deletes the value. Without one nothing happens.
    ///
    /// - Throws: As ``save(_:)``.
    public func delete() async throws { try await inTurn { try await cache.delete(key) } }

    /// Changes the value, or deletes it by setting it to `nil`.
    ///
    /// - Parameter change: Receives the value, which is `nil` if there is none.
    /// - Returns: The value after the change.
    /// - Throws: What the closure throws, in which case nothing is changed, and the errors of ``save(_:)``.
    @discardableResult
    public func update(_ change: (inout Value?) throws -> Void) async throws -> Value? {
        try await inTurn {
            let stored = try await cache.load(key)
            var value = stored?.value
            try change(&value)
            if let value {
                let isMemoryOnly = stored?.isMemoryOnly ?? false
                try await cache.save(CachedModel(value, date: clock.date, isMemoryOnly: isMemoryOnly), for: key)
            } else if stored != nil {
                try await cache.delete(key)
            }
            return value
        }
    }

    /// Does work after that of all earlier calls.
    private func inTurn<Result>(_ work: () async throws -> Result) async throws -> Result {
        guard await turns.enter() == .entered else { throw CancellationError() }
        defer { turns.leave() }
        try Task.checkCancellation()
        return try await work()
    }
}

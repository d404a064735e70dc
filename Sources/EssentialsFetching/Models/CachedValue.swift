public import EssentialsHTTP
import EssentialsRequests
import EssentialsTools

/// One value in a model cache, such as settings or a draft.
///
/// ```swift
/// let draft = CachedValue(ModelKey<Draft>("draft", partition: "account-7"), in: cache)
/// try await draft.update { $0 = Draft(text: ($0?.text ?? "") + "!") }
/// let text = try await draft.load()?.text
/// ```
///
/// Changes through a stored value and its copies are made one after another. Other changes of the same key, including
/// those through another stored value, can come between the read and the save of ``update(_:)``. A cache may forget a
/// value, so only store values that may be lost.
public struct CachedValue<Value: Codable & Sendable>: Sendable {
    /// The key of the value.
    public let key: ModelKey<Value>
    private let cache: any AsyncCache
    private let clock: RequestClock
    private let turns = AsyncMutex()

    /// Creates a stored value. Nothing is read yet.
    ///
    /// - Parameters:
    ///   - key: The key of the value.
    ///   - cache: The cache.
    ///   - clock: Provides the date with which values are saved.
    public init(_ key: ModelKey<Value>, in cache: any AsyncCache, clock: RequestClock = .system) {
        (self.key, self.cache, self.clock) = (key, cache, clock)
    }

    /// The value; `nil` if there is none.
    ///
    /// - Throws: The errors of the cache.
    public func load() async throws -> Value? { try await cache.load(key)?.value }

    /// Saves a value in place of the existing one.
    ///
    /// - Throws: The errors of the cache, and `CancellationError` if the task was cancelled before its turn.
    public func save(_ value: Value) async throws {
        try await inTurn { try await cache.save(CachedModel(value, date: clock.date), for: key) }
    }

    /// Deletes the value. Nothing happens if there is none.
    ///
    /// - Throws: The errors of ``save(_:)``.
    public func delete() async throws { try await inTurn { try await cache.delete(key) } }

    /// Changes the value, or deletes it by setting it to `nil`.
    ///
    /// - Parameter change: Receives the value, which is `nil` if there is none.
    /// - Returns: The value after the change.
    /// - Throws: The error of the closure, in which case nothing is changed, and the errors of ``save(_:)``.
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

    /// Does work after the work of all earlier calls.
    private func inTurn<Result>(_ work: () async throws -> Result) async throws -> Result {
        guard await turns.enter() == .entered else { throw CancellationError() }
        defer { turns.leave() }
        try Task.checkCancellation()
        return try await work()
    }
}

public import EssentialsFetching
import FoundationEssentials

/// Checks that a cache of models does what services that fetch expect from it.
///
/// ```swift
/// let violations = await AsyncCacheConformance.check { DatabaseCache(name: "test") }
/// #expect(violations == [])
/// ```
///
/// The suite needs no test library. It takes about a second for a cache in files.
public struct AsyncCacheConformance: Sendable {
    typealias Make = @Sendable () async throws -> any AsyncCache

    let make: Make
    var violations: [String] = []

    /// Checks a cache.
    ///
    /// - Parameter make: Creates an empty cache, which shares no models with earlier ones. It must hold 300 models and 2 MiB.
    ///   It is called about twenty times.
    /// - Returns: What the cache does wrong: for each violation a sentence on what was found, and one on what is expected.
    ///   The list is empty if the cache conforms.
    public static func check(make: @escaping @Sendable () async throws -> any AsyncCache) async -> [String] {
        var suite = AsyncCacheConformance(make: make)
        await suite.checkEmptyCache()
        await suite.checkRoundTrip()
        await suite.checkReplacement()
        await suite.checkDeletion()
        await suite.checkDeletionOfAll()
        await suite.checkSlots()
        await suite.checkNames()
        await suite.checkLargeModels()
        await suite.checkConcurrency()
        return suite.violations
    }

    /// Checks that a cache finds its models again after the program was started again, except for those that it may keep
    /// in memory only.
    ///
    /// ```swift
    /// let violations = await AsyncCacheConformance.checkRestart { try ModelCache(directory: path) } closing: { cache in
    ///     await (cache as? ModelCache)?.flush()
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - open: Opens the cache at the same place, which is empty at the first call. It is called three times.
    ///   - closing: Writes what waits. The default does nothing.
    /// - Returns: What the cache does wrong, as ``check(make:)``.
    public static func checkRestart(
        open: @escaping @Sendable () async throws -> any AsyncCache,
        closing: @Sendable (any AsyncCache) async throws -> Void = { _ in }
    ) async -> [String] {
        var suite = AsyncCacheConformance(make: open)
        await suite.checkRestart(closing)
        return suite.violations
    }

    // MARK: Tools

    /// Two types with one encoding, so that a cache that ignores types finds one as the other.
    struct Model: Codable, Sendable, Equatable {
        var number: Int
        var text: String
    }

    struct OtherModel: Codable, Sendable, Equatable {
        var number: Int
        var text: String
    }

    static let date = Date(timeIntervalSinceReferenceDate: 800_000_000.123)

    static func model(_ number: Int, _ text: String = "x", after seconds: Double = 0) -> CachedModel<Model> {
        CachedModel(Model(number: number, text: text), date: date.addingTimeInterval(seconds))
    }

    /// Makes a cache for a group of checks. What it throws is a violation.
    mutating func group(
        _ name: String, _ body: (any AsyncCache, inout AsyncCacheConformance) async throws -> Void
    ) async {
        do {
            try await body(make(), &self)
        } catch {
            violations.append("\(name): The cache has thrown an error, which is not expected here: \(error)")
        }
    }

    mutating func expect(_ condition: Bool, _ violation: @autoclosure () -> String) {
        if !condition { violations.append(violation()) }
    }

    /// Checks what is found under a key.
    mutating func expect<Value: Codable & Sendable & Equatable>(
        _ cache: any AsyncCache, _ key: ModelKey<Value>, _ expected: CachedModel<Value>?, _ situation: String,
        _ rule: String
    ) async throws {
        let found = try await cache.load(key)
        let contains = try await cache.contains(key)
        switch (expected, found) {
        case (nil, nil):
            expect(!contains, "\(situation): contains returns true, but load finds no model. Both must agree.")
        case (nil, .some): violations.append("\(situation): A model is found. \(rule)")
        case (.some, nil): violations.append("\(situation): No model is found. \(rule)")
        case (.some(let expected), .some(let found)):
            expect(contains, "\(situation): contains returns false, but load finds a model. Both must agree.")
            expect(
                found.value == expected.value,
                "\(situation): Another model is found: \(Self.short(found.value)) instead of "
                    + "\(Self.short(expected.value)). \(rule)")
            let difference = abs(found.date.timeIntervalSince(expected.date))
            expect(
                difference < 0.001 + 0x1p-20,
                "\(situation): The date of the model differs by \(difference) seconds. A cache must keep the date with "
                    + "which a model was saved, to the millisecond.")
        }
    }

    private static func short(_ value: some Sendable) -> String {
        let text = "\(value)"
        return text.utf8.count > 200 ? "\(text.prefix(80))…" : text
    }
}

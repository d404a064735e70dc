import EssentialsHTTP
public import EssentialsRequests
import FoundationEssentials

/// Checks that a store keeps responses as a `ResponseCache` expects it.
///
/// ```swift
/// let violations = await ResponseStoreConformance.check { RedisStore(client, prefix: "test") }
/// #expect(violations == [])
/// ```
///
/// The suite needs no test library. It takes less than a second for a store in memory.
public struct ResponseStoreConformance: Sendable {
    typealias Make = @Sendable () async throws -> any ResponseStore

    let make: Make
    var violations: [String] = []

    /// Checks a store.
    ///
    /// - Parameter make: Creates an empty store, which shares no responses with earlier ones. It must hold 60 responses and
    ///   1 MiB. It is called about fifteen times.
    /// - Returns: What the store does wrong: for each violation a sentence on what was found, and one on what is expected. The
    ///   list is empty if the store conforms.
    public static func check(make: @escaping @Sendable () async throws -> any ResponseStore) async -> [String] {
        var suite = ResponseStoreConformance(make: make)
        await suite.checkRoundTrip()
        await suite.checkBodies()
        await suite.checkVariants()
        await suite.checkKeys()
        await suite.checkOrder()
        await suite.checkConfirmation()
        await suite.checkPieces()
        await suite.checkInvalidation()
        await suite.checkLateResponses()
        await suite.checkRemoval()
        await suite.checkLeases()
        await suite.checkConcurrency()
        return suite.violations
    }

    /// Checks that a store outside the process finds its responses again after the program was started again, and does not
    /// find what was removed.
    ///
    /// - Parameter open: Opens the store at the same place, which is empty at the first call. It is called three times.
    /// - Returns: What the store does wrong, as ``check(make:)``.
    public static func checkRestart(open: @escaping @Sendable () async throws -> any ResponseStore) async -> [String] {
        var suite = ResponseStoreConformance(make: open)
        await suite.checkRestart()
        return suite.violations
    }

    // MARK: Tools

    /// Makes a store for a group of checks. What that throws is a violation.
    mutating func group(
        _ name: String, _ body: (any ResponseStore, inout ResponseStoreConformance) async throws -> Void
    ) async {
        do {
            try await body(make(), &self)
        } catch {
            violations.append("\(name): The store has thrown an error, which is not expected here: \(error)")
        }
    }

    mutating func expect(_ condition: Bool, _ violation: @autoclosure () -> String) {
        if !condition { violations.append(violation()) }
    }

    /// A URL of one of two origins.
    static func url(_ path: String, origin: String = "https://one.example") throws -> RequestURL {
        try RequestURL(origin + "/" + path)
    }

    /// Stores a response that is asked for now.
    static func put(
        _ response: StoredResponse, _ body: Data, _ key: ResponseKey, in store: any ResponseStore,
        replacing: UInt64? = nil
    ) async -> Bool {
        guard let ticket = await store.ticket(for: key) else { return false }
        return await store.store(response, body, for: key, replacing: replacing, since: ticket)
    }

    /// The tags of what is found under a key, in order.
    static func tags(_ key: ResponseKey, in store: any ResponseStore) async -> [String] {
        await store.lookup(key).responses.map { ($0.sampleTag ?? "").replacingQuotes }.sorted()
    }

    /// The bytes of a response's body.
    static func bytes(of response: StoredResponse, _ key: ResponseKey, in store: any ResponseStore) async -> Data? {
        await store.body(of: response, for: key)?.all()
    }
}

extension String {
    fileprivate var replacingQuotes: String { filter { $0 != "\"" } }
}

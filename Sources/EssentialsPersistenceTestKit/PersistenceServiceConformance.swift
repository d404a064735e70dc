public import EssentialsPersistence

/// One thing that every persistence service does, and a check of it that uses the protocol alone.
///
/// Another engine, or a service that wraps one, is checked by all of them:
///
/// ```swift
/// for part in PersistenceServiceConformance.all {
///     let violations = await part.violations {
///         DatabaseService(.temporary(models: PersistenceServiceConformance.models))
///     }
///     #expect(violations == [], "\(part)")
/// }
/// ```
///
/// The suite needs no test library. SQL in filters is not checked, because a service without SQL refuses it.
public struct PersistenceServiceConformance: Sendable, CustomStringConvertible {
    typealias Make = @Sendable () async throws -> any PersistenceService

    /// What is checked, as a sentence that is true of a service that conforms.
    public let name: String
    let body: @Sendable (ConformanceRun) async throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (ConformanceRun) async throws -> Void) {
        self.name = name
        self.body = body
    }

    /// The name.
    public var description: String { name }

    /// All parts that need only an empty store.
    public static let all: [PersistenceServiceConformance] =
        readingParts + modelParts + changingParts + scopeParts + conflictParts + constraintParts + observationParts
        + callParts + concurrencyParts

    /// Checks a service.
    ///
    /// - Parameters:
    ///   - limit: How long the check may take. A check that takes longer, because a call never ends or an observer is never
    ///     called, is a violation. The default is 60 seconds.
    ///   - make: Creates a service over an empty store with the tables of ``models``. It is called a few times.
    /// - Returns: What the service does wrong: for each violation the name of this part, what was checked, and what was
    ///   found. The list is empty if the service conforms.
    public func violations(
        limit: Duration = .seconds(60), make: @escaping @Sendable () async throws -> any PersistenceService
    ) async -> [String] {
        await ConformanceRun(name, make).violations(within: limit, body)
    }

    /// Checks that a store keeps what was saved when it is closed, and nothing that was pending.
    ///
    /// - Parameters:
    ///   - limit: As for ``violations(limit:make:)``.
    ///   - open: Opens the store at the same place, which is empty at the first call. It is called three times. The service
    ///     before is closed.
    /// - Returns: What the service does wrong.
    public static func checkRestart(
        limit: Duration = .seconds(60), open: @escaping @Sendable () async throws -> any PersistenceService
    ) async -> [String] {
        await ConformanceRun("A closed store is as it was saved", open).violations(within: limit, restart)
    }

    /// Checks a service whose store is opened in the background.
    ///
    /// - Parameters:
    ///   - limit: As for ``violations(limit:make:)``.
    ///   - make: Creates a service over an empty store, which is not opened before the returned closure is called.
    /// - Returns: What the service does wrong.
    public static func checkOpening(
        limit: Duration = .seconds(60),
        make: @escaping @Sendable () async throws -> (service: any PersistenceService, open: @Sendable () -> Void)
    ) async -> [String] {
        let run = ConformanceRun("Calls wait for a store that is being opened") {
            throw PersistenceFailure(.file, "This check makes its service itself.")
        }
        return await run.violations(within: limit) { run in
            let (service, open) = try await make()
            try await opening(run, run.using(service), open)
        }
    }

    /// Checks a service whose store cannot be opened.
    ///
    /// - Parameters:
    ///   - reason: Why it cannot be opened.
    ///   - limit: As for ``violations(limit:make:)``.
    ///   - make: Creates the service.
    /// - Returns: What the service does wrong.
    public static func checkFailedOpening(
        _ reason: PersistenceFailure.Reason, limit: Duration = .seconds(60),
        make: @escaping @Sendable () async throws -> any PersistenceService
    ) async -> [String] {
        await ConformanceRun("Every call says why a store could not be opened", make).violations(within: limit) { run in
            try await failedOpening(run, reason)
        }
    }
}

import Dispatch
import EssentialsPersistence
import EssentialsTools

/// A check while it runs: what is found, and the services that are made for it.
final class ConformanceRun: Sendable {
    /// Ends a check whose rest would only repeat what is wrong.
    struct Stop: Error {}

    private struct State {
        var violations: [String] = []
        var services: [any PersistenceService] = []
        var isEnded = false
    }

    private let name: String
    private let make: PersistenceServiceConformance.Make
    private let state = Mutex(State())

    init(_ name: String, _ make: @escaping PersistenceServiceConformance.Make) {
        self.name = name
        self.make = make
    }

    /// Runs the check, and returns the violations. A check that does not end in time goes on, but is no longer heard.
    func violations(
        within limit: Duration, _ body: @escaping @Sendable (ConformanceRun) async throws -> Void
    ) async -> [String] {
        await withCheckedContinuation { continuation in
            let task = Task {
                do {
                    try await body(self)
                } catch is Stop {
                } catch {
                    add("A call that must succeed has failed: \(error)")
                }
                for service in state.withLock({ $0.services }) { await service.close() }
                end { continuation.resume(returning: $0) }
            }
            let (seconds, attoseconds) = limit.components
            let time = DispatchTimeInterval.nanoseconds(
                Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
            DispatchQueue.global().asyncAfter(deadline: .now() + time) { [self] in
                end { violations in
                    task.cancel()
                    let text = "It has not ended within \(limit). A call does not end, or an observer is not called."
                    continuation.resume(returning: violations + ["\(name): \(text)"])
                }
            }
        }
    }

    /// Calls a closure with the violations, unless it was done before.
    private func end(_ body: ([String]) -> Void) {
        let violations = state.withLock { state -> [String]? in
            guard !state.isEnded else { return nil }
            state.isEnded = true
            return state.violations
        }
        if let violations { body(violations) }
    }

    // MARK: Services

    /// A service over an empty store, which is closed at the end.
    func store() async throws -> any PersistenceService { using(try await make()) }

    /// Takes a service over, which is closed at the end.
    func using(_ service: any PersistenceService) -> any PersistenceService {
        state.withLock { $0.services.append(service) }
        return service
    }

    // MARK: Expectations

    func add(_ violation: String) { state.withLock { $0.violations.append("\(name): \(violation)") } }

    /// Expects a condition. The text says what is expected.
    func expect(_ condition: Bool, _ text: @autoclosure () -> String) { if !condition { add(text()) } }

    /// Expects a value. The text names it.
    func expect<Value: Equatable>(_ found: Value, _ expected: Value, _ text: @autoclosure () -> String) {
        guard found != expected else { return }
        add("\(text()) must be \(Self.short(expected)), and is \(Self.short(found)).")
    }

    /// Expects that a call fails for a reason, and returns the failure. The text names the call.
    @discardableResult
    func expect(
        _ reason: PersistenceFailure.Reason, _ text: String, _ body: () async throws -> Void
    ) async throws -> PersistenceFailure {
        do {
            try await body()
        } catch let failure as PersistenceFailure {
            expect(failure.reason == reason, "\(text) must fail as \(reason), and has failed as \(failure.reason).")
            return failure
        } catch {
            add("\(text) must fail as \(reason), and has thrown \(type(of: error)), which is no PersistenceFailure.")
            throw Stop()
        }
        add("\(text) must fail as \(reason), and succeeds.")
        throw Stop()
    }

    /// A value that must be there. The text names it.
    func require<Value>(_ value: Value?, _ text: String) throws -> Value {
        if let value { return value }
        add("\(text) is missing.")
        throw Stop()
    }

    private static func short(_ value: some Any) -> String {
        let text = "\(value)"
        return text.utf8.count > 300 ? "\(text.prefix(150))…" : text
    }

    // MARK: Other forms of calls

    /// Runs a closure on a thread that may block.
    func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            // A serial queue has a thread of its own.
            DispatchQueue(label: "conformance").async { continuation.resume(with: Result { try body() }) }
        }
    }
}

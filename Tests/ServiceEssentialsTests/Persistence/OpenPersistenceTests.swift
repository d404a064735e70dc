import EssentialsTools
import ServiceEssentials
import Testing

/// A scope that remembers whether it was closed, and does nothing else.
private final class ScopeDouble: PersistenceService {
    let name: String
    let isClosed = Mutex(false)
    let resolution: ConflictResolution?
    let children = Mutex<[ScopeDouble]>([])

    init(_ name: String, resolving resolution: ConflictResolution? = nil) {
        self.name = name
        self.resolution = resolution
    }

    var state: PersistenceState { isClosed.withLock { $0 } ? .closed : .ready }

    func run(_ job: PersistenceJob) { job.finish(.failure(PersistenceFailure(.closed, "The double has no rows."))) }

    func child(
        _ name: String, resolving resolution: ConflictResolution?
    ) throws(PersistenceFailure) -> any PersistenceService {
        let child = ScopeDouble(name, resolving: resolution)
        children.withLock { $0.append(child) }
        return child
    }

    func observeChanges(
        _ observer: @escaping @Sendable (PersistenceChange) -> Void
    ) throws(PersistenceFailure) -> PersistenceObservation { PersistenceObservation {} }

    func close() async { isClosed.withLock { $0 = true } }
}

@Suite("Scopes of persistence in a locator", .timeLimit(.minutes(5)))
struct OpenPersistenceTests {
    private let app = ServiceLocator(name: "app")
    private let double = ScopeDouble("store")

    init() throws { try app.register(double, as: (any PersistenceService).self) }

    @Test("A workflow's locator has a scope of its own, which is closed with it; the store stays open")
    func workflow() async throws {
        let edits = try await app.withScope("edit") { workflow in
            let edits = try workflow.openPersistence()
            #expect(edits.name == "edit")
            let step = ServiceLocator(name: "step", parent: workflow)
            #expect(try step.resolve((any PersistenceService).self) === edits)
            #expect(edits.state == .ready)
            return edits
        }
        #expect(edits.state == .closed)
        #expect(double.state == .ready)
        #expect(try app.resolve((any PersistenceService).self) === double)
    }

    @Test("A workflow that throws drops its scope")
    func throwing() async throws {
        struct Stop: Error {}
        await #expect(throws: Stop.self) {
            try await app.withScope("edit") { workflow in
                try workflow.openPersistence()
                throw Stop()
            }
        }
        #expect(double.children.withLock { $0.map(\.state) } == [.closed])
    }

    @Test("Scopes within scopes belong to the nearest one above")
    func nested() async throws {
        try await app.withScope("outer") { outer in
            let first = try #require(try outer.openPersistence() as? ScopeDouble)
            try await outer.withScope("inner") { inner in
                let second = try inner.openPersistence("named", resolving: .mine)
                #expect(second.name == "named")
                #expect(first.children.withLock { $0.first } === second)
            }
            #expect(first.state == .ready)
            #expect(first.children.withLock { $0.first?.state } == .closed)
        }
    }

    @Test("A second scope in one locator, and a scope without a store, are errors that say so")
    func errors() async throws {
        try await app.withScope("edit") { workflow in
            try workflow.openPersistence()
            let error = #expect(throws: ServiceLocatorError.self) { try workflow.openPersistence() }
            #expect(error?.reason == .duplicate)
        }
        let error = #expect(throws: ServiceLocatorError.self) { try ServiceLocator(name: "empty").openPersistence() }
        #expect(error?.reason == .missing)
    }
}

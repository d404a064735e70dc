import EssentialsTools
import Testing

@testable import EssentialsPersistence

/// Observations of a service that implements only the six requirements.
@Suite(.timeLimit(.minutes(5)))
struct ServiceObservationTests {
    private let service = MemoryService()

    @Test("A service without its own states can be observed, and reports its present state")
    func defaults() async throws {
        var films = service.observe(Film.all).makeAsyncIterator()
        #expect(try await films.next() == [])
        try await service.create(Film(title: "M", year: 1931), save: .store)
        #expect(try await films.next()?.map(\.title) == ["M"])
        var states = service.states.makeAsyncIterator()
        #expect(await states.next() == .ready)
        #expect(try await service.fetchWithOrigins(Film.all).map(\.origin) == [.stored])
    }

    @Test("A change of unknown rows is reported as unknown")
    func unknown() async throws {
        var changes = service.changes(in: Film.self).makeAsyncIterator()
        try await service.create(Film(title: "M", year: 1931), save: .store)
        #expect(try await changes.next() == .unknown)
    }

    @Test("If more ids change than are kept, they become a change of unknown rows")
    func manyIDs() async throws {
        let service = MemoryService()
        var changes = service.changes(in: Film.self).makeAsyncIterator()
        let observer = try #require(service.contents.withLock { $0.observers[0] })
        func change() -> PersistenceChange {
            PersistenceChange(["film": .ids(Set((0..<5000).map { _ in .blob(ModelID<Film>().bytes) }))])
        }
        observer(change())
        observer(change())
        guard case .ids(let ids)? = try await changes.next() else {
            Issue.record("The ids are not known.")
            return
        }
        #expect(ids.count == 10_000)
        for _ in 0..<3 { observer(change()) }
        #expect(try await changes.next() == .unknown)
    }

    @Test("An observation ends with its task while it waits for a change")
    func cancelling() async throws {
        let service = service
        let (started, continuation) = AsyncStream<Void>.makeStream()
        let task = Task {
            for try await _ in service.observe(Film.all) { continuation.yield() }
            for try await _ in service.changes(in: Film.self) {}
            return true
        }
        for await _ in started { break }
        task.cancel()
        #expect(try await task.value)
    }
}

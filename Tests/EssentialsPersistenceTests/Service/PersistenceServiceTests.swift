import Dispatch
import EssentialsTools
import Testing

@testable import EssentialsPersistence

/// The features that are built on the six requirements.
struct PersistenceServiceTests {
    private let service = MemoryService()
    private let metropolis = Film(title: "Metropolis", year: 1926)
    private let faust = Film(title: "Faust", year: 1926)
    private let m = Film(title: "M", year: 1931)

    private func filled() async throws -> MemoryService {
        try await service.create([metropolis, faust, m], save: .store)
        return service
    }

    /// The failure of a call; `nil` if it succeeds.
    private func reason(_ body: () async throws -> Void) async -> PersistenceFailure? {
        do {
            try await body()
            return nil
        } catch {
            return error as? PersistenceFailure
        }
    }

    @Test("Models are fetched by queries and by ids")
    func fetching() async throws {
        let service = try await filled()
        #expect(try await service.fetch(Film.all) == [metropolis, faust, m])
        #expect(try await service.first(Film.where { $0.year == 1926 }) == metropolis)
        #expect(try await service.first(Film.where { $0.year == 1900 }) == nil)
        #expect(try await service.one(Film.where { $0.title == "M" }) == m)
        #expect(try await service.find(Film.self, id: faust.id) == faust)
        #expect(try await service.find(Film.self, id: ModelID<Film>()) == nil)
        #expect(try await service.ids(Film.all.limit(2)) == [metropolis.id, faust.id])
        #expect(try await service.values(Film.all.values { $0.year }) == [1926, 1926, 1931])
        #expect(try await service.count(Film.where { $0.year == 1926 }) == 2)
        #expect(try await service.exists(Film.where { $0.year == 1931 }))
        #expect(try await service.fetch(Film.all) { $0.title } == ["Metropolis", "Faust", "M"])
    }

    @Test("Values are summed, compared and counted")
    func aggregates() async throws {
        let service = try await filled()
        let years = Film.all.values { $0.year }
        #expect(try await service.sum(years) == 5783)
        #expect(try await service.min(years) == 1926)
        #expect(try await service.max(years) == 1931)
        #expect(try await service.average(years) == 5783.0 / 3)
        #expect(try await service.counts(by: years) == [1926: 2, 1931: 1])
        let none = Film.where { $0.year == 1900 }.values { $0.year }
        #expect(try await service.sum(none) == 0)
        #expect(try await service.max(none) == nil)
        #expect(try await service.average(none) == nil)
    }

    @Test("A fetch of exactly one row fails as notFound if the query finds no row")
    func noRow() async throws {
        let service = try await filled()
        let failure = await reason { _ = try await service.one(Film.where { $0.year == 1900 }) }
        #expect(failure?.reason == .notFound)
        #expect(failure?.model == "film")
    }

    @Test("Models are fetched in the order of their ids, duplicates included, and missing ids are named")
    func fetchingByIDs() async throws {
        let service = try await filled()
        #expect(try await service.fetch(Film.self, ids: [m.id, faust.id, m.id]) == [m, faust, m])
        let absent = ModelID<Film>()
        let failure = await reason { _ = try await service.fetch(Film.self, ids: [m.id, absent]) }
        #expect(failure?.reason == .notFound)
        #expect(failure?.ids == [.blob(absent.bytes)])
        #expect(try await service.fetch(Film.self, ids: [absent, m.id], missing: .ignore) == [m])
    }

    @Test("Children are fetched with the rows that they refer to")
    func relations() async throws {
        let ufa = Studio(name: "Ufa")
        let film = Film(title: "Metropolis", year: 1926, studioID: ufa.id)
        try await service.create(ufa, save: .store)
        try await service.create([film, m], save: .store)
        let pairs = try await service.fetch(Film.all, with: Film.studio)
        let found = Dictionary(uniqueKeysWithValues: pairs.map { ($0.0.title, $0.1?.name) })
        #expect(found == ["Metropolis": "Ufa", "M": nil])
        #expect(service.plans.last?.tables == ["film", "studio"])
    }

    @Test("A failed creation creates none of the rows")
    func creating() async throws {
        let service = try await filled()
        let new = Film(title: "Nosferatu", year: 1922)
        let failure = await reason { try await service.create([new, faust], save: .store) }
        #expect(failure?.reason == .constraint)
        #expect(failure?.ids == [.blob(faust.id.bytes)])
        #expect(try await service.count(Film.all) == 3)
        let twice = await reason { try await service.create([new, new], save: .store) }
        #expect(twice?.reason == .invalidModel)
        let thrown = await reason {
            try await service.create(from: ["a", ""], save: .store) { title in
                if title.isEmpty { throw CancellationError() }
                return Film(title: title, year: 1)
            }
        }
        #expect(thrown?.reason == .work)
        #expect(try await service.count(Film.all) == 3)
        #expect(try await service.create(from: [String](), save: .store) { Film(title: $0, year: 1) } == 0)
    }

    @Test("A value that does not fit its column is refused before it is pending")
    func types() async {
        let absent = await reason { try await service.create(Mistaken(id: 1, count: nil), save: .pending) }
        #expect(absent?.reason == .invalidModel)
        #expect(absent?.message.contains("count") == true)
        let text = await reason { try await service.create(Mistaken(id: 1, count: "one"), save: .pending) }
        #expect(text?.reason == .invalidModel)
        #expect(text?.message.contains("TEXT") == true)
        #expect(text?.ids == [.integer(1)])
    }

    @Test("Put creates rows and replaces existing ones, except for columns outside the model")
    func putting() async throws {
        let service = try await filled()
        setNote("kept", of: m.id)
        var edited = m
        edited.year = 1932
        try await service.put([edited, Film(title: "Nosferatu", year: 1922)], save: .store)
        #expect(try await service.count(Film.all) == 4)
        #expect(service.row(m.id, in: "film")?["year"] == 1932)
        #expect(service.row(m.id, in: "film")?["note"] == "kept")
    }

    private func setNote(_ note: String, of id: ModelID<Film>, premiere: StoredValue = .null) {
        service.contents.withLock { state in
            guard let key = id.storedValue, let row = state.tables["film"]?[key] else { return }
            var values = row.values
            for (name, value) in [("note", StoredValue.text(note)), ("premiere", premiere)] {
                if let index = row.layout.index(of: name) { values[index] = value }
            }
            state.tables["film"]?[key] = StoredRow(row.layout, values)
        }
    }

    @Test("An update keeps the stored bytes of all columns that it does not change")
    func updating() async throws {
        let service = try await filled()
        setNote("kept", of: m.id, premiere: "1931-05-11 20:00:00")
        try await service.update(m.id, save: .store) { $0.year = 1932 }
        let row = try #require(service.row(m.id, in: "film"))
        #expect(row["year"] == 1932)
        #expect(row["premiere"] == "1931-05-11 20:00:00")
        #expect(row["note"] == "kept")
        #expect(try await service.update(Film.where { $0.year == 1926 }, save: .store) { $0.year = 1927 } == 2)
        #expect(try await service.count(Film.where { $0.year == 1927 }) == 2)
    }

    @Test("An update that throws, or that changes the id, changes nothing")
    func failingUpdates() async throws {
        let service = try await filled()
        let thrown = await reason {
            try await service.update(Film.all, save: .store) { film in
                film.year = 1
                if film.title == "M" { throw CancellationError() }
            }
        }
        #expect(thrown?.reason == .work)
        #expect(thrown?.underlying is CancellationError)
        let other = await reason { try await service.update(m.id, save: .store) { $0.id = ModelID<Film>() } }
        #expect(other?.reason == .invalidModel)
        let absent = await reason { try await service.update(ModelID<Film>(), save: .store) { (_: inout Film) in } }
        #expect(absent?.reason == .notFound)
        #expect(try await service.fetch(Film.all) == [metropolis, faust, m])
    }

    @Test("An edit is compared with the value that was shown")
    func editing() throws {
        let coder = try ModelCoder<Film>(#require(MemoryService.layouts["film"]))
        let stored = try coder.row(m)
        var edited = m
        edited.title = "M - Eine Stadt sucht einen Mörder"
        let unchanged = try #require(try coder.edit(edited, from: m, row: stored))
        #expect(unchanged.base == stored)
        #expect(unchanged.row["title"] == .text(edited.title))
        var others = m
        others.year = 1930
        let now = try coder.row(others)
        let changed = try #require(try coder.edit(edited, from: m, row: now))
        #expect(changed.base == stored)
        #expect(changed.row["year"] == 1931)
        #expect(try coder.edit(m, from: m, row: now) == nil)
    }

    @Test("A deletion by a query may find no row, but a deletion by ids must find all")
    func deleting() async throws {
        let service = try await filled()
        #expect(try await service.delete(Film.where { $0.year == 1900 }, save: .store) == 0)
        #expect(try await service.delete(Film.where { $0.year == 1926 }, save: .store) == 2)
        let absent = ModelID<Film>()
        let failure = await reason { try await service.delete(Film.self, ids: [m.id, absent], save: .store) }
        #expect(failure?.reason == .notFound)
        #expect(failure?.ids == [.blob(absent.bytes)])
        #expect(try await service.count(Film.all) == 1)
        #expect(try await service.delete(Film.self, ids: [m.id, absent], missing: .ignore, save: .store) == 1)
    }

    @Test("A unit of work makes all of its changes, or none if it throws")
    func units() async throws {
        let service = try await filled()
        let failure = await reason {
            try await service.perform(save: .store) { work in
                try work.delete(Film.all)
                #expect(try work.count(Film.all) == 0)
                throw PersistenceFailure(.limit, "Enough.")
            }
        }
        #expect(failure?.reason == .limit)
        let title = try await service.perform(save: .store) { work in
            try work.update(m.id) { $0.year = 1932 }
            return try work.one(Film.where { $0.year == 1932 }).title
        }
        #expect(title == "M")
        #expect(try await service.read { try $0.count(Film.where { $0.year == 1926 }) } == 2)
    }

    @Test("A service receives the level, the resolution and the tables of each call")
    func plans() async throws {
        try await service.create(m, save: .pending, resolving: .mine)
        try await service.update(Film.where { $0.studioID.isIn(Studio.all.values { $0.id }) }, save: .parent) { _ in }
        _ = try await service.fetch(Film.where { _ in .sql("1") })
        try await service.rollback()
        try await service.discard(Film.self, ids: [m.id])
        #expect(try await service.save(.store).updated == 7)
        #expect(try await service.validate().updated == 7)
        let plans = service.plans
        #expect(
            plans.map(\.action) == [
                .change(.pending), .change(.parent), .read, .rollback,
                .discard(table: "film", ids: [.blob(m.id.bytes)]), .change(.store), .validate,
            ])
        #expect(plans.map(\.tables) == [["film"], ["film", "studio"], nil, [], [], [], []])
        #expect(plans[0].resolution != nil)
        #expect(plans[1].resolution == nil)
    }

    @Test("A conflict can be decided with a model")
    func decisions() throws {
        let layout = try #require(MemoryService.layouts["film"])
        var theirs = try ModelCoder<Film>(layout).row(m)
        theirs = theirs.replacing([8], from: try #require(StoredRow(layout, Array(repeating: "note", count: 9))))
        let key = try #require(m.id.storedValue)
        let conflict = Conflict(
            table: "film", id: key, change: .update, columns: ["year"], base: nil, mine: nil, theirs: theirs)
        var film = m
        film.year = 1933
        guard case .row(let row) = try ConflictDecision.model(film, for: conflict).kind else {
            Issue.record("The decision is no row.")
            return
        }
        #expect(row["year"] == 1933)
        #expect(row["note"] == "note")
        #expect(throws: PersistenceFailure.self) { try ConflictDecision.model(faust, for: conflict) }
    }

    @Test("A change reports which rows it may have touched")
    func changes() {
        let change = PersistenceChange(["film": .ids([1, 2]), "studio": .unknown])
        #expect(change.touches("film") && change.touches("film", ids: [2, 3]) && change.touches("studio", ids: [9]))
        #expect(!change.touches("person") && !change.touches("film", ids: [3]))
        #expect(PersistenceChange.unknown.touches("film", ids: [3]) && PersistenceChange.unknown.touches("person"))
    }

    @Test("An observation ends when it is cancelled")
    func observing() async throws {
        let count = Mutex(0)
        let observation = try service.observeChanges { _ in count.withLock { $0 += 1 } }
        try await service.create(m, save: .store)
        observation.cancel()
        try await service.create(faust, save: .store)
        #expect(count.withLock { $0 } == 1)
    }
}

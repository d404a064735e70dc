import Testing

@testable import EssentialsPersistence

@Suite struct PersistenceFailureTests {
    @Test("Every reason has a distinct name, and every reason except cancelled has a remedy")
    func reasons() {
        let reasons = PersistenceFailure.Reason.all
        #expect(Set(reasons.map(\.name)).count == reasons.count)
        #expect(reasons.filter { $0.remedy == nil } == [.cancelled])
        #expect(reasons.contains(.newerSchema) && PersistenceFailure.Reason.newerSchema.name == "newerSchema")
    }

    @Test("Errors of the caller's code and of a store that is not open have the codes of earlier services")
    func legacyCodes() {
        #expect(PersistenceFailure(.work, "").legacyCode == 2000)
        #expect(PersistenceFailure(.notReady, "").legacyCode == 2001)
        #expect(PersistenceFailure(.opening, "").legacyCode == 2001)
        #expect(PersistenceFailure.Reason.all.filter { $0.legacyCode != nil }.count == 3)
    }

    @Test("The failure to open a store keeps its reason, unless the reason concerns a call")
    func opening() {
        let kept: [PersistenceFailure.Reason] = [
            .notReady, .opening, .closed, .busy, .full, .readOnly, .corrupt, .newerSchema, .schemaMismatch, .migration,
            .file,
            .limit,
        ]
        for reason in PersistenceFailure.Reason.all {
            let failure = PersistenceFailure(reason, "Text.", underlying: CancellationError()).ofOpening()
            #expect(failure.reason == (kept.contains(reason) ? reason : .opening))
            #expect(failure.legacyCode == 2001 && failure.message == "Text." && failure.underlying is CancellationError)
        }
    }

    @Test("A description has the reason, message, remedy, model and the first ids")
    func description() {
        let failure = PersistenceFailure(.notFound, "There is no such row.", model: "film", ids: [1, 2, 3, 4, "x"])
        #expect(
            "\(failure)"
                == "notFound: There is no such row. Fetch the rows again. film 1, 2, 3 and 2 more")
    }

    @Test("A failure keeps the first model and the first store that it is given")
    func naming() {
        let failure = PersistenceFailure(.limit, "Too much.").naming(model: "a").naming(model: "b").naming(store: "s")
        #expect(failure.model == "a")
        #expect(failure.naming(store: "t").store == "s")
        #expect(failure == PersistenceFailure(.limit, "Other text.", store: "s", model: "a"))
        #expect(failure != PersistenceFailure(.busy, "Too much.", store: "s", model: "a"))
    }

    @Test("The rows of a conflict are read as models")
    func conflict() throws {
        let layout = RowLayout(Studio.columns.all.map(\.name))
        let studio = Studio(name: "Ufa")
        let row = try RowEncoder.row(studio, layout: layout)
        let conflict = Conflict(
            table: "studio", id: .blob(studio.id.bytes), change: .delete, base: row, mine: nil, theirs: row)
        let models = try conflict.models(of: Studio.self)
        #expect(models.base == studio && models.mine == nil && models.theirs == studio)
    }
}

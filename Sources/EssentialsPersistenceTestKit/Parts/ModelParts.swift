import EssentialsPersistence
import FoundationEssentials

extension PersistenceServiceConformance {
    static let modelParts = [
        Self("Ids of all types are known before a row is saved, and are the same afterwards", ids),
        Self("Values of all types are found as they were made, pending and stored", values),
        Self("Filters compare values as Swift does, and texts by their bytes", filters),
        Self("Filters combine, and a negated filter finds all other rows", combinedFilters),
        Self("Values are sorted as they are compared", orders),
        Self("Columns outside the model keep their values", otherColumns),
        Self("Reserved ids belong to nobody else", reservedIDs),
    ]

    private static func ids(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        let scope = try store.child("scope")
        let film = Film(title: "M", year: 1931)
        let award = Award(filmID: film.id)
        let scene = Scene(id: "opening: the ball", filmID: film.id)
        try await scope.create(Studio(id: -7, name: "Nero"), save: .pending)
        try await scope.create(film, save: .pending)
        try await scope.create(award, save: .pending)
        try await scope.create(scene, save: .pending)
        for level in SaveLevel.allCases {
            try await scope.save(level)
            let reader = level == .store ? store : scope
            run.expect(
                try await reader.find(Studio.self, id: -7)?.name, "Nero", "A row with an integer as id (\(level))")
            run.expect(try await reader.find(Film.self, id: film.id), film, "A row with a model id (\(level))")
            run.expect(try await reader.find(Award.self, id: award.id), award, "A row with a UUID as id (\(level))")
            run.expect(try await reader.find(Scene.self, id: scene.id), scene, "A row with a text as id (\(level))")
            run.expect(
                try await reader.ids(Scene.where { $0.filmID == film.id }), [scene.id],
                "The ids of rows that refer to an id (\(level))")
        }
    }

    /// The samples, some of them in the store, and some pending in a scope.
    private static func specimens(_ run: ConformanceRun) async throws -> [any PersistenceService] {
        let stored = try await run.store()
        try await stored.create(Specimen.samples, save: .store)
        let mixed = try await run.store()
        try await mixed.create(Specimen.samples.filter { $0.id % 2 == 0 }, save: .store)
        let scope = try mixed.child("scope")
        try await scope.create(Specimen.samples.filter { $0.id % 2 != 0 }, save: .pending)
        return [stored, scope]
    }

    private static func values(_ run: ConformanceRun) async throws {
        for reader in try await specimens(run) {
            let found = try await reader.fetch(Specimen.all)
            run.expect(found.count, Specimen.samples.count, "The number of rows")
            for (sample, other) in zip(Specimen.samples, found) {
                run.expect(other, sample, "A row")
                // Texts that look alike are equal in Swift.
                run.expect(Array(other.text.utf8), Array(sample.text.utf8), "The bytes of a text")
            }
        }
        let store = try await run.store()
        try await run.expect(.invalidModel, "A text with a NUL character") {
            try await store.create(Specimen(id: 1, text: "a\u{0}"), save: .pending)
        }
        try await run.expect(.invalidModel, "A number that is not a number") {
            try await store.create(Specimen(id: 1, text: "", real: .nan), save: .pending)
        }
        run.expect(try await store.count(Specimen.all), 0, "The number of rows afterwards")
    }

    /// Expects a filter to find the samples that a closure accepts.
    private static func expect(
        _ run: ConformanceRun, _ readers: [any PersistenceService], _ text: String,
        _ filter: (Specimen.Columns) -> Filter<Specimen>, _ isIncluded: (Specimen) -> Bool
    ) async throws {
        for reader in readers {
            run.expect(
                try await reader.ids(Specimen.where(filter)), Specimen.samples.filter(isIncluded).map(\.id),
                "The ids of the rows with \(text)")
        }
    }

    private static func filters(_ run: ConformanceRun) async throws {
        let readers = try await specimens(run)
        for sample in Specimen.samples {
            let (text, note, number, real) = (sample.text, sample.note, sample.number, sample.real)
            let bytes = Array(text.utf8)
            func less(_ one: String, _ other: String) -> Bool { one.utf8.lexicographicallyPrecedes(other.utf8) }
            try await expect(run, readers, "text == \(text.debugDescription)", { $0.text == text }) {
                Array($0.text.utf8) == bytes
            }
            try await expect(run, readers, "text < \(text.debugDescription)", { $0.text < text }) {
                less($0.text, text)
            }
            try await expect(run, readers, "note != \(note.debugDescription)", { $0.note != note }) {
                $0.note.map { Array($0.utf8) } != note.map { Array($0.utf8) }
            }
            try await expect(run, readers, "number == \(number.debugDescription)", { $0.number == number }) {
                $0.number == number
            }
            try await expect(run, readers, "number >= \(number.debugDescription)", { $0.number >= number }) { other in
                other.number.flatMap { one in number.map { one >= $0 } } ?? false
            }
            try await expect(run, readers, "real <= \(real.debugDescription)", { $0.real <= real }) { other in
                other.real.flatMap { one in real.map { one <= $0 } } ?? false
            }
            try await expect(run, readers, "bytes == \(sample.bytes.debugDescription)", { $0.bytes == sample.bytes }) {
                $0.bytes == sample.bytes
            }
            guard let note else { continue }
            let part = Array(note.utf8)
            try await expect(
                run, readers, "a text that begins with \(note.debugDescription)", { $0.text.hasPrefix(note) }
            ) {
                $0.text.utf8.starts(with: part)
            }
            try await expect(
                run, readers, "a text that ends with \(note.debugDescription)", { $0.text.hasSuffix(note) }
            ) {
                $0.text.utf8.reversed().starts(with: part.reversed())
            }
            try await expect(run, readers, "a text with \(note.debugDescription)", { $0.text.contains(note) }) {
                other in
                let text = Array(other.text.utf8)
                return (0...text.count).contains { text[$0...].starts(with: part) }
            }
        }
    }

    private static func combinedFilters(_ run: ConformanceRun) async throws {
        let readers = try await specimens(run)
        try await expect(run, readers, "flag && number > 0", { $0.flag == true && $0.number > 0 }) {
            $0.flag && ($0.number ?? 0) > 0
        }
        try await expect(run, readers, "note == nil || number < 0", { $0.note == nil || $0.number < 0 }) {
            $0.note == nil || ($0.number ?? 0) < 0
        }
        try await expect(run, readers, "!(number > 0)", { !($0.number > 0) }) { !(($0.number ?? 0) > 0) }
        try await expect(run, readers, "!(number == 1)", { !($0.number == 1) }) { $0.number != 1 }
        try await expect(run, readers, "number in [1, nil]", { $0.number.isIn([1, nil]) }) {
            $0.number == 1 || $0.number == nil
        }
        try await expect(run, readers, "number in []", { $0.number.isIn([]) }) { _ in false }
        try await expect(run, readers, "a number between 1 and 3", { $0.number.isBetween(1, 3) }) {
            (1...3).contains($0.number ?? 0)
        }
        try await expect(run, readers, "an id between 4 and 1", { $0.id.isBetween(4, 1) }) { _ in false }
        try await expect(run, readers, "all of no filters", { _ in .all([]) }) { _ in true }
        try await expect(run, readers, "any of no filters", { _ in .any([]) }) { _ in false }
        try await expect(run, readers, "kind == odd", { $0.kind == .odd }) { $0.kind == .odd }
        let time = Date(timeIntervalSince1970: 0)
        try await expect(run, readers, "date > 1970", { $0.date > time }) { $0.date.map { $0 > time } ?? false }
        try await expect(run, readers, "a UUID", { $0.uuid != nil }) { $0.uuid != nil }
        let odd = Specimen.where { $0.flag == true }.values { $0.number }
        try await expect(run, readers, "the number of a row with a flag", { $0.number.isIn(odd) }) { other in
            other.number != nil && Specimen.samples.contains { $0.flag && $0.number == other.number }
        }
    }

    private static func orders(_ run: ConformanceRun) async throws {
        for reader in try await specimens(run) {
            let texts = try await reader.fetch(Specimen.all.sorted { [$0.text.ascending] })
            let sorted = Specimen.samples.sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }
            run.expect(texts.map(\.id), sorted.map(\.id), "The order of texts")
            let numbers = try await reader.fetch(Specimen.all.sorted { [$0.number.descending] })
            let byNumber = Specimen.samples.sorted { one, other in
                if one.number == other.number { return one.id < other.id }
                guard let first = one.number, let second = other.number else { return other.number == nil }
                return first > second
            }
            run.expect(numbers.map(\.id), byNumber.map(\.id), "The order of numbers, NULL last, ties by id")
        }
    }

    private static func otherColumns(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        let scope = try store.child("scope")
        try await store.create((1...4).map { LabelWithRemark(id: $0, text: "a", remark: "kept") }, save: .store)
        try await scope.update(Label.self, id: 1, save: .pending) { $0.text = "b" }
        try await scope.put(Label(id: 2, text: "b"), save: .pending)
        let shown = try run.require(try await scope.find(Label.self, id: 3), "A row")
        try await scope.update(Label(id: 3, text: "b"), from: shown, save: .pending)
        run.expect(
            try await scope.values(LabelWithRemark.all.values { $0.remark }.distinct()), ["kept"],
            "The other column of pending rows")
        try await scope.save(.store)
        try await store.importRows(of: Label.self, from: [Label(id: 4, text: "b")], onConflict: .replace)
        run.expect(
            try await store.fetch(LabelWithRemark.all),
            (1...4).map { LabelWithRemark(id: $0, text: "b", remark: "kept") },
            "The rows in the store")
        try await scope.update(Label.self, id: 1, save: .pending) { $0.text = "c" }
        try await store.update(LabelWithRemark.self, id: 1, save: .store) { $0.remark = "new" }
        try await scope.save(.store, resolving: .mergeColumns)
        run.expect(
            try await store.find(LabelWithRemark.self, id: 1), LabelWithRemark(id: 1, text: "c", remark: "new"),
            "A row whose other column was changed by others")
    }

    private static func reservedIDs(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        try await store.create(Studio(id: 40, name: "Ufa"), save: .store)
        let first: Range<Int64>
        do {
            first = try await store.reserveIDs(for: Studio.self, count: 3)
        } catch {
            // A service need not reserve ids, but it must say so.
            run.expect(error.reason, .invalidQuery, "The reason of a service that reserves no ids")
            return
        }
        let scope = try store.child("scope")
        let second = try await scope.reserveIDs(for: Studio.self, count: 2)
        run.expect(first.count == 3 && second.count == 2, "As many ids as asked for must be reserved.")
        run.expect(first.lowerBound > 40, "Reserved ids must be greater than those in the store.")
        run.expect(!first.overlaps(second), "Two reservations must have no id in common.")
        run.expect(try await store.reserveIDs(for: Studio.self, count: 0).isEmpty, "No ids can be reserved.")
        try await run.expect(.invalidQuery, "A reservation of a negative number") {
            _ = try await store.reserveIDs(for: Studio.self, count: -1)
        }
    }
}

import TestTools
import Testing

@testable import EssentialsPersistence

/// Compares the overlay with a slow model, over random sequences of operations in nested scopes.
@Suite struct OverlayModelTests {
    private static let ids: Range<Int64> = 0..<3
    private static let sequences = 10_000

    /// One sequence of operations. It stops at the first difference.
    private struct Sequence {
        var tree = OverlayTree()
        var numbers: SeededNumbers
        var conflicts = 0
        var saves = 0

        mutating func pick<Value>(_ values: [Value]) -> Value {
            values[Int.random(in: values.indices, using: &numbers)]
        }
        mutating func id() -> Int64 { .random(in: OverlayModelTests.ids, using: &numbers) }

        mutating func row(_ id: Int64) -> StoredRow {
            OverlayRows.row(id, .random(in: 0..<3, using: &numbers), .random(in: 0..<3, using: &numbers))
        }

        mutating func run() throws {
            for id in OverlayModelTests.ids where Bool.random(using: &numbers) { tree.file[id] = row(id) }
            tree.open(below: nil)
            for _ in 0..<Int.random(in: 8...40, using: &numbers) {
                try step()
                try check()
            }
        }

        mutating func step() throws {
            let scopes = tree.scopes.keys.sorted()
            let scope = pick(scopes)
            // Saves of scopes without pending rows test little.
            let pending = scopes.filter { tree.scopes[$0]?.level.isEmpty == false }
            let saving = pick(pending.isEmpty ? scopes : pending)
            switch Int.random(in: 0..<20, using: &numbers) {
            case 0...9: try change(scope)
            case 10:
                if tree.path(scope).count < 4, tree.scopes.count < 7 { tree.open(below: scope) }
            case 11: if tree.scopes.count < 7 { tree.open(below: nil) }
            case 12: if tree.scopes.count > 1, tree.path(scope).count > 1 { tree.close(scope) }
            case 13: try rollback(scope)
            case 14, 15:
                let id = id()
                tree.file[id] = Bool.random(using: &numbers) ? row(id) : nil
            case 16: try saveThrough(saving)
            default: try saveToParent(saving)
            }
        }

        /// Creates, changes or deletes a row, and expects the failure that the model expects.
        mutating func change(_ scope: Int) throws {
            let id = id()
            let key = OverlayRows.key(id)
            let seen = tree.view(scope, id)
            let row = Int.random(in: 0..<3, using: &numbers) == 0 ? nil : row(id)
            var machine = try tree.machine(scope)
            let stored = tree.file[id]
            do {
                switch (row, Int.random(in: 0..<4, using: &numbers)) {
                case (nil, _): try machine.delete(key, stored: stored)
                // One in four operations is wrong.
                case (let row?, 0):
                    if seen == nil {
                        try machine.update(row, at: key, stored: stored)
                    } else {
                        try machine.create(row, at: key, stored: stored)
                    }
                case (let row?, _):
                    if seen == nil {
                        try machine.create(row, at: key, stored: stored)
                    } else {
                        try machine.update(row, at: key, stored: stored)
                    }
                }
            } catch {
                let expected: PersistenceFailure.Reason = row != nil && seen != nil ? .constraint : .notFound
                try #require(error.reason == expected)
                return
            }
            try #require(row != nil || seen != nil)
            tree.take(machine, scope)
            let below = tree.view(tree.scopes[scope]?.parent, id)
            tree.scopes[scope]?.steps.append(OverlayTree.Step(id: id, below: below, row: row))
        }

        mutating func rollback(_ scope: Int) throws {
            var machine = try tree.machine(scope)
            machine.rollback()
            tree.take(machine, scope)
            tree.scopes[scope]?.steps = []
        }

        mutating func saveToParent(_ scope: Int) throws {
            guard tree.scopes[scope]?.parent != nil else { return try saveThrough(scope) }
            let policy = pick(ConflictPolicy.allCases)
            var machine = try tree.machine(scope)
            let isSaved = tree.saveModel(scope, ids: OverlayModelTests.ids, policy)
            do {
                try machine.saveToParent { _ in .policy(policy) }
                try #require(isSaved)
                tree.take(machine, scope)
                saves += 1
            } catch {
                let failure = try #require(error as? PersistenceFailure)
                try #require(!isSaved && failure.reason == .conflict && !failure.conflicts.isEmpty)
                conflicts += 1
            }
        }

        /// Saves a scope and all scopes above it into the file, as the service does.
        mutating func saveThrough(_ scope: Int) throws {
            let policy = pick(ConflictPolicy.allCases)
            var machine = try tree.machine(scope)
            var file = tree.file
            let isSaved = tree.saveModelThrough(scope, ids: OverlayModelTests.ids, policy)
            var found: [Conflict] = []
            do {
                try machine.folded { _ in .policy(policy) }.forEach { key, entry in
                    guard case .integer(let id) = key.id else { return }
                    let theirs = file[id]
                    switch ConflictRules.outcome(of: entry, at: key, theirs: theirs, decide: { _ in .policy(policy) }) {
                    case .apply(let row): file[id] = row
                    case .keep: break
                    case .conflict(let conflict): found.append(conflict)
                    }
                }
            } catch {
                found = error.conflicts
            }
            try #require(isSaved == found.isEmpty)
            if found.isEmpty {
                try #require(file == tree.file)
                machine.saved()
                tree.take(machine, scope)
                saves += 1
            } else {
                conflicts += 1
            }
        }

        /// Compares all scopes with the model: single rows, whole tables, numbers, and copies kept by the logs.
        mutating func check() throws {
            for scope in tree.scopes.keys.sorted() {
                let machine = try tree.machine(scope)
                var visible: [StoredValue: StoredRow] = [:]
                for (id, row) in tree.file { visible[.integer(id)] = row }
                for (id, entry) in machine.entries(in: "t") { visible[id] = entry.row }
                var pending = 0
                for id in OverlayModelTests.ids {
                    let expected = tree.view(scope, id)
                    try #require(visible[.integer(id)] == expected)
                    switch machine.find(OverlayRows.key(id)) {
                    case .pending(let row, _): try #require(row == expected)
                    case .deleted: try #require(expected == nil)
                    case .stored: try #require(tree.file[id] == expected)
                    }
                    let own = tree.pending(scope, id)
                    let entry = tree.scopes[scope]?.level.entry(OverlayRows.key(id))
                    try #require(entry == own.flatMap { OverlayEntry(from: $0.base, to: $0.row) })
                    pending += own == nil ? 0 : 1
                }
                try #require(tree.scopes[scope]?.level.count == pending)
                try checkReplica(scope, machine)
            }
        }

        mutating func checkReplica(_ scope: Int, _ machine: OverlayMachine) throws {
            // Some reads come late, so that a copy lags by several versions.
            guard Bool.random(using: &numbers), var replica = tree.scopes[scope]?.replica else { return }
            let entries = machine.entries(in: "t")
            if let changes = machine.changes(since: tree.scopes[scope]?.replicaVersions ?? []) {
                for key in changes { replica[key.id] = entries[key.id] }
            } else {
                replica = entries
            }
            try #require(replica == entries)
            tree.scopes[scope]?.replica = replica
            tree.scopes[scope]?.replicaVersions = machine.versions
        }
    }

    @Test("Random sequences in nested scopes see and save the same rows as a slow model")
    func sequences() async throws {
        let seed = UInt64.random(in: .min ... .max)
        print("seed of the overlay's sequences: \(seed)")
        var conflicts = 0
        var saves = 0
        for number in 0..<Self.sequences {
            var sequence = Sequence(numbers: SeededNumbers(state: seed &+ UInt64(number)))
            do {
                try sequence.run()
            } catch {
                Issue.record("seed \(seed), sequence \(number): \(error)")
                return
            }
            conflicts += sequence.conflicts
            saves += sequence.saves
            // Other tests share the threads.
            await Task.yield()
        }
        print("\(conflicts) conflicts, \(saves) saves")
        #expect(conflicts > Self.sequences / 10 && saves > Self.sequences, "seed \(seed)")
    }
}

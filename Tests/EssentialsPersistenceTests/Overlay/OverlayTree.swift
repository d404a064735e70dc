@testable import EssentialsPersistence

/// Nested scopes over a file. Each has the two sides that are compared: a level of the overlay, and a list of all its
/// steps, from which a slow model derives the expected rows.
struct OverlayTree {
    /// One change: the row that the scope saw below itself, and the new row.
    struct Step {
        let id: Int64
        let below: StoredRow?
        let row: StoredRow?
    }

    struct Scope {
        let parent: Int?
        var level = OverlayLevel()
        var steps: [Step] = []
        /// A copy of the pending rows that is updated only by the log, like temporary tables.
        var replica: [StoredValue: OverlayEntry] = [:]
        var replicaVersions: [UInt64] = []
    }

    var file: [Int64: StoredRow] = [:]
    var scopes: [Int: Scope] = [:]
    private var nextScope = 1

    /// The scopes from the root to this one.
    func path(_ scope: Int) -> [Int] {
        var path: [Int] = []
        var next: Int? = scope
        while let scope = next {
            path.insert(scope, at: 0)
            next = scopes[scope]?.parent
        }
        return path
    }

    func machine(_ scope: Int) throws -> OverlayMachine {
        try OverlayMachine(levels: path(scope).compactMap { scopes[$0]?.level })
    }

    mutating func take(_ machine: OverlayMachine, _ scope: Int) {
        for (scope, level) in zip(path(scope), machine.levels) { scopes[scope]?.level = level }
    }

    mutating func open(below parent: Int?) {
        scopes[nextScope] = Scope(parent: parent)
        nextScope += 1
    }

    /// Closes a scope and all scopes below it.
    mutating func close(_ scope: Int) {
        for child in scopes.keys.sorted() where scopes[child]?.parent == scope { close(child) }
        scopes[scope] = nil
    }

    // MARK: The slow model

    /// The base and the row of an id in one scope, from its steps; `nil` if it is not pending there.
    func pending(_ scope: Int, _ id: Int64) -> (base: StoredRow?, row: StoredRow?)? {
        var pending: (base: StoredRow?, row: StoredRow?)?
        for step in scopes[scope]?.steps ?? [] where step.id == id {
            let base = pending.map(\.base) ?? step.below
            pending = base == step.row ? nil : (base, step.row)
        }
        return pending
    }

    /// The row that a scope sees; with `nil` for the scope, the row of the file.
    func view(_ scope: Int?, _ id: Int64) -> StoredRow? {
        guard let scope else { return file[id] }
        if let pending = pending(scope, id) { return pending.row }
        return view(scopes[scope]?.parent, id)
    }

    /// The table of the documentation, written independently: the row after a save over `theirs`, or a conflict.
    static func judge(
        base: StoredRow?, mine: StoredRow?, theirs: StoredRow?, _ policy: ConflictPolicy
    ) -> (isConflict: Bool, row: StoredRow?) {
        if mine == theirs || base == theirs { return (false, mine) }
        switch policy {
        case .fail: return (true, nil)
        case .mine: return (false, mine)
        case .theirs: return (false, theirs)
        case .mergeColumns:
            guard let base, let mine, let theirs else { return (true, nil) }
            var merged = theirs
            for column in 0..<3 where mine.values[column] != base.values[column] {
                let isTheirs = theirs.values[column] != base.values[column]
                if isTheirs, theirs.values[column] != mine.values[column] { return (true, nil) }
                merged.values[column] = mine.values[column]
            }
            return (false, merged)
        }
    }

    /// Saves the steps of a scope to its parent, and returns `false` for a conflict.
    mutating func saveModel(_ scope: Int, ids: Range<Int64>, _ policy: ConflictPolicy) -> Bool {
        guard let parent = scopes[scope]?.parent else { return saveModelToFile(scope, ids: ids, policy) }
        var steps: [Step] = []
        for id in ids {
            guard let mine = pending(scope, id) else { continue }
            guard let own = pending(parent, id) else {
                steps.append(Step(id: id, below: mine.base, row: mine.row))
                continue
            }
            let result = Self.judge(base: mine.base, mine: mine.row, theirs: own.row, policy)
            if result.isConflict { return false }
            steps.append(Step(id: id, below: own.base, row: result.row))
        }
        scopes[parent]?.steps += steps
        scopes[scope]?.steps = []
        return true
    }

    private mutating func saveModelToFile(_ scope: Int, ids: Range<Int64>, _ policy: ConflictPolicy) -> Bool {
        var saved = file
        for id in ids {
            guard let mine = pending(scope, id) else { continue }
            let result = Self.judge(base: mine.base, mine: mine.row, theirs: file[id], policy)
            if result.isConflict { return false }
            saved[id] = result.row
        }
        file = saved
        scopes[scope]?.steps = []
        return true
    }

    /// Saves the steps of a scope and of all scopes above it into the file, and returns `false` for a conflict.
    mutating func saveModelThrough(_ scope: Int, ids: Range<Int64>, _ policy: ConflictPolicy) -> Bool {
        let before = self
        for scope in path(scope).reversed() where !saveModel(scope, ids: ids, policy) {
            self = before
            return false
        }
        return true
    }
}

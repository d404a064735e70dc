#if Persistence
    import EssentialsPersistence

    @testable import EssentialsSQLite

    /// The rows of a file and of scopes over it, as dictionaries. The rules of a save are written independently, row by
    /// row.
    struct NaiveScopes {
        struct Pending: Equatable {
            let base: Note?
            let mine: Note?
        }

        /// A conflict: the three rows.
        struct Clash: Hashable {
            let base: Note?
            let mine: Note?
            let theirs: Note?
        }

        struct Scope {
            /// The index of the scope above.
            let parent: Int?
            let policy: ConflictPolicy?
            var pending: [Int64: Pending] = [:]
        }

        enum Outcome: Equatable {
            case done(SaveReport)
            case conflict(Set<Clash>)
            case constraint(Set<Int64>)
        }

        private enum Judgement { case write(Note?), keep, same, clash(Clash) }

        var file: [Int64: Note] = [:]
        var scopes: [Scope] = [Scope(parent: nil, policy: nil)]

        func view(_ scope: Int?, _ id: Int64) -> Note? {
            guard let scope else { return file[id] }
            if let pending = scopes[scope].pending[id] { return pending.mine }
            return view(scopes[scope].parent, id)
        }

        func rows(_ scope: Int?, _ ids: Range<Int64>) -> [Note] { ids.compactMap { view(scope, $0) } }

        /// A scope without a policy inherits that of the scope above.
        func policy(_ scope: Int?) -> ConflictPolicy {
            guard let scope else { return .fail }
            return scopes[scope].policy ?? policy(scopes[scope].parent)
        }

        mutating func place(_ note: Note?, at id: Int64, in scope: Int) {
            let base = scopes[scope].pending[id].map(\.base) ?? view(scopes[scope].parent, id)
            scopes[scope].pending[id] = base == note ? nil : Pending(base: base, mine: note)
        }

        // MARK: Saving

        /// Saves a scope to the one above, or the root scope into the file. After a failure nothing has changed.
        mutating func save(_ scope: Int, _ policy: ConflictPolicy) -> Outcome {
            guard let parent = scopes[scope].parent else {
                return store(scopes[scope].pending, emptying: [scope], policy)
            }
            var pending = scopes[parent].pending
            let clashes = Self.fold(scopes[scope].pending, into: &pending, policy)
            guard clashes.isEmpty else { return .conflict(clashes) }
            scopes[parent].pending = pending
            scopes[scope].pending = [:]
            return .done(SaveReport())
        }

        /// Saves a scope and all scopes above it into the file. After a failure nothing has changed.
        mutating func saveThrough(_ scope: Int, _ policy: ConflictPolicy) -> Outcome {
            var folded = scopes[scope].pending
            var path = [scope]
            var clashes: Set<Clash> = []
            while let parent = scopes[path[path.count - 1]].parent {
                var pending = scopes[parent].pending
                clashes.formUnion(Self.fold(folded, into: &pending, policy))
                folded = pending
                path.append(parent)
            }
            guard !clashes.isEmpty else { return store(folded, emptying: path, policy) }
            // A failure names the conflicts of all levels.
            var copy = self
            if case .conflict(let more) = copy.store(folded, emptying: [], policy) { clashes.formUnion(more) }
            return .conflict(clashes)
        }

        private mutating func store(
            _ pending: [Int64: Pending], emptying path: [Int], _ policy: ConflictPolicy
        ) -> Outcome {
            var saved = file
            var report = SaveReport()
            var clashes: Set<Clash> = []
            var wrong: Set<Int64> = []
            for (id, own) in pending {
                switch Self.judge(own, over: file[id], policy) {
                case .same: break
                case .keep: report.kept += 1
                case .clash(let clash): clashes.insert(clash)
                case .write(let note):
                    if note == nil { report.deleted += 1 } else if file[id] == nil { report.inserted += 1 }
                    if note != nil, file[id] != nil { report.updated += 1 }
                    if note?.isValid == false { wrong.insert(id) }
                    saved[id] = note
                }
            }
            if !clashes.isEmpty { return .conflict(clashes) }
            if !wrong.isEmpty { return .constraint(wrong) }
            file = saved
            for scope in path { scopes[scope].pending = [:] }
            return .done(report)
        }

        /// Moves pending rows into those of the scope above, except for conflicts, which it returns.
        private static func fold(
            _ pending: [Int64: Pending], into parent: inout [Int64: Pending], _ policy: ConflictPolicy
        ) -> Set<Clash> {
            var clashes: Set<Clash> = []
            for (id, own) in pending {
                guard let above = parent[id] else {
                    parent[id] = own
                    continue
                }
                switch judge(own, over: above.mine, policy) {
                case .same, .keep: break
                case .clash(let clash): clashes.insert(clash)
                case .write(let note): parent[id] = above.base == note ? nil : Pending(base: above.base, mine: note)
                }
            }
            return clashes
        }

        /// The table of the policies, written independently.
        private static func judge(_ own: Pending, over theirs: Note?, _ policy: ConflictPolicy) -> Judgement {
            if own.mine == theirs { return .same }
            if own.base == theirs { return .write(own.mine) }
            let clash = Clash(base: own.base, mine: own.mine, theirs: theirs)
            switch policy {
            case .fail: return .clash(clash)
            case .mine: return .write(own.mine)
            case .theirs: return .keep
            case .mergeColumns:
                guard let base = own.base, let mine = own.mine, let theirs else { return .clash(clash) }
                var merged = theirs
                if mine.title != base.title {
                    if theirs.title != base.title, theirs.title != mine.title { return .clash(clash) }
                    merged.title = mine.title
                }
                if mine.year != base.year {
                    if theirs.year != base.year, theirs.year != mine.year { return .clash(clash) }
                    merged.year = mine.year
                }
                return merged == theirs ? .same : .write(merged)
            }
        }
    }
#endif

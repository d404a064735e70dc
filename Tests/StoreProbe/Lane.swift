#if Persistence
    import EssentialsPersistence
    import EssentialsSQLite

    /// Numbered steps, each of which creates pairs of rows, changes those of an earlier step and deletes those of one before.
    ///
    /// The rows after a step are known from its number alone. Lanes have rows of their own, and run at the same time.
    enum Lane: Int, CaseIterable, Sendable {
        /// Each step is a unit of work that saves to the store.
        case unit
        /// Each step is pending on three levels, which are saved to the store together.
        case levels
        /// Two steps are saved by a scope to the root scope, one after the other, and by the root scope to the store. The saves
        /// of other lanes may take them along.
        case parent

        /// The number of steps that may be stored without being confirmed.
        var unconfirmed: Int { self == .parent ? 2 : 1 }

        // MARK: What the store holds

        /// The number of a lane's last steps whose rows are there.
        static let kept = 6
        /// How many steps after its creation a row is changed.
        static let delay = 3

        /// The rows that a step creates: two to eight.
        func created(_ step: Int) -> [Posting] {
            let count = 2 * (1 + step % 4)
            return (0..<count).map { position in
                let amount = (step * 10 + position / 2 + 1) * (position.isMultiple(of: 2) ? 1 : -1)
                let note = String(repeating: "\(step % 10)", count: 100 + step % 7 * 200)
                let id = Int64(rawValue) << 40 | Int64(step) << 8 | Int64(position)
                return Posting(id: id, lane: rawValue, step: step, amount: amount, note: note)
            }
        }

        static func change(_ posting: inout Posting) { posting.amount = posting.amount * 3 }

        /// The rows that are there after a step, in the order of their ids. The first step is 1; 0 means none.
        func rows(after step: Int) -> [Posting] {
            guard step > 0 else { return [] }
            return (max(1, step - Self.kept + 1)...step).flatMap { past in
                var postings = created(past)
                if past + Self.delay <= step { for index in postings.indices { Self.change(&postings[index]) } }
                return postings
            }
        }

        // MARK: Steps

        private func create(_ step: Int, _ work: PersistenceWork) throws(PersistenceFailure) {
            try work.create(created(step))
            try work.put(Progress(id: Int64(rawValue), step: step))
        }

        private func update(_ step: Int, _ work: PersistenceWork) throws(PersistenceFailure) {
            let past = step - Self.delay
            try work.update(Posting.where { $0.lane == rawValue && $0.step == past }) { Self.change(&$0) }
        }

        private func delete(_ step: Int, _ work: PersistenceWork) throws(PersistenceFailure) {
            try work.delete(Posting.where { $0.lane == rawValue && $0.step == step - Self.kept })
        }

        /// Makes one step as a unit of work.
        func save(_ step: Int, in store: any PersistenceService) async throws(PersistenceFailure) {
            try await store.perform(save: .store) { try all(step, $0) }
        }

        private func all(_ step: Int, _ work: PersistenceWork) throws(PersistenceFailure) {
            try create(step, work)
            try update(step, work)
            try delete(step, work)
        }

        /// Saves to the store a few times, from the step that is stored, and prints `saved LANE STEP` after each save.
        private func run(in store: any PersistenceService) async throws(PersistenceFailure) {
            var step = try await store.find(Progress.self, id: Int64(rawValue))?.step ?? 0
            for _ in 0..<3 {
                step += 1
                let next = step
                switch self {
                case .unit: try await save(next, in: store)
                case .levels:
                    let outer = try store.child("outer")
                    let middle = try outer.child("middle")
                    let inner = try middle.child("inner")
                    try await outer.perform(save: .pending) { try create(next, $0) }
                    try await middle.perform(save: .pending) { try update(next, $0) }
                    try await inner.perform(save: .pending) { try delete(next, $0) }
                    try await inner.save(.store)
                case .parent:
                    let scope = try store.child("scope")
                    try await scope.perform(save: .parent) { try all(next, $0) }
                    step += 1
                    try await scope.perform(save: .parent) { try all(next + 1, $0) }
                    try await store.save(.store)
                }
                say("saved \(rawValue) \(step)")
            }
        }

        /// Makes steps, closes the store after some of them, and records what reaches the disk in a file beside the store.
        func record(in path: String, _ durability: SQLiteStore.Durability) async throws(PersistenceFailure) {
            DiskRecorder.start(path, into: path + "-record")
            for part in 0..<3 {
                let store = Posting.service(path, durability)
                try await store.ready()
                for step in part * 10 + 1...part * 10 + 10 {
                    try await save(step, in: store)
                    DiskRecorder.confirm(step)
                }
                await store.close()
            }
            say("recorded")
        }

        /// Runs all lanes on the store at a path, without end.
        ///
        /// It prints `open` each time that the store is. The store is closed again and again, which copies its log.
        static func runAll(in path: String) async throws(PersistenceFailure) -> Never {
            while true {
                let store = Posting.service(path)
                try await store.ready()
                say("open")
                let lanes = allCases.map { lane in
                    Task { () async -> PersistenceFailure? in
                        do throws(PersistenceFailure) { try await lane.run(in: store) } catch { return error }
                        return nil
                    }
                }
                for lane in lanes { if let failure = await lane.value { throw failure } }
                await store.close()
            }
        }
    }
#endif

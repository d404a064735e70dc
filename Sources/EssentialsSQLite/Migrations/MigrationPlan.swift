#if Persistence
    import EssentialsPersistence

    /// The migrations that a store still needs.
    struct MigrationPlan: Equatable {
        struct Step: Equatable {
            let name: String
            let digest: String

            /// Whether the step had another text when it ran. Stores of earlier versions have SHA-256 hashes of 64
            /// digits, which are not compared.
            func isEdited(since applied: String) -> Bool {
                applied != digest && (applied.utf8.count != 64 || digest.isEmpty)
            }
        }

        /// The indices of the migrations to run, in their order.
        let pending: [Int]
        /// The names of migrations whose text was edited after they had run.
        let edited: [String]

        /// Compares the migrations of the program with those of the store.
        ///
        /// - Throws: A failure with the reason `newerSchema` if the store has a migration that the program does not
        ///   know, and `migration` if two have the same name or a migration was added before one that has run.
        init(known: [Step], applied: [Step]) throws(PersistenceFailure) {
            let names = known.map(\.name)
            guard Set(names).count == names.count else {
                throw PersistenceFailure(.migration, "Two migrations have the same name.")
            }
            let unknown = applied.map(\.name).filter { !names.contains($0) }
            guard unknown.isEmpty else {
                throw PersistenceFailure(
                    .newerSchema, "This program does not know the migrations \(unknown.joined(separator: ", ")).")
            }
            let digests = Dictionary(applied.map { ($0.name, $0.digest) }) { first, _ in first }
            let pending = known.indices.filter { digests[known[$0].name] == nil }
            if let first = pending.first, let late = known[first...].first(where: { digests[$0.name] != nil }) {
                throw PersistenceFailure(
                    .migration, "The migration \(known[first].name) was added before \(late.name), which has run.",
                    remedy: "Move it to the end.")
            }
            self.pending = pending
            edited = known.filter { step in digests[step.name].map { step.isEdited(since: $0) } ?? false }.map(\.name)
        }
    }
#endif

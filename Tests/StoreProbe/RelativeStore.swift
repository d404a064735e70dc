#if Persistence
    import EssentialsPersistence
    import EssentialsSQLite
    import Glibc

    /// A store with a relative path in a process that changes its folder.
    ///
    /// It prints a line for each step, with the reason of a failure.
    struct RelativeStore {
        let folder: String

        private func posting(_ id: Int64) -> Posting { Posting(id: id, lane: 0, step: 0, amount: 0, note: "") }

        func run() async throws(PersistenceFailure) {
            guard chdir(folder) == 0 else { return say("failed chdir") }
            let store = Posting.service("store.sqlite")
            try await store.create(posting(1), save: .store)
            guard chdir("/") == 0 else { return say("failed chdir") }
            let scope = try store.child("scope")
            try await scope.create(posting(2), save: .pending)
            // The connection for pending rows is opened now.
            await tell("pending") { () throws(PersistenceFailure) in
                "\(try await scope.fetch(Posting.where { $0.lane == 0 }).count)"
            }
            try await scope.save(.store)
            await tell("stored") { () throws(PersistenceFailure) in "\(try await store.count(Posting.all))" }
            await store.close()
            guard chdir(folder) == 0 else { return say("failed chdir") }
            // It is opened in the background, perhaps after the folder was changed.
            let again = Posting.service("store.sqlite", more: [Migration("2 more", sql: "CREATE TABLE more(id)")])
            guard chdir("/") == 0 else { return say("failed chdir") }
            try await again.ready()
            say("backups: \(access(folder + "/store.sqlite.before-2-more", F_OK) == 0 ? 1 : 0)")
            await again.close()
            say("done")
        }
    }
#endif

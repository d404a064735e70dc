#if Persistence
    import EssentialsPersistence
    import EssentialsSQLite
    import Glibc

    /// A store that is open when its process forks.
    ///
    /// The child process makes calls and prints `CALL REASON` for each. The parent process then uses the store, and
    /// prints `parent COUNT` with the number of its rows.
    struct ForkedStore {
        let path: String

        func run() async throws(PersistenceFailure) {
            let store = Posting.service(path)
            let posting = Posting(id: 1, lane: 0, step: 0, amount: 0, note: "")
            try await store.create(posting, save: .store)
            let edits = try store.child("edit")
            try await edits.create(Posting(id: 2, lane: 0, step: 0, amount: 0, note: ""), save: .pending)
            guard fork(store, edits) else { return say("failed fork") }
            try await edits.save(.store)
            say("parent \(try await store.count(Posting.all))")
            await store.close()
        }

        /// Makes the calls in a child process, and waits for its end.
        private func fork(_ store: SQLitePersistenceService, _ edits: any PersistenceService) -> Bool {
            let child = Glibc.fork()
            if child == 0 {
                for service in [store, edits] { call(service) }
                say("state \(store.state == .closed ? "closed" : "open")")
                _exit(0)
            }
            var status: Int32 = 0
            return child > 0 && waitpid(child, &status, 0) == child
        }

        private func call(_ service: any PersistenceService) {
            attempt("find") { try service.wait(for: .find(Posting.self, id: 2)) }
            attempt("fetch") { try service.wait(for: .fetch(Posting.self, ids: [2])) }
            attempt("count") { _ = try service.wait { try $0.count(Posting.all) } }
            attempt("delete") { try service.wait(for: .delete(Posting.all, save: .pending)) }
            attempt("perform") { try service.wait(for: .perform(save: .store) { _ in }) }
            attempt("save") { try service.wait(for: .save(.store)) }
            attempt("validate") { try service.wait(for: .validate()) }
            attempt("rollback") { try service.wait(for: .rollback()) }
            attempt("discard") { try service.wait(for: .discard(Posting.self, ids: [2])) }
            attempt("child") { _ = try service.child("inner") }
        }

        private func attempt(_ name: String, _ body: () throws -> Void) {
            do {
                try body()
                say("\(name) none")
            } catch {
                say("\(name) \((error as? PersistenceFailure)?.reason.name ?? "unknown")")
            }
        }
    }
#endif

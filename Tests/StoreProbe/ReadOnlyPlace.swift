#if Persistence
    import EssentialsPersistence
    import EssentialsSQLite
    import Glibc

    /// A store that its process must not write.
    ///
    /// It prints a line for each step, with the reason of a failure.
    struct ReadOnlyPlace {
        let path: String

        /// Becomes a user without rights, because the user root may write everything.
        static func giveUpRights() {
            guard geteuid() == 0 else { return }
            guard setgroups(0, nil) == 0, setgid(65_534) == 0, setuid(65_534) == 0 else { return say("failed setuid") }
        }

        private var files: [Bool] { ["-wal", "-shm", "-owner", "-journal"].map { access(path + $0, F_OK) == 0 } }

        private static func posting(_ id: Int64) -> Posting { Posting(id: id, lane: 0, step: 0, amount: 0, note: "") }

        /// Opens the store, and prints what the failure says.
        func open() async {
            Self.giveUpRights()
            let store = Posting.service(path)
            do throws(PersistenceFailure) {
                try await store.ready()
                say("done")
            } catch {
                say("\(error.reason): \(error.message)")
            }
            await store.close()
        }

        func run() async throws(PersistenceFailure) {
            Self.giveUpRights()
            await tell("inspect") { () throws(PersistenceFailure) in
                let before = files
                let rows = try StoreInspection(path: path).rows(of: "posting", limit: 10, offset: 0)?.rows.count ?? 0
                return "\(rows) rows, \(files == before ? "no new file" : "new files")"
            }
            let store = Posting.service(path)
            await tell("open") { () throws(PersistenceFailure) in
                try await store.ready()
                return "done"
            }
            guard store.state == .ready else { return await store.close() }
            await tell("find") { () throws(PersistenceFailure) in
                try await store.find(Posting.self, id: 1)?.note ?? "nothing"
            }
            let scope = try store.child("scope")
            try await scope.create(Self.posting(2), save: .pending)
            for _ in 0..<2 { await write(store, scope) }
            await store.close()
            let behind = Posting.service(path, more: [Migration("2 more", sql: "CREATE TABLE more(id)")])
            await tell("migrate") { () throws(PersistenceFailure) in
                try await behind.ready()
                return "done"
            }
            await behind.close()
        }

        /// Tries all that writes, and counts what the scope and the store have afterwards.
        private func write(_ store: SQLitePersistenceService, _ scope: any PersistenceService) async {
            await tell("save") { () throws(PersistenceFailure) in "\(try await scope.save(.store))" }
            await tell("validate") { () throws(PersistenceFailure) in "\(try await scope.validate())" }
            await tell("delete") { () throws(PersistenceFailure) in
                "\(try await store.delete(Posting.self, ids: [1], save: .store))"
            }
            await tell("reserve") { () throws(PersistenceFailure) in
                "\(try await store.reserveIDs(for: Posting.self, count: 1))"
            }
            await tell("import") { () throws(PersistenceFailure) in
                "\(try await store.importRows(of: Posting.self, from: [Self.posting(3)]))"
            }
            await tell("rows") { () throws(PersistenceFailure) in
                "\(try await scope.count(Posting.all)), \(try await store.count(Posting.all))"
            }
        }
    }
#endif

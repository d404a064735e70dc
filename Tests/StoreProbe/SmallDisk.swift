#if Persistence
    import EssentialsPersistence
    import EssentialsSQLite
    import GRDB
    import Glibc

    /// A store on a small file system that gets full, and has space again.
    ///
    /// It prints a line for each step, with the reason of a failure.
    struct SmallDisk {
        let folder: String

        private var ballast: String { folder + "/ballast" }

        private func postings(_ first: Int, _ count: Int) -> [Posting] {
            (first..<(first + count)).map { number in
                Posting(id: Int64(number), lane: 0, step: 0, amount: number, note: String(repeating: "x", count: 1_000))
            }
        }

        /// Runs a step, and prints its name with `done` or the reason of its failure.
        private func tell(
            _ name: String, attempts: Int = 1, _ step: () async throws(PersistenceFailure) -> Void
        ) async {
            await StoreProbe.tell(name) { () throws(PersistenceFailure) in
                try await trying(attempts, step)
                return "done"
            }
        }

        /// Runs a step again that has failed for want of space, up to a number of attempts.
        private func trying(
            _ attempts: Int, _ step: () async throws(PersistenceFailure) -> Void
        ) async throws(PersistenceFailure) {
            for _ in 1..<attempts {
                do throws(PersistenceFailure) { return try await step() } catch  where error.reason == .full {}
            }
            try await step()
        }

        /// Fills the file system but for this many bytes.
        private func fill(except bytes: UInt64) {
            var status = statvfs()
            guard statvfs(folder, &status) == 0 else { return }
            let free = UInt64(status.f_bavail) * UInt64(status.f_frsize)
            let descriptor = Glibc.open(ballast, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
            defer { close(descriptor) }
            posix_fallocate(descriptor, 0, off_t(free > bytes ? free - bytes : 0))
        }

        func run() async throws(PersistenceFailure) {
            let path = folder + "/store.sqlite"
            let store = Posting.service(path)
            try await store.create(postings(0, 10), save: .store)
            fill(except: 100_000)
            let scope = try store.child("scope")
            try await scope.create(postings(100, 300), save: .pending)
            await tell("save") { () throws(PersistenceFailure) in try await scope.save(.store) }
            await tell("save again") { () throws(PersistenceFailure) in try await scope.save(.store) }
            await tell("unit of work") { () throws(PersistenceFailure) in
                try await store.create(postings(1_000, 300), save: .store)
            }
            await count("pending", scope)
            await count("stored", store)
            unlink(ballast)
            await tell("save with space") { () throws(PersistenceFailure) in try await scope.save(.store) }
            await count("stored", store)
            await store.close()
            try await reopen(path)
            try await replaceRows(path)
            try await deleteWithoutLog(path)
        }

        private func count(_ name: String, _ store: any PersistenceService) async {
            await StoreProbe.tell(name) { () throws(PersistenceFailure) in "\(try await store.count(Posting.all))" }
        }

        /// Opens a store without any space, and with space again.
        private func reopen(_ path: String) async throws(PersistenceFailure) {
            fill(except: 0)
            let store = Posting.service(path)
            await tell("open") { () throws(PersistenceFailure) in try await store.ready() }
            unlink(ballast)
            store.reopen()
            await tell("open with space") { () throws(PersistenceFailure) in try await store.ready() }
            await store.close()
        }

        /// Deletes rows of a store whose log is empty and cannot grow.
        private func deleteWithoutLog(_ path: String) async throws(PersistenceFailure) {
            unlink(ballast)
            let store = Posting.service(path)
            try await store.ready()
            fill(except: 0)
            for attempt in ["delete", "delete again"] {
                await tell("\(attempt) without a log") { () throws(PersistenceFailure) in
                    try await store.delete(Posting.where { $0.id >= 2_000 }, save: .store)
                }
            }
            unlink(ballast)
            await tell("delete with space") { () throws(PersistenceFailure) in
                try await store.delete(Posting.where { $0.id >= 2_000 }, save: .store)
            }
            await store.close()
        }

        /// Replaces rows of a store that cannot grow.
        private func replaceRows(_ path: String) async throws(PersistenceFailure) {
            let store = Posting.service(path)
            try await store.ready()
            fill(except: 100_000)
            await tell("create") { () throws(PersistenceFailure) in
                try await store.create(postings(1_000, 200), save: .store)
            }
            await tell("delete") { () throws(PersistenceFailure) in
                try await store.delete(Posting.where { $0.id >= 100 && $0.id < 140 }, save: .store)
            }
            await tell("create in their place", attempts: 2) { () throws(PersistenceFailure) in
                try await store.create(postings(2_000, 40), save: .store)
            }
            await tell("20 updates") { () throws(PersistenceFailure) in
                for round in 1...20 {
                    try await trying(2) { () throws(PersistenceFailure) in
                        try await store.update(Posting.where { $0.id >= 2_000 }, save: .store) { $0.amount = round }
                    }
                }
            }
            await count("stored", store)
            await store.close()
            let integrity = try? await DatabaseQueue(path: path).read { db in
                try String.fetchOne(db, sql: "PRAGMA integrity_check")
            }
            say("integrity: \(integrity ?? "unknown")")
        }
    }
#endif

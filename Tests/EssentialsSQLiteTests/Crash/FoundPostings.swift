#if Persistence
    import EssentialsPersistence
    import GRDB
    import Glibc
    import Testing

    @testable import EssentialsSQLite
    @testable import StoreProbe

    /// The contents of a store of postings after damage or loss, as its own service reads them.
    struct FoundPostings {
        /// The last step in the lane of units.
        let step: Int
        /// The faults in the rows or the file.
        let faults: [String]

        /// Opens a store, compares its rows with those expected after its last step, and checks the whole file.
        init(_ path: String) async throws {
            let store = Posting.service(path)
            let lane = Lane.unit
            var faults: [String] = []
            step = try await store.find(Progress.self, id: Int64(lane.rawValue))?.step ?? 0
            let rows = try await store.fetch(Posting.all)
            if rows != lane.rows(after: step) { faults.append("rows \(rows.map(\.id)) after step \(step)") }
            let sum = try await store.sum(Posting.all.values { $0.amount })
            if sum != 0 { faults.append("a sum of \(sum)") }
            // It continues as if nothing had happened.
            try await lane.save(step + 1, in: store)
            await store.close()
            let queue = try DatabaseQueue(path: path)
            let integrity = try await queue.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") }
            if integrity != ["ok"] { faults += integrity }
            try queue.close()
            self.faults = faults
        }
    }

    extension TemporaryFolder {
        /// The bytes of a file; empty if it does not exist.
        func bytes(_ name: String) throws -> [UInt8] {
            let descriptor = open(file(name), O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return [] }
            defer { close(descriptor) }
            var (bytes, buffer): ([UInt8], [UInt8]) = ([], Array(repeating: 0, count: 1 << 16))
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                try #require(count >= 0)
                if count == 0 { return bytes }
                bytes += buffer[..<count]
            }
        }

        func write(_ bytes: some Collection<UInt8>, to name: String) throws {
            let descriptor = open(file(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            try #require(descriptor >= 0)
            defer { close(descriptor) }
            let bytes = Array(bytes)
            try #require(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
        }

        /// Removes a store with all files beside it.
        func removeStore(_ name: String) {
            for suffix in ["", "-wal", "-shm", "-owner", "-journal"] { unlink(file(name + suffix)) }
        }
    }
#endif

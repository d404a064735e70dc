#if Persistence
    import EssentialsStorage
    import Glibc

    /// The content of the claim file beside a store.
    package struct StoreOwnership: Sendable, Equatable {
        /// The number of the process that claimed the store last.
        package let process: Int32
        /// Whether that process is running.
        package let isRunning: Bool
        /// Whether a process holds the claim now.
        package let holdsStore: Bool

        /// Reads the claim without locking it, because a lock would make a starting owner fail.
        ///
        /// - Returns: `nil` if no process has claimed the store.
        init?(file: String) {
            guard let status = try? FileStatus(of: file, followsLink: false), status.isRegular else { return nil }
            let lock = Self.lock(inode: status.identity.number)
            guard let claim = try? OpenFile(file, O_RDONLY | O_NOFOLLOW) else {
                // The claim of another user cannot be read, but everyone can see its lock.
                guard case .held(let process) = lock else { return nil }
                (self.process, isRunning, holdsStore) = (process, true, true)
                return
            }
            guard let process = FileLock.owner(in: claim).flatMap({ Int32(exactly: $0) }), process > 0 else {
                return nil
            }
            self.process = process
            isRunning = kill(process, 0) == 0 || errno == EPERM
            switch lock {
            case .held: holdsStore = true
            // A process may keep running after it has closed the store. But the list is read in parts, and misses a
            // lock if other locks are released meanwhile. If the claim is free, this process holds it for a moment;
            // `StoreOwner` waits for that.
            case .free: holdsStore = (try? claim.lock(isShared: true, withoutLocks: true)) == false
            case .unknown: holdsStore = isRunning
            }
        }

        private enum Lock {
            case held(process: Int32)
            case free
            case unknown
        }

        /// The lock of flock(2) on a file, from the system's list of locks.
        ///
        /// The list writes device numbers in another form than stat(2), so files with the same inode number on two
        /// devices cannot be distinguished. It omits locks of processes in other containers.
        private static func lock(inode: UInt64) -> Lock {
            guard let list = fopen("/proc/locks", "re") else { return .unknown }
            defer { fclose(list) }
            var line = [CChar](repeating: 0, count: 512)
            while fgets(&line, Int32(line.count), list) != nil {
                let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                let words = text.split(separator: " ")
                // 1: FLOCK  ADVISORY  WRITE 28263 fe:00:16304177 0 EOF
                guard words.count >= 6, words[1] == "FLOCK", words[3] == "WRITE", let process = Int32(words[4]),
                    words[5].split(separator: ":").last.flatMap({ UInt64($0) }) == inode
                else { continue }
                return .held(process: process)
            }
            return .free
        }
    }

    extension StoreInspection {
        /// The owner; `nil` if no process has claimed the store.
        package var owner: StoreOwnership? { StoreOwnership(file: path + "-owner") }
    }
#endif

#if Persistence
    import EssentialsStorage
    import Glibc

    /// What the claim beside a store says about its owner.
    package struct StoreOwnership: Sendable, Equatable {
        /// The number of the process that claimed the store last.
        package let process: Int32
        /// Whether that process is running.
        package let isRunning: Bool
        /// Whether the store is claimed now.
        package let holdsStore: Bool

        /// Reads the claim. It is not locked for that, because an owner that starts meanwhile would be refused.
        ///
        /// - Returns: `nil` if no process has claimed the store.
        init?(file: String) {
            guard let status = try? FileStatus(of: file, followsLink: false), status.isRegular else { return nil }
            let lock = Self.lock(inode: status.identity.number)
            guard let claim = try? OpenFile(file, O_RDONLY | O_NOFOLLOW) else {
                // Another user's claim cannot be read, but its lock is known to all.
                guard case .held(let process) = lock else { return nil }
                (self.process, isRunning, holdsStore) = (process, true, true)
                return
            }
            defer { withExtendedLifetime(claim) {} }
            guard let process = StoreOwner.process(in: claim.descriptor), process > 0 else { return nil }
            self.process = process
            isRunning = kill(process, 0) == 0 || errno == EPERM
            switch lock {
            case .held: holdsStore = true
            // A process that has closed the store may go on running. But the list is read in parts, and misses a lock if
            // others are given up meanwhile.
            case .free: holdsStore = Self.isLocked(claim.descriptor)
            case .unknown: holdsStore = isRunning
            }
        }

        private enum Lock {
            case held(process: Int32)
            case free
            case unknown
        }

        /// Whether another descriptor has the lock. If none has it, this one has it for a moment, for which
        /// ``StoreOwner`` waits.
        private static func isLocked(_ descriptor: Int32) -> Bool {
            guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return errno == EWOULDBLOCK }
            flock(descriptor, LOCK_UN)
            return false
        }

        /// The lock of flock(2) on a file, from the system's list of locks.
        ///
        /// The list writes devices in another form than stat(2), so files of equal number on two devices are confused. It has
        /// no locks of processes of other containers.
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

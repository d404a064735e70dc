#if Persistence
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
            let descriptor = Glibc.open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard descriptor >= 0 else { return nil }
            defer { Glibc.close(descriptor) }
            var status = stat()
            guard fstat(descriptor, &status) == 0, let process = StoreOwner.process(in: descriptor), process > 0 else {
                return nil
            }
            self.process = process
            isRunning = kill(process, 0) == 0 || errno == EPERM
            // A process that has closed the store may go on running.
            holdsStore = Self.isLocked(inode: UInt64(status.st_ino)) ?? isRunning
        }

        /// Whether the system's list of locks has one of flock(2) on a file. `nil` if there is no list.
        ///
        /// The list writes devices in another form than stat(2), so files of equal number on two devices are confused. It has
        /// no locks of processes of other containers.
        private static func isLocked(inode: UInt64) -> Bool? {
            guard let list = fopen("/proc/locks", "re") else { return nil }
            defer { fclose(list) }
            var line = [CChar](repeating: 0, count: 512)
            while fgets(&line, Int32(line.count), list) != nil {
                let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                let words = text.split(separator: " ")
                // 1: FLOCK  ADVISORY  WRITE 28263 fe:00:16304177 0 EOF
                guard words.count >= 6, words[1] == "FLOCK", words[3] == "WRITE" else { continue }
                if words[5].split(separator: ":").last.map({ UInt64($0) }) == inode { return true }
            }
            return false
        }
    }

    extension StoreInspection {
        /// The owner; `nil` if no process has claimed the store.
        package var owner: StoreOwnership? {
            StoreOwnership(file: path + "-owner") ?? StoreOwnership(file: givenPath + "-owner")
        }
    }
#endif

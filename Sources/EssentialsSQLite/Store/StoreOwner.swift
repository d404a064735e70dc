#if Persistence
    import EssentialsPersistence
    import EssentialsTools
    import Glibc

    /// The process that opens a store. After a fork, the child process has useless copies of its locks and connections.
    struct OwnerProcess: Sendable {
        private let number: pid_t

        /// - Parameter number: The number of the process. The default is that of the current one.
        init(number: pid_t = getpid()) { self.number = number }

        /// Whether the current process is this one. It takes no lock, because another thread could have held that
        /// during a fork.
        var isCurrent: Bool { number == getpid() }

        /// The failure of all calls in a child process.
        static func failure(store: String) -> PersistenceFailure {
            PersistenceFailure(
                .closed, "The store belongs to the parent process, which opened it before a fork.",
                remedy: "Open the store after the fork, in one process only.", store: store)
        }
    }

    /// The claim of one process on a store: a locked file beside it that holds the number of the process.
    ///
    /// The lock is that of flock(2), which ends with the process and also excludes a second owner in the same process.
    /// The file is never removed, because another process could hold a lock on the removed file.
    final class StoreOwner: Sendable {
        private struct State {
            /// The locked file; -1 if no file is open.
            var descriptor: Int32
            var isReleased = false
        }

        private let state: Mutex<State>
        private let process: OwnerProcess

        /// Claims a store.
        ///
        /// - Throws: A failure with the reason `busy` that names the owner's process if the store has an owner,
        ///   `readOnly` if the folder cannot be written, and `file` for other errors. If another file is in the place
        ///   of the claim, it is not overwritten, and the reason is also `file`.
        init(store path: String, process: OwnerProcess = OwnerProcess()) throws(PersistenceFailure) {
            self.process = process
            let file = path + "-owner"
            let descriptor = Glibc.open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
            guard descriptor >= 0 else { throw StoreFile.failure(errno, file: file, store: path) }
            if let fault = StoreFile.fault(ofClaim: descriptor, store: path) {
                Glibc.close(descriptor)
                throw PersistenceFailure(
                    .file, "\(file) \(fault), so it is not the claim of a store.",
                    remedy: "Find out what put it there, and remove the file.", store: path)
            }
            var attempts = 1
            while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
                let code = errno
                if code == EINTR { continue }
                // A tool that checks for an owner holds the lock for a moment.
                if code == EWOULDBLOCK, attempts < 3 {
                    attempts += 1
                    usleep(1_000)
                    continue
                }
                let owner = Self.process(in: descriptor)
                Glibc.close(descriptor)
                guard code == EWOULDBLOCK else { throw StoreFile.failure(code, file: file, store: path) }
                throw PersistenceFailure(
                    .busy, "The store belongs to \(owner.map { "process \($0)" } ?? "another process").",
                    remedy: "End that process, or close its store.", store: path)
            }
            let text = Array("\(getpid())\n".utf8)
            // The number only serves for messages, so an error here is not an error of the store.
            if ftruncate(descriptor, 0) == 0 { _ = pwrite(descriptor, text, text.count, 0) }
            state = Mutex(State(descriptor: descriptor))
        }

        /// Represents the use of a store that this process cannot write. It claims nothing.
        ///
        /// - Parameter descriptor: An open file that is closed at the end; -1 for none.
        init(reading descriptor: Int32) {
            process = OwnerProcess()
            state = Mutex(State(descriptor: descriptor))
        }

        /// Whether the store still belongs to this process. After a fork it belongs to the parent process.
        var isOwner: Bool { process.isCurrent && state.withLock { !$0.isReleased } }

        /// Releases the store. Repeated calls do nothing.
        func release() {
            let descriptor = state.withLock { state in
                defer { state = State(descriptor: -1, isReleased: true) }
                return state.descriptor
            }
            guard descriptor >= 0 else { return }
            // A program that another thread is starting has a copy of the descriptor until it runs, and would keep the
            // lock until then. A forked process must not release the lock of its parent.
            if process.isCurrent { flock(descriptor, LOCK_UN) }
            Glibc.close(descriptor)
        }

        deinit { release() }

        /// The number of the process in a claim file; `nil` if it has none.
        static func process(in descriptor: Int32) -> Int32? {
            var bytes: [UInt8] = Array(repeating: 0, count: 16)
            let count = pread(descriptor, &bytes, bytes.count, 0)
            guard count > 0 else { return nil }
            return Int32(String(decoding: bytes.prefix(count).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
        }
    }
#endif

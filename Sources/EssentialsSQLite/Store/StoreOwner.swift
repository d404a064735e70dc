#if Persistence
    import EssentialsPersistence
    import EssentialsStorage
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
            /// The locked file; `nil` if no file is open.
            var file: OpenFile?
            var isReleased = false
        }

        /// The claim file may belong to the user of the store, for example if root restores it.
        private static let rules: OwnFile.Rules = [.oneName, .anyOwner]
        /// A tool that checks for an owner holds the lock for a moment.
        private static let patience = FileLock.Patience(
            limit: .milliseconds(2), pauses: .milliseconds(1)...(.milliseconds(1)))

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
            let lock: FileLock?
            do throws(OwnFile.Refusal) {
                lock = try FileLock.wait(Self.patience) { () throws(OwnFile.Refusal) in
                    try FileLock.attempt(file, O_RDWR | O_CREAT, Self.rules, withoutLocks: false)
                }
                if let owner = lock?.status.owner, owner != geteuid(), owner != (try? FileStatus(of: path))?.owner {
                    throw .otherOwner
                }
            } catch {
                throw Self.failure(error, file, store: path)
            }
            guard let lock else {
                let owner = FileLock.owner(of: file, Self.rules)
                throw PersistenceFailure(
                    .busy, "The store belongs to \(owner.map { "process \($0)" } ?? "another process").",
                    remedy: "End that process, or close its store.", store: path)
            }
            // The number only serves for messages, so an error here is not an error of the store.
            try? lock.writeOwner(.system)
            state = Mutex(State(file: lock.file))
        }

        private static func failure(_ refusal: OwnFile.Refusal, _ file: String, store: String) -> PersistenceFailure {
            let fault: String
            switch refusal {
            case .system(let error): return StoreFile.failure(error, file: file, store: store)
            case .notRegular: fault = "is no regular file"
            case .otherNames: fault = "has a second name"
            case .otherOwner, .otherUsers, .tooLarge: fault = "belongs to another user"
            }
            return PersistenceFailure(
                .file, "\(file) \(fault), so it is not the claim of a store.",
                remedy: "Find out what put it there, and remove the file.", store: store)
        }

        /// Represents the use of a store that this process cannot write. It claims nothing.
        ///
        /// - Parameter file: An open file that is closed at the end.
        init(reading file: OpenFile?) {
            process = OwnerProcess()
            state = Mutex(State(file: file))
        }

        /// Whether the store still belongs to this process. After a fork it belongs to the parent process.
        var isOwner: Bool { process.isCurrent && state.withLock { !$0.isReleased } }

        /// Releases the store. Repeated calls do nothing.
        func release() { state.withLock { $0 = State(file: nil, isReleased: true) } }
    }
#endif

import EssentialsTools

/// The lock of a file (flock(2)), which its process holds as long as the value exists.
///
/// The lock excludes other processes and other values in this process. It ends with its process, even if the process is
/// killed. On some network file systems it excludes only processes of the same machine.
package struct FileLock: Sendable {
    /// How long and how often locking is attempted.
    package struct Patience: Sendable {
        /// The time after which it is not attempted any more.
        package let limit: Duration
        private var pause: Duration
        private let longestPause: Duration

        /// - Parameter pauses: The first pause between two attempts, and the longest. Each pause is twice as long as
        ///   the previous one.
        package init(limit: Duration, pauses: ClosedRange<Duration>) {
            (self.limit, pause, longestPause) = (limit, pauses.lowerBound, pauses.upperBound)
        }

        /// The pause after a failed attempt; `nil` after the last one.
        ///
        /// - Parameter waited: The time since the first attempt.
        package mutating func next(after waited: Duration) -> Duration? {
            guard waited < limit else { return nil }
            defer { pause = min(pause * 2, longestPause) }
            return pause
        }
    }

    private static let maximumAttempts = 16

    /// The locked file.
    package let file: OpenFile
    /// The status of the file after it was locked.
    package let status: FileStatus

    /// Tries once to lock a file.
    ///
    /// - Parameters:
    ///   - flags: The flags for opening it; see ``OwnFile``.
    ///   - mode: The permissions of a new file before the process's mask is applied.
    ///   - withoutLocks: Whether the lock counts as acquired on a file system without locks. Otherwise, this is an
    ///     error.
    /// - Returns: `nil` if the file is locked, or if its name led to another file each time after it was opened.
    package static func attempt(
        _ path: String, _ flags: Int32, _ rules: OwnFile.Rules, upTo maximumSize: Int64 = .max,
        mode: UInt16 = 0o600, withoutLocks: Bool, calls: FileCalls = .system
    ) throws(OwnFile.Refusal) -> FileLock? {
        for _ in 0..<maximumAttempts {
            let (file, status) = try calls.openOwn(path, flags, rules, upTo: maximumSize, mode: mode)
            let isLocked: Bool
            do throws(FileError) { isLocked = try calls.lock(file, withoutLocks: withoutLocks) } catch {
                throw .system(error)
            }
            // Another process may have removed or replaced the file before it was locked. Then the lock would exclude
            // no process.
            guard let named = try? calls.status(of: path), named.identity == status.identity else { continue }
            guard isLocked else { return nil }
            // Properties that have changed since are checked too.
            try OwnFile.check(named, rules, upTo: maximumSize)
            return FileLock(file: file, status: named)
        }
        return nil
    }

    /// Attempts to lock until it succeeds, and blocks the calling thread meanwhile.
    ///
    /// - Returns: `nil` after the limit.
    package static func wait<Failure: Error>(
        _ patience: Patience, _ attempt: () throws(Failure) -> FileLock?
    ) throws(Failure) -> FileLock? {
        var patience = patience
        let clock = ContinuousClock()
        let start = clock.now
        while true {
            if let lock = try attempt() { return lock }
            guard let pause = patience.next(after: clock.now - start) else { return nil }
            let (seconds, attoseconds) = pause.components
            usleep(UInt32(clamping: min(seconds, 3_600) * 1_000_000 + attoseconds / 1_000_000_000_000))
        }
    }

    /// Attempts to lock until it succeeds, and sleeps meanwhile.
    ///
    /// - Parameters:
    ///   - now: The time of the clock that `sleep` uses.
    ///   - attempt: Attempts once. It returns `nil` if the file is locked.
    /// - Returns: `nil` after the limit.
    package static func wait<Failure: Error>(
        _ patience: Patience, now: () -> Duration, sleep: (Duration) async throws(Failure) -> Void,
        _ attempt: () async throws(Failure) -> FileLock?
    ) async throws(Failure) -> FileLock? {
        var patience = patience
        let start = now()
        while true {
            if let lock = try await attempt() { return lock }
            guard let pause = patience.next(after: now() - start) else { return nil }
            try await sleep(pause)
        }
    }

    /// Locks a directory, and waits for the lock on the calling thread.
    ///
    /// - Throws: `EAGAIN` if it stayed locked for the whole time; `ENOENT` if the directory does not exist.
    package static func wait(
        directory path: String, _ patience: Patience = .short, calls: FileCalls = .system
    ) throws(FileError) -> FileLock {
        let lock = try wait(patience) { () throws(FileError) -> FileLock? in
            let file = try calls.open(path, O_RDONLY | O_DIRECTORY)
            guard try calls.lock(file, withoutLocks: true) else { return nil }
            let status = try calls.status(of: file)
            let named = try FileStatus(of: path)
            return named.identity == status.identity ? FileLock(file: file, status: status) : nil
        }
        guard let lock else { throw FileError(code: EAGAIN) }
        return lock
    }

    /// Writes the number of this process into the file, for ``owner(of:_:)``.
    package func writeOwner(_ calls: FileCalls) throws(FileError) {
        try calls.truncate(file, to: 0)
        try calls.writeAll(Array("\(getpid())\n".utf8).span.bytes, to: file)
    }

    /// The process that a lock file names; `nil` if it is unknown.
    package static func owner(of path: String, _ rules: OwnFile.Rules) -> Int? {
        (try? OwnFile.open(path, O_RDONLY, rules).file).flatMap { owner(in: $0) }
    }

    /// The process that an open lock file names; `nil` if it is unknown.
    package static func owner(in file: OpenFile) -> Int? {
        guard let bytes = try? file.bytes(upTo: 32) else { return nil }
        return Int(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }
}

extension FileLock.Patience {
    /// For locks that are held during a few system calls: five seconds, because a busy machine can stop the holder for
    /// a while.
    package static let short = FileLock.Patience(limit: .seconds(5), pauses: .microseconds(100)...(.milliseconds(5)))

    /// For caches, which the callers can do without: one second.
    package static let brief = FileLock.Patience(limit: .seconds(1), pauses: .microseconds(50)...(.milliseconds(5)))
}

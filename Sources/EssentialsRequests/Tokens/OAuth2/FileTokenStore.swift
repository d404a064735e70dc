public import EssentialsHTTP
import EssentialsStorage

/// Keeps tokens in a file that only its owner can read, and that several processes may share.
///
/// ```swift
/// let store = try FileTokenStore("/home/ada/.config/shop/tokens.json")
/// ```
///
/// An update holds a lock (flock(2)) on a second file, whose name ends with `.lock`, from reading the tokens to storing
/// the new ones. Another process then reads them again before it refreshes. The file is written under another name,
/// flushed to the disk and renamed, so that a crash leaves either the old or the new tokens. Its permissions are 0600. A
/// file that is a symbolic link, belongs to another user or can be read by others is refused. The directory must exist.
/// If a field of the file cannot be read, the other ones are used. An update that writes removes the temporary files that
/// killed processes have left.
///
/// The lock needs a file system that supports it; on some network file systems it excludes only processes of the same
/// machine.
public final class FileTokenStore: TokenStore {
    /// The longest wait for the lock of another process. A refresh ends earlier.
    static let lockTimeout = Duration.seconds(60)
    private static let pauses = Duration.milliseconds(5)...Duration.milliseconds(100)

    private let file: TokenFile
    private let clock: RequestClock
    private let updates = UpdateQueue()

    /// Creates a store. The file is created by the first update.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - clock: Measures the wait for another process.
    /// - Throws: `file` if the path is empty, and `resources` if the system cannot start a thread for files.
    public init(_ path: String, clock: RequestClock = .system) throws(RequestFailure) {
        try FileThreads.shared.start()
        file = TokenFile(try FilePlace.of(path))
        self.clock = clock
    }

    /// Replaces the tokens; see the protocol.
    ///
    /// - Throws: `file` if the file cannot be read, written or locked, and the error of the closure.
    @discardableResult
    public func update(
        _ change: @Sendable (StoredTokens?) async throws -> StoredTokens?
    ) async throws -> StoredTokens? {
        try await updates.run {
            let lock = try await lock()
            // The lock is released with its last copy.
            defer { withExtendedLifetime(lock) {} }
            let old = try await file.read()
            let new = try await change(old)
            if new != old { try await file.write(new) }
            return new
        }
    }

    private func lock() async throws -> FileLock {
        let patience = FileLock.Patience(limit: Self.lockTimeout, pauses: Self.pauses)
        let lock = try await FileLock.wait(patience, now: { clock.now }) {
            try await clock.sleep(for: $0)
        } _: {
            try await file.lock()
        }
        guard let lock else { throw await file.lockedTooLong }
        return lock
    }
}

package import EssentialsStorage
import EssentialsTools

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A file for the cookies of a jar, in the Netscape format, which curl (`-b`, `-c`) and wget (`--load-cookies`) read
/// and write.
///
/// ```swift
/// let jar = try CookieJar(file: CookieFile("/var/lib/app/cookies.txt"))
/// // … the program runs …
/// try await jar.flush()
/// ```
///
/// The file belongs to the current user and is readable by nobody else (mode 0600). A symbolic link, a file of another
/// user, one that other users can write to and one with a second name (hard link) are refused. Changes are saved at most
/// once a second and by ``CookieJar/flush()``: under a lock (flock(2)) the file is read again, the changes of this jar are
/// applied, and the result is written to a new file, which is renamed. Several processes can therefore share a file.
/// Comments and lines that cannot be read are kept. The first save removes the temporary files that killed processes have
/// left.
///
/// The format cannot express cookies that contain a tab, the attribute `SameSite`, or the times of creation and use.
/// Cookies with a tab stay in memory.
public struct CookieFile: Sendable, Hashable {
    /// The path.
    public let path: String
    /// Whether session cookies are saved. Session cookies in the file are always read.
    public let keepsSessionCookies: Bool

    /// Describes a file. It need not exist; its directory must exist when the first cookie is saved.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - keepsSessionCookies: Whether session cookies are saved. The default is `false`: they live as long as the jar.
    public init(_ path: String, keepsSessionCookies: Bool = false) {
        self.path = path
        self.keepsSessionCookies = keepsSessionCookies
    }
}

/// Reads and writes a ``CookieFile``. It runs on a file thread, except for loading.
package actor CookieFileStore: CookieStore {
    /// The maximum size of the file. It is larger than a full jar.
    static let maximumSize = 128 << 20
    /// The wait for the lock of another process.
    static let patience = FileLock.Patience(limit: .seconds(5), pauses: .milliseconds(10)...(.milliseconds(10)))

    /// A version of the file.
    private struct Version: Equatable {
        let identity: FileStatus.Identity
        let size: Int64
        let modified: FileStatus.Moment

        init(_ status: FileStatus) {
            identity = status.identity
            size = status.size
            modified = status.modified
        }
    }

    private let queue = FileQueue()
    private let file: CookieFile
    private let place: FilePlace
    private let suffixes: PublicSuffixRules
    private let clock: RequestClock
    private let calls: FileCalls
    /// The version that the jar knows; `nil` if there was no file.
    private let known = Mutex<Version?>(nil)
    /// Whether the temporary files of killed processes are removed.
    private var isSwept = false

    package nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    /// - Parameter calls: Replaced by tests to make them fail.
    package init(
        _ file: CookieFile, suffixes: PublicSuffixRules, clock: RequestClock, calls: FileCalls = .system
    ) throws(RequestFailure) {
        self.file = file
        place = try FilePlace.of(file.path)
        self.suffixes = suffixes
        self.clock = clock
        self.calls = calls
    }

    package nonisolated func load() throws(RequestFailure) -> [Cookie] {
        let (opened, status): (OpenFile, FileStatus)
        do throws(OwnFile.Refusal) {
            (opened, status) = try calls.openOwn(place.path, O_RDONLY, Self.rules, upTo: Int64(Self.maximumSize))
        } catch {
            if error.isMissing { return [] }
            throw failure(error)
        }
        known.withLock { $0 = Version(status) }
        return try document(opened, status).cookies
    }

    package func save(_ journal: any CookieJournal) async throws(RequestFailure) {
        guard journal.hasChanges else { return }
        let lock = try await locked(journal)
        defer { withExtendedLifetime(lock) {} }
        // Another call may have saved them while this one waited for the lock.
        guard journal.hasChanges else { return }
        let changes = journal.takeChanges()
        do throws(RequestFailure) {
            let isForeign = known.withLock { $0.map { $0 != Version(lock.status) } ?? (lock.status.size > 0) }
            let merged = try document(lock.file, lock.status).applying(
                changes, keepsSessionCookies: file.keepsSessionCookies, now: clock.date)
            let version = try write(merged.text)
            known.withLock { $0 = version }
            journal.confirm(changes, kept: merged.kept, contents: isForeign ? merged.cookies : nil)
        } catch {
            journal.restore(changes)
            throw error
        }
    }

    /// Opens and locks the file, and creates it if it does not exist.
    private func locked(_ journal: any CookieJournal) async throws(RequestFailure) -> FileLock {
        let clock = clock
        let lock = try await FileLock.wait(Self.patience, now: { clock.now }) { pause async throws(RequestFailure) in
            do { try await clock.sleep(for: pause) } catch {
                throw RequestFailure(.cancelled, "Saving cookies was cancelled while another process had the file.")
            }
        } _: { () throws(RequestFailure) in
            do throws(OwnFile.Refusal) {
                return try FileLock.attempt(
                    place.path, O_RDWR | O_CREAT, Self.rules, upTo: Int64(Self.maximumSize), withoutLocks: true,
                    calls: calls)
            } catch {
                throw failure(error)
            }
        }
        if let lock { return lock }
        let count = journal.changeCount
        throw RequestFailure(
            .file,
            "“\(RequestFailure.shownPath(file.path))” is locked by another process. "
                + "\(count == 1 ? "One changed cookie is" : "\(count) changed cookies are") not saved.",
            remedy: "End the process that holds the lock, or use another cookie file.")
    }

    /// Others can neither write the file nor read it under a second name. A file that others can read is accepted, because
    /// other programs write such files; it is replaced by one that only this user can read.
    private static let rules: OwnFile.Rules = [.oneName, .noOtherWriters]

    private nonisolated func failure(_ refusal: OwnFile.Refusal) -> RequestFailure {
        switch refusal {
        case .system(let error):
            .file(
                file.path, "could not be opened", error, missing: "Create the directory of the cookie file.",
                phase: .preparation)
        case .notRegular: refused("is not a regular file", "Provide the path of a file.")
        case .otherOwner:
            refused("belongs to another user", "Have each user use a cookie file of their own, or change the owner.")
        case .otherNames(let count):
            refused("has \(count) names (hard links)", "Remove the other names, or use another cookie file.")
        case .otherUsers:
            refused(
                "can be written by other users",
                "Check its cookies, which may be forged, and set the permissions of the file to 600.")
        case .tooLarge: refused("is too large for a cookie file", "Check that it is the right file.")
        }
    }

    private nonisolated func refused(_ what: String, _ remedy: String) -> RequestFailure {
        RequestFailure(.file, "“\(RequestFailure.shownPath(file.path))” \(what).", remedy: remedy)
    }

    private nonisolated func document(
        _ opened: OpenFile, _ status: FileStatus
    ) throws(RequestFailure) -> CookieDocument {
        let text = try RequestFailure.onFile(file.path, "could not be read", phase: .preparation) {
            () throws(FileError) in
            try calls.bytes(of: opened, upTo: Int(clamping: status.size))
        }
        return CookieDocument(text, now: clock.date, suffixes: suffixes)
    }

    /// Writes a new file beside the old one and renames it.
    private func write(_ text: [UInt8]) throws(RequestFailure) -> Version {
        guard text.count <= Self.maximumSize else {
            throw refused("would be too large for a cookie file", "Remove lines that are no cookies.")
        }
        return try RequestFailure.onFile(
            file.path, "could not be written", missing: "Create the directory of the cookie file.", phase: .preparation
        ) { () throws(FileError) in
            // Those of killed processes.
            if !isSwept { AbandonedFiles.remove(beside: place) }
            isSwept = true
            return Version(
                try AtomicFile.write([text], to: place.path, temporary: place.temporary(), .content, calls: calls))
        }
    }
}

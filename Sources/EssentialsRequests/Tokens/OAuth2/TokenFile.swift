import EssentialsHTTP
import EssentialsStorage
import FoundationEssentials
import Glibc

/// The file of a token store and its lock. All work is done on the threads for files.
actor TokenFile {
    /// The maximum size of the file. The tokens of every response fit, also if each character is escaped with six.
    static let limit = 512 << 10

    /// The content of the file. A field that cannot be read does not affect the others.
    private struct Record: Codable {
        var accessToken: String?
        /// Seconds since 1970.
        var expiresAt: Double?
        var refreshToken: String?

        private enum CodingKeys: String, CodingKey {
            case accessToken = "access_token"
            case expiresAt = "expires_at"
            case refreshToken = "refresh_token"
        }

        init(accessToken: String?, expiresAt: Double?, refreshToken: String?) {
            self.accessToken = accessToken
            self.expiresAt = expiresAt
            self.refreshToken = refreshToken
        }

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            var error: (any Error)?
            func value<Value: Decodable>(_ type: Value.Type, _ key: CodingKeys) -> Value? {
                do {
                    return try fields.decodeIfPresent(type, forKey: key)
                } catch let fault {
                    error = fault
                    return nil
                }
            }
            let seconds = value(Double.self, .expiresAt)
            self.init(
                accessToken: value(String.self, .accessToken),
                expiresAt: seconds.flatMap { $0.isFinite ? $0 : nil },
                refreshToken: value(String.self, .refreshToken))
            if let error, accessToken == nil, refreshToken == nil { throw error }
        }
    }

    private let queue = FileQueue()
    private let place: FilePlace
    private let calls = FileCalls.system

    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    init(_ place: FilePlace) { self.place = place }

    private var path: String { place.path }
    private var lockPath: String { path + ".lock" }

    // MARK: Lock

    /// Takes the lock, which is held until the value is released; `nil` if another process holds it.
    func lock() throws(RequestFailure) -> FileLock? {
        let lockPath = lockPath
        do throws(OwnFile.Refusal) {
            return try FileLock.attempt(
                lockPath, O_RDWR | O_CREAT, Self.rules, withoutLocks: false, calls: calls)
        } catch {
            throw refused(error, lockPath)
        }
    }

    /// The failure if another process does not release the lock.
    var lockedTooLong: RequestFailure {
        RequestFailure(
            .file, "“\(RequestFailure.shownPath(lockPath))” was locked for \(FileTokenStore.lockTimeout).",
            remedy: "Check which process holds the lock, and whether the file system supports locks (flock).")
    }

    // MARK: Content

    /// Reads the tokens; `nil` if there is no file.
    func read() throws(RequestFailure) -> StoredTokens? {
        let path = path
        let file: OpenFile
        do throws(OwnFile.Refusal) {
            file = try OwnFile.open(path, O_RDONLY, Self.rules, upTo: Int64(Self.limit)).file
        } catch {
            if error.isMissing { return nil }
            throw refused(error, path)
        }
        let bytes = try RequestFailure.onFile(path, "could not be read", phase: .preparation) {
            () throws(FileError) in try calls.bytes(of: file, upTo: Self.limit + 1)
        }
        guard bytes.count <= Self.limit else { throw damaged("has more than \(Self.limit) bytes") }
        guard let record = try? JSONCodec().decode(Record.self, from: Data(bytes), as: .json) else {
            throw damaged("does not contain tokens")
        }
        // Far from any overflow.
        let date = record.expiresAt.map { Date(timeIntervalSince1970: max(-1e12, min($0, 1e12))) }
        return StoredTokens(accessToken: record.accessToken, expiresAt: date, refreshToken: record.refreshToken)
    }

    /// Stores tokens, and returns when they are on the disk. `nil` removes the file.
    func write(_ tokens: StoredTokens?) throws(RequestFailure) {
        guard let tokens else { return try remove() }
        let record = Record(
            accessToken: tokens.accessToken, expiresAt: tokens.expiresAt?.timeIntervalSince1970,
            refreshToken: tokens.refreshToken)
        let data: Data
        do {
            data = try JSONCodec().encode(record, as: .json)
        } catch {
            throw RequestFailure(.encoding, "The tokens could not be encoded.", underlying: error)
        }
        guard data.count <= Self.limit else { throw damaged("would have more than \(Self.limit) bytes") }
        let (place, calls) = (place, calls)
        try RequestFailure.onFile(
            place.path, "could not be written", missing: "Create the directory of the file.", phase: .preparation
        ) { () throws(FileError) in
            // Those of killed processes.
            AbandonedFiles.remove(beside: place)
            try AtomicFile.write(
                [Array(data)], to: place.path, temporary: place.temporary(), .contentAndName, calls: calls)
        }
    }

    private func remove() throws(RequestFailure) {
        let path = path
        let directory = FileDirectory(absolute: place.directory, calls: calls)
        try RequestFailure.onFile(path, "could not be removed", phase: .preparation) { () throws(FileError) in
            try directory.remove(String(place.name))
            try directory.sync()
        }
    }

    // MARK: Checks

    /// Another user could not have written the file and cannot read it.
    private static let rules: OwnFile.Rules = [.oneName, .noOtherUsers]

    private func refused(_ refusal: OwnFile.Refusal, _ path: String) -> RequestFailure {
        switch refusal {
        case .system(let error):
            .file(
                path, "could not be opened", error, missing: "Create the directory of the file.", phase: .preparation)
        case .notRegular: SentFile.notRegular(path, phase: .preparation)
        case .otherOwner, .otherNames:
            RequestFailure(
                .file, "“\(RequestFailure.shownPath(path))” belongs to another user or has a second name.",
                remedy: "Choose a place that only this user can write to.")
        case .otherUsers:
            RequestFailure(
                .file, "“\(RequestFailure.shownPath(path))” can be read or written by other users.",
                remedy: "Treat its tokens as stolen, log in again, and set the permissions of the file to 600.")
        case .tooLarge: damaged("has more than \(Self.limit) bytes")
        }
    }

    private func damaged(_ what: String) -> RequestFailure {
        RequestFailure(
            .file, "“\(RequestFailure.shownPath(path))” \(what).", remedy: "Remove the file, and log in again.")
    }
}

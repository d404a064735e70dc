package import EssentialsStorage
import EssentialsTools

/// The key of a store that outlives the process, in a file of the store's directory.
///
/// It is made at its first use. Several processes that begin at once agree on one key, because only one of them can give
/// its file the name. As long as a process can neither read nor write the file it has a key of its own, with which it finds
/// nothing that others have stored, and each use tries again.
package final class FingerprintKeyFile: Sendable {
    /// The name of the file.
    package static let name = "fingerprint.key"
    /// How often a damaged file is replaced before the process takes a key of its own.
    private static let attempts = 3

    private let directory: FileDirectory
    private let temporaryName: @Sendable () -> String
    private let state = Mutex(State())

    private struct State {
        /// The key that stays.
        var key: FingerprintKey?
        /// The key of this process, until the file can be used.
        var own: FingerprintKey?
        var failures = 0
        var last: FileError?
    }

    /// - Parameter temporary: A name for a file that is being written, which the store removes if its writer was killed.
    package init(in directory: FileDirectory, temporary: @escaping @Sendable () -> String) {
        (self.directory, temporaryName) = (directory, temporary)
    }

    /// How often the file could not be used, and why the last time.
    package var failures: (count: Int, last: FileError?) { state.withLock { ($0.failures, $0.last) } }

    /// The key. The first use reads or writes the file.
    package var key: FingerprintKey {
        if let key = state.withLock({ $0.key }) { return key }
        do throws(FileError) {
            let key = try readOrMake()
            return state.withLock { state in
                // Another thread may have been faster.
                let kept = state.key ?? key ?? state.own ?? .random()
                if key == nil { (state.failures, state.last) = (state.failures + 1, FileError(code: EPERM)) }
                state.key = kept
                return kept
            }
        } catch {
            return state.withLock { state in
                if let key = state.key { return key }
                state.failures += 1
                state.last = error
                let own = state.own ?? .random()
                state.own = own
                return own
            }
        }
    }

    /// The key of the file; `nil` if the name belongs to something else.
    private func readOrMake() throws(FileError) -> FingerprintKey? {
        for _ in 0..<Self.attempts {
            switch try directory.read(Self.name, upTo: FingerprintKey.size) {
            case .bytes(let bytes):
                if let key = FingerprintKey(bytes) { return key }
                try directory.remove(Self.name)
            case .unfit: return nil
            case .missing: break
            }
            let key = FingerprintKey.random()
            if try write(key) { return key }
        }
        return nil
    }

    /// - Returns: `false` if another process has written its key.
    private func write(_ key: FingerprintKey) throws(FileError) -> Bool {
        try directory.make()
        let file = try directory.begin(Self.name, temporary: temporaryName())
        do throws(FileError) {
            try file.append(key.bytes.span.bytes)
        } catch {
            file.abandon()
            throw error
        }
        return try file.commitUnlessThere()
    }
}

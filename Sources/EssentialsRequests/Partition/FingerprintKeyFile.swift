package import EssentialsHTTP
import Synchronization

/// The key of a store that outlives the process, in a file of the store's directory.
///
/// It is made at its first use. Several processes that begin at once agree on one key, because only one of them can give
/// its file the name. A process that can neither read nor write the file has a key of its own, with which it finds nothing
/// that others have stored.
package final class FingerprintKeyFile: Sendable {
    /// The name of the file.
    package static let name = "fingerprint.key"
    /// How often a damaged file is replaced before the process takes a key of its own.
    private static let attempts = 3

    private let directory: FileDirectory
    private let temporaryName: @Sendable () -> String
    private let known = Mutex<FingerprintKey?>(nil)

    /// - Parameter temporary: A name for a file that is being written, which the store removes if its writer was killed.
    package init(in directory: FileDirectory, temporary: @escaping @Sendable () -> String) {
        (self.directory, temporaryName) = (directory, temporary)
    }

    /// The key. The first use reads or writes the file.
    package var key: FingerprintKey {
        if let key = known.withLock({ $0 }) { return key }
        var found: FingerprintKey?
        do throws(SystemError) { found = try readOrMake() } catch {}
        let key = found ?? .random()
        return known.withLock { known in
            // Another thread may have been faster.
            if let known { return known }
            known = key
            return key
        }
    }

    /// The key of the file; `nil` if the name belongs to something else.
    private func readOrMake() throws(SystemError) -> FingerprintKey? {
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
    private func write(_ key: FingerprintKey) throws(SystemError) -> Bool {
        try directory.make()
        let temporary = temporaryName()
        let file = try directory.create(temporary: temporary)
        do throws(SystemError) {
            try key.bytes.span.bytes.withUnsafeBytes { bytes throws(SystemError) in
                try directory.append(bytes, to: file)
            }
        } catch {
            try? directory.remove(temporary)
            throw error
        }
        return try directory.publish(temporary, as: Self.name)
    }
}
